"""Kernels: the formulas of a layer's element-wise part as one loop over vectors of elements.

Every array of a layer is channel by channel, point by point, neuron by neuron without gaps, so a kernel sees
each channel as one row of `count` elements. The bias of a neuron is read from a row in which the biases are
repeated until its length is a multiple of a vector's, and is added on the way in. Nothing is kept between the
kernels of the forward pass and of the way back: to compute f's derivatives again costs less than to write
them to memory and read them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from llvmlite import ir

from evopinn.engine.fused.emitter import FORMATS, DType, Emitter, Mask, Vector
from evopinn.engine.fused.functions import FUNCTIONS
from evopinn.engine.layer_formulas import LayerFormulas
from evopinn.symbolic import Symbol, evaluated

LaneValue = Vector | Mask

_INTEGER: Final = ir.IntType(64)


@dataclass(frozen=True)
class Signature:
    """The arguments of a kernel: numbers of elements, then pointers by name.

    Attributes:
        rows: Arrays that are read, one row a symbol.
        numbers: Arrays of numbers that hold for all elements.
        results: Arrays that are written, one row a symbol.
        sums: Arrays of numbers that are written: sums over all elements.
        shortcut: Whether rows of another array are added to the results.
    """

    rows: tuple[str, ...]
    numbers: tuple[str, ...]
    results: tuple[str, ...]
    sums: tuple[str, ...] = ()
    shortcut: bool = False

    @property
    def counts(self) -> tuple[str, ...]:
        """The integers in front: elements of a row, period of the bias, elements of a shortcut's row."""
        return ("count", "period", "carried_count") if self.shortcut else ("count", "period")

    @property
    def pointers(self) -> tuple[str, ...]:
        """All pointers in the order of the arguments."""
        carried = ("carried",) if self.shortcut else ()
        return ("bias", *self.rows, *self.numbers, *carried, *self.results, *self.sums)


SIGNATURES: Mapping[str, Signature] = MappingProxyType(
    {
        "forward": Signature(("z",), ("p",), ("a",), shortcut=True),
        "adjoint": Signature(("z", "a_bar"), ("p",), ("z_bar",), sums=("p_bar",)),
        "adjoint_by_element": Signature(("z", "a_bar"), ("p",), ("z_bar", "p_bar")),
        "tangent": Signature(("z", "z_dot"), ("p", "p_dot"), ("a_dot",)),
    }
)
"""The kernels of a layer. A shortcut's row that has no elements is a single vector of nothing."""


def kernel_text(formulas: LayerFormulas, dtype: DType, name: str) -> str:
    """The LLVM module of one kernel of a layer."""
    inputs = {
        "z": formulas.z,
        "a_bar": formulas.a_bar,
        "z_dot": formulas.z_dot,
        "p": formulas.parameters,
        "p_dot": formulas.parameter_dots,
    }
    before = formulas.channels.inputs
    results: Mapping[str, Callable[[], Sequence[Symbol]]] = {
        "a": lambda: formulas.forward,
        "z_bar": lambda: formulas.adjoint[:before],
        "p_bar": lambda: formulas.adjoint[before:],
        "a_dot": lambda: formulas.tangent,
    }
    signature = SIGNATURES[name]
    written = {each: results[each]() for each in (*signature.results, *signature.sums)}
    module = ir.Module(name=name)
    _KernelWriter(module, name, dtype).write(inputs, written)
    return str(module)


def bias_period(width: int, dtype: DType) -> int:
    """The length of the row in which biases are repeated."""
    return math.lcm(width, FORMATS[dtype].lanes)


