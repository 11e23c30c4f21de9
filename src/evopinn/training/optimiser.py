"""The protocol of optimisers: a start and a step, both pure functions of their arguments."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import torch
from torch import Tensor

from evopinn.engine import Scalar, read_numbers
from evopinn.errors import TrainingError
from evopinn.training.cost import Work
from evopinn.training.optimiser_table import Needs, OptimiserKind

Objective = Callable[[Tensor], tuple[Scalar, Tensor]]
"""From θ to the loss and its gradient; the loss may be left on its device, unread."""


@runtime_checkable
class LeastSquares(Protocol):
    """An objective that is a sum of squares, ‖r(θ)‖², for methods of second order."""

    @property
    def work(self) -> Work:
        """The cost of its parts."""
        ...

    def __call__(self, theta: Tensor) -> tuple[Scalar, Tensor]:
        """The same as `loss_and_gradient`."""
        ...

    def loss_and_gradient(self, theta: Tensor) -> tuple[Scalar, Tensor]:
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
    """The state of an optimiser; each optimiser adds its own memory.

    Attributes:
        theta: The parameters, shape (p,).
        loss: The loss there.
        gradient: Its gradient there, shape (p,).
        converged: Whether another step would change nothing.
        cost: The cost of the step to here, in epochs.
        remark: A note for the user on the working of the method, if there is one.
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


class Optimiser(Protocol[S]):
    """`init` evaluates the start, `step` makes one epoch's step; neither changes its arguments.

    Those with a row in the table of optimisers have it as `kind`.
    """

    def init(self, objective: LeastSquares, theta: Tensor) -> S:
        """The state at the start."""
        ...

    def step(self, objective: LeastSquares, state: S) -> S:
        """The state after one more epoch."""
        ...


@runtime_checkable
class Continuable(Optimiser[S], Protocol[S]):
    """An optimiser that can resume from a state stored as tensors; both functions are pure."""

    def state_tensors(self, state: S) -> dict[str, Tensor]:
        """The whole state, by name."""
        ...

    def resume(self, objective: LeastSquares, tensors: Mapping[str, Tensor]) -> S:
        """The state that these tensors describe, to the last bit if the objective is the same.

        Loss and gradient are evaluated anew: the objective may be another, as on more points.
        """
        ...


def continuable(optimizer: Optimiser[Any]) -> Continuable[Any]:
    """The optimiser, if its states can be stored and resumed from."""
    if not isinstance(optimizer, Continuable):
        raise TrainingError(
            f"{type(optimizer).__name__} has no `state_tensors` and `resume`, which start and on_end need; "
            "add these methods, or leave out start and on_end."
        )
    return optimizer


def kind_of(optimizer: Optimiser[Any]) -> OptimiserKind:
    """The row of an optimiser; one without needs the gradient, and its steps are epochs."""
    return getattr(optimizer, "kind", OptimiserKind(type(optimizer).__name__, location=""))


def require_objective(kind: OptimiserKind, objective: object) -> None:
    """Refuse a loss without the information that a kind of optimiser needs."""
    if kind.needs is Needs.LEAST_SQUARES and not isinstance(objective, LeastSquares):
        raise TrainingError(
            f"{kind.name} was given a loss and its gradient alone; it needs the residuals as well."
        )


def describe_optimiser(optimizer: Optimiser[Any]) -> dict[str, Any]:
    """An optimiser's name and settings as plain data, without default parts."""
    # A chain has a name of its own among its settings.
    return {
        "name": type(optimizer).__name__.lower(),
        **(_plain(optimizer) if is_dataclass(optimizer) else {}),
    }


def _plain(value: Any) -> Any:
    """Settings, also nested ones, as plain data."""
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in cast("tuple[Any, ...]", value))
    if not is_dataclass(value):
        return value
    settings: dict[str, Any] = {}
    for each in fields(value):
        setting, is_part = getattr(value, each.name), is_dataclass(each.default)
        if not (is_part and setting == each.default):
            settings[each.name] = describe_optimiser(setting) if is_part else _plain(setting)
    return settings


def read_states(states: Sequence[S]) -> list[tuple[S, bool]]:
    """Read the losses of states with a single wait; tells whether loss and gradient of each are finite."""
    losses = [state.loss if state.unread is None else state.unread for state in states]
    numbers = read_numbers(*losses, *(torch.isfinite(state.gradient).all() for state in states))
    read = [
        state if state.unread is None else replace(state, loss=loss, unread=None)
        for state, loss in zip(states, numbers, strict=False)
    ]
    finite = [bool(each) for each in numbers[len(states) :]]
    return [(state, math.isfinite(state.loss) and sound) for state, sound in zip(read, finite, strict=True)]


def matches_state(state: State, loss: float, gradient: Tensor) -> bool:
    """Whether loss and gradient equal those of a state, to the last bit."""
    return loss == state.loss and torch.equal(gradient, state.gradient)


def as_tensors(values: Mapping[str, Any]) -> dict[str, Tensor]:
    """Tensors and numbers as tensors by name: a number has no axes, None and words are left out."""
    kept = {name: value for name, value in values.items() if not isinstance(value, str | None)}
    return {name: _as_tensor(value) for name, value in kept.items()}


def as_values(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """The tensors and numbers that `as_tensors` converted."""
    return {name: tensor if tensor.ndim else tensor.item() for name, tensor in tensors.items()}


def _as_tensor(value: Tensor | float) -> Tensor:
    if isinstance(value, Tensor):
        return value
    # torch would round a number to single precision.
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


def require_positive(owner: object, *names: str) -> None:
    """Refuse settings that are not positive numbers."""
    for name in names:
        value = getattr(owner, name)
        if not (isinstance(value, int | float) and 0 < value < math.inf):
            raise TrainingError(f"{type(owner).__name__}({name}={value!r}): it must be a positive number.")
