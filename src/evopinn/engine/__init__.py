"""Loss and gradient of a network on a problem.

Two engines compute the same: nested automatic differentiation, simple and kept as the oracle, and Taylor
propagation, which pays from second derivatives on.
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


def fitting_engine(problem: Problem, genome: Genome, dtype: torch.dtype, device: str) -> Engine:
    """The engine that is the faster one for a problem, going by the derivatives that it asks for."""
    orders = (sum(index) for term in problem.terms() for asked in term.channels for _, index in asked)
    make = TaylorEngine if max(orders) >= 2 else AutogradEngine
    return make(problem, genome, dtype, device)


ENGINES: Mapping[str, Callable[[Problem, Genome, torch.dtype, str], Engine]] = MappingProxyType(
    {"auto": fitting_engine, "autograd": AutogradEngine, "taylor": TaylorEngine}
)
"""What makes an engine, by name."""

__all__ = ["ENGINES", "AutogradEngine", "Engine", "NestedDerivatives", "TaylorEngine", "fitting_engine"]