class _KernelWriter:
    """Writes a kernel: a loop over vectors, from the first element of each row to the last."""

    def __init__(self, module: ir.Module, name: str, dtype: DType) -> None:
        self.signature = SIGNATURES[name]
        counts, pointers = self.signature.counts, self.signature.pointers
        arguments = [_INTEGER] * len(counts) + [ir.PointerType()] * len(pointers)
        self.function = ir.Function(module, ir.FunctionType(ir.VoidType(), arguments), name)
        self.count_of = dict(zip(counts, self.function.args, strict=False))
        self.at = dict(zip(pointers, self.function.args[len(counts) :], strict=True))
        for pointer in self.at.values():
            pointer.add_attribute("noalias")
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.emitter = Emitter(self.builder, dtype)

    def write(self, inputs: Mapping[str, Sequence[Symbol]], written: Mapping[str, Sequence[Symbol]]) -> None:
        """Write the whole function."""
        builder, emitter, signature = self.builder, self.emitter, self.signature
        known: dict[Symbol, LaneValue] = {}
        for name in signature.numbers:
            for position, symbol in enumerate(inputs[name]):
                known[symbol] = emitter.broadcast(self.at[name], _integer(position))
        entry, body = builder.block, builder.append_basic_block("body")
        builder.branch(body)

        builder.position_at_end(body)
        index, in_bias = builder.phi(_INTEGER), builder.phi(_INTEGER)
        summed = [symbol for name in signature.sums for symbol in written[name]]
        totals = [builder.phi(emitter.vector_type) for _ in summed]
        for name in signature.rows:
            for position, symbol in enumerate(inputs[name]):
                known[symbol] = emitter.load(self.at[name], self._in_row(index, position))
        first = inputs["z"][0]
        known[first] = _vector(known[first]) + emitter.load(self.at["bias"], in_bias)
        for name in signature.results:
            for position, symbol in enumerate(written[name]):
                result = _vector(_lowered(symbol, known, emitter))
                if signature.shortcut:
                    result = result + emitter.load(self.at["carried"], self._in_carried(index, position))
                emitter.store(result, self.at[name], self._in_row(index, position))
        increased = [
            emitter.wrap(total) + _vector(_lowered(symbol, known, emitter))
            for symbol, total in zip(summed, totals, strict=True)
        ]
        lanes = _integer(emitter.format.lanes)
        following = builder.add(index, lanes)
        in_following = builder.add(in_bias, lanes)
        ended = builder.icmp_unsigned("==", in_following, self.count_of["period"])
        again = builder.select(ended, _integer(0), in_following)
        zero = emitter.constant(0.0).value
        for phi, start, end in (
            (index, _integer(0), following),
            (in_bias, _integer(0), again),
            *((total, zero, sum_.value) for total, sum_ in zip(totals, increased, strict=True)),
        ):
            phi.add_incoming(start, entry)
            phi.add_incoming(end, builder.block)
        done = builder.append_basic_block("done")
        builder.cbranch(builder.icmp_unsigned("<", following, self.count_of["count"]), body, done)

        builder.position_at_end(done)
        for name in signature.sums:
            for position, total in enumerate(increased):
                emitter.store_sum(total, self.at[name], _integer(position))
        builder.ret_void()

    def _in_row(self, index: ir.Value, row: int) -> ir.Value:
        return self.builder.add(index, self.builder.mul(self.count_of["count"], _integer(row)))

    def _in_carried(self, index: ir.Value, row: int) -> ir.Value:
        """Where a shortcut's row is read: always at its start, if it has no elements."""
        count = self.count_of["carried_count"]
        absent = self.builder.icmp_unsigned("==", count, _integer(0))
        in_row = self.builder.add(index, self.builder.mul(count, _integer(row)))
        return self.builder.select(absent, _integer(0), in_row)


def _integer(value: int) -> ir.Value:
    return ir.Constant(_INTEGER, value)


def _lowered(symbol: Symbol, known: dict[Symbol, LaneValue], emitter: Emitter) -> LaneValue:
    """The value of a symbol, its operands written first."""

    def rule(each: Symbol, operands: list[LaneValue]) -> LaneValue:
        constant = each.is_constant()
        return emitter.constant(each.value) if constant else _written(emitter, each.operation, operands)

    return evaluated(symbol, rule, known)


def _written(emitter: Emitter, operation: str, operands: Sequence[LaneValue]) -> LaneValue:
    if operation == "where":
        mask, *choices = operands
        assert isinstance(mask, Mask), "a choice goes by a truth value"
        return emitter.select(mask, *(_vector(each) for each in choices))
    vectors = [_vector(operand) for operand in operands]
    if operation == "clamp":
        x, low, high = vectors
        return _BINARY["maximum"](emitter, _vector(_BINARY["minimum"](emitter, x, high)), low)
    if operation in FUNCTIONS:
        return FUNCTIONS[operation](*vectors)
    return _BINARY[operation](emitter, *vectors)


def _vector(value: LaneValue) -> Vector:
    assert isinstance(value, Vector), "a truth value is only ever chosen by"
    return value


def _outer(emitter: Emitter, relation: str, a: Vector, b: Vector) -> Vector:
    """The larger or smaller of two; not a number where either is not."""
    first, second = emitter.compare(relation, a, b), emitter.compare(f"{relation}=", b, a)
    return emitter.select(first, a, emitter.select(second, b, a + b))


_BINARY: Final[Mapping[str, Callable[[Emitter, Vector, Vector], LaneValue]]] = {
    "add": lambda _, a, b: a + b,
    "sub": lambda _, a, b: a - b,
    "mul": lambda _, a, b: a * b,
    "div": lambda _, a, b: a / b,
    "gt": lambda _, a, b: a > b,
    "lt": lambda _, a, b: a < b,
    "eq": lambda emitter, a, b: emitter.compare("==", a, b),
    "copysign": lambda emitter, a, b: emitter.copysign(a, b),
    "maximum": lambda emitter, a, b: _outer(emitter, ">", a, b),
    "minimum": lambda emitter, a, b: _outer(emitter, "<", a, b),
}
"""Operations on two values."""
