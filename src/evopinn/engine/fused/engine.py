"""Taylor propagation whose element-wise parts are compiled kernels, on a CPU."""

import torch

from evopinn.engine.fused.layer import FusedKernels
from evopinn.engine.propagation import Kernels
from evopinn.engine.taylor import TaylorEngine


class FusedEngine(TaylorEngine):
    """Loss, gradient, residuals and Jacobian of a genome's network on a problem; see `TaylorEngine`."""

    def _kernels(self, dtype: torch.dtype) -> Kernels:
        return FusedKernels(self.genome.activation, dtype)
