"""What an optimiser is: a start and a step, both pure functions of their arguments."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from evopinn.engine import Number, fetched
from evopinn.errors import TrainingError
from evopinn.training.cost import Work

Objective = Callable[[Tensor], tuple[Number, Tensor]]
"""From θ to the loss and its gradient; the loss may be left on its device, unread."""


@runtime_checkable
class LeastSquares(Protocol):
    """An objective that is a sum of squares, ‖r(θ)‖²: what a method of second order works on."""

    @property
    def work(self) -> Work:
        """What its parts cost."""
        ...

    def loss_and_gradient(self, theta: Tensor) -> tuple[Number, Tensor]:
        """‖r‖² and its gradient 2·Jᵀr."""
        ...

    def residuals(self, theta: Tensor) -> Tensor:
        """The residuals r, shape (residuals,)."""
        ...

    def residuals_and_jacobian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """R and J = ∂r/∂θ, shape (residuals, parameters)."""
        ...

    def jacobian_product(self, theta: Tensor, direction: Tensor) -> Tensor:
        """J·v for a direction v in θ."""
        ...

    def transposed_product(self, theta: Tensor, weighting: Tensor) -> Tensor:
        """Jᵀ·w for a weighting w of the residuals."""
        ...


@dataclass(frozen=True, eq=False)
class State:
    """Where an optimiser stands; each optimiser adds what it remembers.

    Attributes:
        theta: The parameters, shape (p,).
        loss: The loss there.
        gradient: Its gradient there, shape (p,).
        converged: Whether another step would change nothing.
        cost: Epochs that the step to here counts for.
        remark: What a user should know of how the method works here, if anything.
        unread: The loss on its device, if it has not been read from there; `loss` is then not a number.
    """

    theta: Tensor
    loss: float
    gradient: Tensor
    converged: bool = False
    cost: float = field(default=1.0, kw_only=True)
    remark: str = field(default="", kw_only=True)
    unread: Tensor | None = field(default=None, kw_only=True)


S = TypeVar("S", bound=State)


class Optimizer(Protocol[S]):
    """`init` evaluates the start, `step` makes one epoch's step; neither changes its arguments."""

    def init(self, objective: Objective, theta: Tensor) -> S:
        """The state at the start."""
        ...

    def step(self, objective: Objective, state: S) -> S:
        """The state after one more epoch."""
        ...


@runtime_checkable
class Continuable(Optimizer[S], Protocol[S]):
    """An optimiser that can go on from a state that was put away as tensors; both functions are pure."""

    def state_tensors(self, state: S) -> dict[str, Tensor]:
        """All there is to know of a state, by name."""
        ...

    def resume(self, objective: Objective, tensors: Mapping[str, Tensor]) -> S:
        """The state that `state_tensors` was asked of, to the last bit if the objective is the same.

        Loss and gradient are evaluated anew: the objective may be another, as on more points.
        """
        ...


def settled(states: Sequence[S]) -> list[tuple[S, bool]]:
    """States whose losses are read, and whether loss and gradient of each are finite; one wait for all."""
    losses = [state.loss if state.unread is None else state.unread for state in states]
    numbers = fetched(*losses, *(torch.isfinite(state.gradient).all() for state in states))
    read = [
        state if state.unread is None else replace(state, loss=loss, unread=None)
        for state, loss in zip(states, numbers, strict=False)
    ]
    finite = [bool(each) for each in numbers[len(states) :]]
    return [(state, math.isfinite(state.loss) and sound) for state, sound in zip(read, finite, strict=True)]


def is_where(state: State, loss: float, gradient: Tensor) -> bool:
    """Whether loss and gradient are those of a state, to the last bit."""
    return loss == state.loss and torch.equal(gradient, state.gradient)


def as_tensors(values: Mapping[str, Any]) -> dict[str, Tensor]:
    """Tensors and numbers as tensors by name: a number has no axes, None and words are left out."""
    kept = {name: value for name, value in values.items() if not isinstance(value, str | None)}
    return {name: _as_tensor(value) for name, value in kept.items()}


def as_values(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """The tensors and numbers that `as_tensors` was given."""
    return {name: tensor if tensor.ndim else tensor.item() for name, tensor in tensors.items()}


def _as_tensor(value: Tensor | float) -> Tensor:
    if isinstance(value, Tensor):
        return value
    # torch would round a number to single precision.
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


def require_positive(optimizer: object, name: str) -> None:
    """Refuse a setting that is not a positive number."""
    value = getattr(optimizer, name)
    if not (isinstance(value, int | float) and 0 < value < math.inf):
        raise TrainingError(f"{type(optimizer).__name__}({name}={value!r}): it must be a positive number.")
