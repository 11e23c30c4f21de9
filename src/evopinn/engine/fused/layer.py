"""The element-wise part of a layer by kernels compiled for its activation."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from evopinn.engine.channels import Channels
from evopinn.engine.fused.compiler import Compiled, compile_module
from evopinn.engine.fused.kernel import SIGNATURES, bias_period, kernel_text
from evopinn.engine.fused.vector import DType
from evopinn.engine.layer import LayerFormulas
from evopinn.engine.propagation import LayerArrays, Take
from evopinn.genome import Activation

DTYPES: dict[torch.dtype, DType] = {torch.float64: "float64", torch.float32: "float32"}
"""Precisions that kernels are written for."""


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel.

    Attributes:
        compiled: Its code, kept for as long as the kernel.
        call: Runs it: number of elements, period of the bias, and addresses in the order of its signature.
    """

    compiled: Compiled
    call: Callable[..., None]


@lru_cache(maxsize=256)
def kernel(activation: Activation, channels: Channels, dtype: DType, name: str) -> Kernel:
    """A kernel of an activation on a set of channels, compiled once."""
    compiled = compile_module(kernel_text(LayerFormulas(activation, channels), dtype, name))
    pointers = [ctypes.c_void_p] * len(SIGNATURES[name].pointers)
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, *pointers)
    return Kernel(compiled, prototype(compiled.address(name)))


class FusedKernels:
    """Makes element-wise parts of layers that run compiled kernels.

    Args:
        activation: The activation of all layers.
        dtype: The precision.
    """

    def __init__(self, activation: Activation, dtype: torch.dtype) -> None:
        self._activation = activation
        self._dtype: DType = DTYPES[dtype]

    def bind(self, channels: Channels, arrays: LayerArrays, own: Take, shared: Take) -> "FusedLayer":  # noqa: ARG002
        """The element-wise part of a layer on these arrays."""
        return FusedLayer(self._activation, channels, self._dtype, arrays, own)


class FusedLayer:
    """The element-wise part of a layer by compiled kernels on arrays that are kept."""

    def __init__(
        self, activation: Activation, channels: Channels, dtype: DType, arrays: LayerArrays, own: Take
    ) -> None:
        _, points, width = arrays.a.shape
        self._tangent_key = (activation, channels, dtype, "tangent")
        self._forward = kernel(activation, channels, dtype, "forward")
        self._adjoint = kernel(activation, channels, dtype, "adjoint")
        period = bias_period(width, dtype)
        self._biases = own("biases", (period // width, width))
        self._size = (points * width, period, self._biases.data_ptr())
        self._arrays = arrays
        self._z, self._a = arrays.z.data_ptr(), arrays.a.data_ptr()
        self._a_bar, self._z_bar = arrays.a_bar.data_ptr(), arrays.z_bar.data_ptr()
        self._p_bar = arrays.parameter_bars.data_ptr()

    def forward(self, bias: Tensor, parameters: Tensor) -> None:
        """From z to a."""
        self._biases.copy_(bias)
        self._forward.call(*self._size, self._z, parameters.data_ptr(), self._a)

    def adjoint(self, bias: Tensor, parameters: Tensor) -> None:  # noqa: ARG002
        """From a_bar to z_bar and parameter_bars."""
        self._adjoint.call(*self._size, self._z, self._a_bar, parameters.data_ptr(), self._z_bar, self._p_bar)

    def tangent(self, bias: Tensor, parameters: Tensor, parameter_dots: Tensor) -> None:  # noqa: ARG002
        """From z_dot to a_dot; its kernel is made when it is first asked for."""
        kernel(*self._tangent_key).call(
            *self._size,
            self._z,
            self._arrays.z_dot.data_ptr(),
            parameters.data_ptr(),
            parameter_dots.data_ptr(),
            self._arrays.a_dot.data_ptr(),
        )
