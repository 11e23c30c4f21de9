"""Taylor propagation whose element-wise parts are compiled kernels, on a CPU."""

import torch

from evopinn.engine.fused.layer import DTYPES, FusedKernels
from evopinn.engine.fused.outer import add_outer_products
from evopinn.engine.propagation import Kernels
from evopinn.engine.taylor import TaylorEngine
from evopinn.errors import EngineError


class FusedEngine(TaylorEngine):
    """Loss, gradient, residuals and Jacobian of a genome's network on a problem; see `TaylorEngine`."""

    name = "fused"
    _add_outer_products = staticmethod(add_outer_products)

    def _kernels(self, dtype: torch.dtype, device: torch.device) -> Kernels:
        if device.type != "cpu" or dtype not in DTYPES:
            raise EngineError(
                f"the engine fused was asked for {dtype} on {device}; it knows float64 and float32 on a CPU. "
                "The engine taylor runs anywhere."
            )
        return FusedKernels(self.genome.activation, dtype)
