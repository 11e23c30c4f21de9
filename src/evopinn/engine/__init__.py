"""Loss and gradient of a network on a problem."""

from typing import Protocol

from torch import Tensor

from evopinn.engine.autograd import AutogradEngine, NestedDerivatives
from evopinn.network import Layout


class Engine(Protocol):
    """What training needs of an engine."""

    layout: Layout

    def loss_and_gradient(self, theta: Tensor) -> tuple[float, Tensor]:
        """The loss and its gradient with respect to θ."""
        ...


__all__ = ["AutogradEngine", "Engine", "NestedDerivatives"]
