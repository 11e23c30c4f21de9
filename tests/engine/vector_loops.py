"""Runs a function of vectors on arrays."""

import ctypes
from collections.abc import Callable

import numpy as np
from llvmlite import ir

from evopinn.engine.fused.compiler import compile_module
from evopinn.engine.fused.emitter import FORMATS, Emitter, Vector


def loop(function: Callable[[Vector], Vector], dtype) -> str:
    """The module of `kernel(in, out, n)` that applies the function to n numbers, a multiple of the lanes."""
    module = ir.Module()
    pointer, integer = ir.PointerType(), ir.IntType(64)
    kernel = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer, integer]), "kernel")
    source, result, count = kernel.args
    entry, body, done = (kernel.append_basic_block(name) for name in ("entry", "body", "done"))
    builder = ir.IRBuilder(entry)
    builder.branch(body)
    builder.position_at_end(body)
    index = builder.phi(integer)
    index.add_incoming(ir.Constant(integer, 0), entry)
    emitter = Emitter(builder, dtype)
    emitter.store(function(emitter.load(source, index)), result, index)
    following = builder.add(index, ir.Constant(integer, emitter.format.lanes))
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_unsigned("<", following, count), body, done)
    builder.position_at_end(done)
    builder.ret_void()
    return str(module)


def applied(function: Callable[[Vector], Vector], x: np.ndarray) -> np.ndarray:
    """The function of each number."""
    dtype = x.dtype.name
    compiled = compile_module(loop(function, dtype))
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
        compiled.address("kernel")
    )
    padded = np.zeros(-(-len(x) // FORMATS[dtype].lanes) * FORMATS[dtype].lanes, dtype)
    padded[: len(x)] = x
    result = np.empty_like(padded)
    call(padded.ctypes.data, result.ctypes.data, len(padded))
    return result[: len(x)]
