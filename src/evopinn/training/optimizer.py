"""What an optimiser is: a start and a step, both pure functions of their arguments."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from torch import Tensor

from evopinn.errors import TrainingError

Objective = Callable[[Tensor], tuple[float, Tensor]]
"""From θ to the loss and its gradient."""


@dataclass(frozen=True, eq=False)
class State:
    """Where an optimiser stands; each optimiser adds what it remembers.

    Attributes:
        theta: The parameters, shape (p,).
        loss: The loss there.
        gradient: Its gradient there, shape (p,).
        converged: Whether another step would change nothing.
    """

    theta: Tensor
    loss: float
    gradient: Tensor
    converged: bool = False


S = TypeVar("S", bound=State)


class Optimizer(Protocol[S]):
    """`init` evaluates the start, `step` makes one epoch's step; neither changes its arguments."""

    def init(self, objective: Objective, theta: Tensor) -> S:
        """The state at the start."""
        ...

    def step(self, objective: Objective, state: S) -> S:
        """The state after one more epoch."""
        ...


def require_positive(optimizer: object, name: str) -> None:
    """Refuse a setting that is not a positive number."""
    value = getattr(optimizer, name)
    if not (isinstance(value, int | float) and 0 < value < math.inf):
        raise TrainingError(f"{type(optimizer).__name__}({name}={value!r}): it must be a positive number.")
