"""Loss and gradient of a network on a problem.

Two engines compute the same: nested automatic differentiation, simple and kept as the oracle, and Taylor
propagation, which pays with evolved activations and derivatives of high order.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

import torch
from torch import Tensor

from evopinn.engine.autograd import AutogradEngine, NestedDerivatives
from evopinn.engine.taylor import TaylorEngine
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problem import Problem


class Engine(Protocol):
    """What training needs of an engine."""

    layout: Layout

    def loss_and_gradient(self, theta: Tensor) -> tuple[float, Tensor]:
        """The loss and its gradient with respect to θ."""
        ...


ENGINES: Mapping[str, Callable[[Problem, Genome, torch.dtype, str], Engine]] = MappingProxyType(
    {"autograd": AutogradEngine, "taylor": TaylorEngine}
)
"""The engines by name."""

__all__ = ["ENGINES", "AutogradEngine", "Engine", "NestedDerivatives", "TaylorEngine"]
