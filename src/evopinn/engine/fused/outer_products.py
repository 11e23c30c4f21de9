"""A kernel for the rows of a Jacobian: sums of outer products, one for each point.

A point's row of a weight matrix is Σ_c z̄_c ⊗ h_c over the channels c. The matrices are tiny and many, for
which a library's batched product has no good answer: it takes 5 to 10 times as long.
"""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from llvmlite import ir
from torch import Tensor

from evopinn.engine.fused.compiler import Compiled, compile_module
from evopinn.engine.fused.emitter import DType, Emitter
from evopinn.engine.fused.vectors import DTYPES

_INTEGER: Final = ir.IntType(64)
_COUNTS: Final = ("points", "fan_out", "fan_in", "stride", "z_size", "h_size")
_POINTERS: Final = ("z_bar", "h", "rows")


def add_outer_products(z_bar: Tensor, h: Tensor, rows: Tensor, first: int) -> None:
    """Add Σ_c z̄_c ⊗ h_c to some columns of each point's row.

    Args:
        z_bar: Shape (channels, padded points, fan out), without gaps.
        h: Shape (channels or more, padded points, fan in), without gaps.
        rows: Shape (points, parameters), rows without gaps.
        first: The first of the columns.
    """
    call = _kernel(len(z_bar), DTYPES[rows.dtype])[1]
    sizes = (len(rows), z_bar.shape[2], h.shape[2], rows.stride(0), z_bar.stride(0), h.stride(0))
    call(*sizes, z_bar.data_ptr(), h.data_ptr(), rows[:, first:].data_ptr())


@lru_cache(maxsize=64)
def _kernel(channels: int, dtype: DType) -> tuple[Compiled, Callable[..., None]]:
    """The kernel for a number of channels; its code lives as long as it does."""
    compiled = compile_module(outer_text(channels, dtype))
    arguments = [ctypes.c_int64] * len(_COUNTS) + [ctypes.c_void_p] * len(_POINTERS)
    return compiled, ctypes.CFUNCTYPE(None, *arguments)(compiled.address("outer"))


def outer_text(channels: int, dtype: DType) -> str:
    """The LLVM module of the kernel."""
    module = ir.Module(name="outer")
    kinds = [_INTEGER] * len(_COUNTS) + [ir.PointerType()] * len(_POINTERS)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "outer")
    size = dict(zip(_COUNTS, function.args, strict=False))
    z_bar, h, rows = function.args[len(_COUNTS) :]
    for pointer in (z_bar, h, rows):
        pointer.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    emitter = Emitter(builder, dtype)
    lanes, scalar = emitter.format.lanes, emitter.format.scalar
    whole = builder.mul(builder.udiv(size["fan_in"], _integer(lanes)), _integer(lanes))

    def at(pointer: ir.Value, index: ir.Value) -> ir.Value:
        return builder.gep(pointer, [index], inbounds=True, source_etype=scalar)

    def number(pointer: ir.Value, index: ir.Value) -> ir.Value:
        return builder.load(at(pointer, index), align=emitter.format.width // 8, typ=scalar)

    def neuron(point: ir.Value, out: ir.Value) -> None:
        """One neuron's weights, from one point."""
        of_z = builder.add(builder.mul(point, size["fan_out"]), out)
        of_h = builder.mul(point, size["fan_in"])
        of_row = builder.add(builder.mul(point, size["stride"]), builder.mul(out, size["fan_in"]))
        z_at = [builder.add(of_z, builder.mul(_integer(c), size["z_size"])) for c in range(channels)]
        h_at = [builder.add(of_h, builder.mul(_integer(c), size["h_size"])) for c in range(channels)]
        spread = [emitter.broadcast(z_bar, index) for index in z_at]
        single = [number(z_bar, index) for index in z_at]

        def several(index: ir.Value) -> None:
            place = builder.add(of_row, index)
            total = emitter.load(rows, place)
            for factor, start in zip(spread, h_at, strict=True):
                total = total + factor * emitter.load(h, builder.add(start, index))
            emitter.store(total, rows, place)

        def one(index: ir.Value) -> None:
            place = builder.add(of_row, index)
            total = number(rows, place)
            for factor, start in zip(single, h_at, strict=True):
                product = builder.fmul(factor, number(h, builder.add(start, index)), flags=("contract",))
                total = builder.fadd(total, product, flags=("contract",))
            builder.store(total, at(rows, place), align=emitter.format.width // 8)

        _loop(builder, _integer(0), whole, lanes, several)
        _loop(builder, whole, size["fan_in"], 1, one)

    _loop(
        builder,
        _integer(0),
        size["points"],
        1,
        lambda point: _loop(builder, _integer(0), size["fan_out"], 1, lambda out: neuron(point, out)),
    )
    builder.ret_void()
    return str(module)


def _loop(
    builder: ir.IRBuilder, start: ir.Value, stop: ir.Value, step: int, write: Callable[[ir.Value], None]
) -> None:
    """Write a loop from `start` to before `stop`; its body may write loops of its own."""
    entry = builder.block
    head, body, behind = (builder.append_basic_block(name) for name in ("head", "body", "behind"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(_INTEGER)
    index.add_incoming(start, entry)
    builder.cbranch(builder.icmp_unsigned("<", index, stop), body, behind)
    builder.position_at_end(body)
    write(index)
    index.add_incoming(builder.add(index, _integer(step)), builder.block)
    builder.branch(head)
    builder.position_at_end(behind)


def _integer(value: int) -> ir.Value:
    return ir.Constant(_INTEGER, value)
