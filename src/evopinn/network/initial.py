"""The parameters that a training starts from."""

import math

import numpy as np
import torch
from torch import Tensor

from evopinn.network.layout import Layout


def initial_parameters(layout: Layout, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Kaiming's uniform initialisation as the paper's experiments used it.

    Weights are uniform in ±sqrt(6 / fan_in), biases 0, activation parameters 1. The numbers come from NumPy's
    PCG64, so that a seed means the same start on every platform and device.

    Args:
        layout: The network's layout.
        seed: Any non-negative integer.
        dtype: Precision of θ.

    Returns:
        θ, shape (layout.size,).
    """
    rng = np.random.default_rng(seed)
    theta = np.zeros(layout.size)
    for entry in layout.entries:
        if entry.name.endswith("weight"):
            bound = math.sqrt(6 / entry.shape[1])
            theta[entry.start : entry.stop] = rng.uniform(-bound, bound, entry.stop - entry.start)
        elif entry.name.startswith("activations"):
            theta[entry.start : entry.stop] = 1
    return torch.as_tensor(theta).to(dtype)
