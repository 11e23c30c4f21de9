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

from evopinn.engine.fused.functions import FUNCTIONS
from evopinn.engine.fused.vector import FORMATS, DType, Emitter, Mask, Vector
from evopinn.engine.layer import LayerFormulas
from evopinn.engine.symbols import Symbol

Value = Vector | Mask


@dataclass(frozen=True)
class Signature:
    """The arguments of a kernel: pointers by name, behind the number of elements and the bias' period.

    Attributes:
        rows: Names of arrays of rows, one row an input.
        numbers: Names of arrays of numbers that hold for all elements.
        results: Names of arrays of rows that are written.
    """

    rows: tuple[str, ...]
    numbers: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def pointers(self) -> tuple[str, ...]:
        """All pointers in the order of the arguments."""
        return ("bias", *self.rows, *self.numbers, *self.results)


SIGNATURES: Mapping[str, Signature] = MappingProxyType(
    {
        "forward": Signature(("z",), ("p",), ("a",)),
        "adjoint": Signature(("z", "a_bar"), ("p",), ("z_bar", "p_bar")),
        "tangent": Signature(("z", "z_dot"), ("p", "p_dot"), ("a_dot",)),
    }
)
"""The kernels of a layer."""


def kernel_text(formulas: LayerFormulas, dtype: DType, name: str) -> str:
    """The LLVM module of one kernel of a layer."""
    inputs = {
        "z": formulas.z,
        "a_bar": formulas.a_bar,
        "z_dot": formulas.z_dot,
        "p": formulas.parameters,
        "p_dot": formulas.parameter_dots,
    }
    adjoint, split = formulas.adjoint if name == "adjoint" else (), formulas.channels.inputs
    results = {
        "a": formulas.forward if name == "forward" else (),
        "z_bar": adjoint[:split],
        "p_bar": adjoint[split:],
        "a_dot": formulas.tangent if name == "tangent" else (),
    }
    module = ir.Module(name=name)
    _write(module, name, dtype, inputs, results)
    return str(module)


def _write(
    module: ir.Module,
    name: str,
    dtype: DType,
    inputs: Mapping[str, Sequence[Symbol]],
    results: Mapping[str, Sequence[Symbol]],
) -> None:
    signature = SIGNATURES[name]
    integer, pointer = ir.IntType(64), ir.PointerType()
    kind = ir.FunctionType(ir.VoidType(), [integer, integer, *[pointer] * len(signature.pointers)])
    function = ir.Function(module, kind, name)
    count, period, *addresses = function.args
    for address in addresses:
        address.add_attribute("noalias")
    at = dict(zip(signature.pointers, addresses, strict=True))
    entry, body, done = (function.append_basic_block(each) for each in ("entry", "body", "done"))
    builder = ir.IRBuilder(entry)
    emitter = Emitter(builder, dtype)
    zero, lanes = ir.Constant(integer, 0), ir.Constant(integer, FORMATS[dtype].lanes)
    known: dict[Symbol, Value] = {}
    for numbers in signature.numbers:
        for position, symbol in enumerate(inputs[numbers]):
            known[symbol] = emitter.broadcast(at[numbers], ir.Constant(integer, position))
    builder.cbranch(builder.icmp_unsigned("!=", count, zero), body, done)

    builder.position_at_end(body)
    index, in_bias = builder.phi(integer), builder.phi(integer)
    for each in (index, in_bias):
        each.add_incoming(zero, entry)

    def row(number: int) -> ir.Value:
        return builder.add(index, builder.mul(count, ir.Constant(integer, number)))

    for rows in signature.rows:
        for position, symbol in enumerate(inputs[rows]):
            known[symbol] = emitter.load(at[rows], row(position))
    first = inputs["z"][0]
    known[first] = _vector(known[first]) + emitter.load(at["bias"], in_bias)
    for wanted in signature.results:
        for position, symbol in enumerate(results[wanted]):
            emitter.store(_vector(_lowered(symbol, known, emitter)), at[wanted], row(position))
    following = builder.add(index, lanes)
    in_following = builder.add(in_bias, lanes)
    again = builder.select(builder.icmp_unsigned("==", in_following, period), zero, in_following)
    index.add_incoming(following, builder.block)
    in_bias.add_incoming(again, builder.block)
    builder.cbranch(builder.icmp_unsigned("<", following, count), body, done)

    builder.position_at_end(done)
    builder.ret_void()


def bias_period(width: int, dtype: DType) -> int:
    """The length of the row in which biases are repeated."""
    return math.lcm(width, FORMATS[dtype].lanes)


def _lowered(symbol: Symbol, known: dict[Symbol, Value], emitter: Emitter) -> Value:
    """The value of a symbol, its operands written first."""
    if symbol not in known:
        if symbol.operation == "constant":
            known[symbol] = emitter.constant(symbol.number)
        else:
            operands = [_lowered(operand, known, emitter) for operand in symbol.operands]
            known[symbol] = _written(emitter, symbol.operation, operands)
    return known[symbol]


def _written(emitter: Emitter, operation: str, operands: Sequence[Value]) -> Value:
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


def _vector(value: Value) -> Vector:
    assert isinstance(value, Vector), "a truth value is only ever chosen by"
    return value


def _outer(emitter: Emitter, relation: str, a: Vector, b: Vector) -> Vector:
    """The larger or smaller of two; not a number where either is not."""
    first, second = emitter.compare(relation, a, b), emitter.compare(f"{relation}=", b, a)
    return emitter.select(first, a, emitter.select(second, b, a + b))


_BINARY: Final[Mapping[str, Callable[[Emitter, Vector, Vector], Value]]] = {
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
