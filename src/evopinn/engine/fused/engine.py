"""Taylor propagation with the element-wise part of a layer compiled for its activation, on a CPU."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
from torch import Tensor

from evopinn.engine.channels import Channels
from evopinn.engine.fused.compiler import Compiled, compile_module
from evopinn.engine.fused.kernel import SIGNATURES, bias_period, kernel_text
from evopinn.engine.fused.outer_products import add_outer_products
from evopinn.engine.fused.vectors import DTYPES, FORMATS, DType
from evopinn.engine.layer_formulas import LayerFormulas
from evopinn.engine.propagation import ArraySource, Kernels, LayerArrays
from evopinn.engine.taylor import TaylorEngine
from evopinn.errors import EngineError
from evopinn.genome import Activation


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
    signature = SIGNATURES[name]
    counts, pointers = [ctypes.c_int64] * len(signature.counts), [ctypes.c_void_p] * len(signature.pointers)
    prototype = ctypes.CFUNCTYPE(None, *counts, *pointers)
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

    def bind(
        self,
        channels: Channels,
        arrays: LayerArrays,
        own: ArraySource,
        shared: ArraySource,  # noqa: ARG002
    ) -> "FusedLayer":
        """The element-wise part of a layer on these arrays."""
        return FusedLayer(self._activation, channels, self._dtype, arrays, own)


class FusedLayer:
    """The element-wise part of a layer by compiled kernels on arrays that are kept."""

    def __init__(
        self, activation: Activation, channels: Channels, dtype: DType, arrays: LayerArrays, own: ArraySource
    ) -> None:
        self._kernel = partial(kernel, activation, channels, dtype)
        self._forward, self._adjoint = self._kernel("forward"), self._kernel("adjoint")
        self._arrays = arrays
        _, points, width = arrays.a.shape
        period, count = bias_period(width, dtype), points * width
        self._biases = own("biases", (period // width, width))
        self._sums = own("sums", (activation.parameters,))
        # Minus zero is what changes nothing that it is added to, not even a zero's sign.
        nothing = own("nothing", (FORMATS[dtype].lanes,)).fill_(-0.0)
        self._carried = nothing if arrays.carried is None else arrays.carried
        carried_count = 0 if arrays.carried is None else count
        self._sizes = (count, period, self._biases.data_ptr(), arrays.z.data_ptr())
        # Addresses are looked up once: a call costs little more than its elements.
        self._forward_sizes = (count, period, carried_count, *self._sizes[2:])
        self._forward_results = (self._carried.data_ptr(), arrays.a.data_ptr())
        self._a_bar, self._adjoint_results = arrays.a_bar.data_ptr(), (arrays.z_bar.data_ptr(),)

    def forward(self, bias: Tensor, parameters: Tensor) -> None:
        """From z to a."""
        self._biases.copy_(bias)
        self._forward.call(*self._forward_sizes, parameters.data_ptr(), *self._forward_results)

    def adjoint(self, parameters: Tensor) -> Tensor:
        """From a_bar to z_bar and the parameters' adjoints."""
        results = (*self._adjoint_results, self._sums.data_ptr())
        self._adjoint.call(*self._sizes, self._a_bar, parameters.data_ptr(), *results)
        return self._sums

    def adjoint_by_element(self, parameters: Tensor) -> Tensor:
        """From a_bar to z_bar and the parameters' adjoints at each element."""
        results = (*self._adjoint_results, self._arrays.parameter_bars.data_ptr())
        by_element = self._kernel("adjoint_by_element")
        by_element.call(*self._sizes, self._a_bar, parameters.data_ptr(), *results)
        return self._arrays.parameter_bars

    def tangent(self, parameters: Tensor, parameter_dots: Tensor) -> None:
        """From z_dot to a_dot."""
        z_dot, a_dot = self._arrays.z_dot.data_ptr(), self._arrays.a_dot.data_ptr()
        numbers = (parameters.data_ptr(), parameter_dots.data_ptr())
        tangent = self._kernel("tangent")
        tangent.call(*self._sizes, z_dot, *numbers, a_dot)


class FusedEngine(TaylorEngine):
    """Loss, gradient, residuals and Jacobian of a genome's network on a problem; see `TaylorEngine`."""

    name = "fused"
    _add_outer_products = staticmethod(add_outer_products)

    def _kernels(self, dtype: torch.dtype, device: torch.device) -> Kernels:
        if device.type != "cpu" or dtype not in DTYPES:
            raise EngineError(
                f"the engine fused computes in float64 or float32 on a CPU, not in {dtype} on {device}; "
                "use the engine taylor."
            )
        return FusedKernels(self.genome.activation, dtype)
