"""Adam (Kingma & Ba) as a pure step."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from evopinn.engine import read_numbers
from evopinn.training.optimiser import (
    Objective,
    State,
    as_tensors,
    as_values,
    read_states,
    require_positive,
)
from evopinn.training.optimiser_table import OPTIMISERS, OptimiserKind


@dataclass(frozen=True, eq=False)
class AdamState(State):
    """The state of Adam: running means of the gradient and of its square, and the number of steps."""

    mean: Tensor | None = None
    square: Tensor | None = None
    steps: int = 0


@dataclass(frozen=True)
class Adam:
    """Adam on the full set of points; an epoch is one step.

    With g the gradient, m and v its running means, both corrected for their start at zero:

        θ ← θ − rate · m̂ / (sqrt(v̂) + ε)

    Attributes:
        rate: The learning rate.
        decay: Decay of the running means of g and g².
        epsilon: ε.
    """

    rate: float = 1e-3
    decay: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8

    kind: ClassVar[OptimiserKind] = OPTIMISERS["adam"]

    def __post_init__(self) -> None:
        require_positive(self, "rate", "epsilon")

    def init(self, objective: Objective, theta: Tensor) -> AdamState:
        """The state at the start."""
        loss, gradient = objective(theta)
        (loss,) = read_numbers(loss)
        return AdamState(theta, loss, gradient)

    def step(self, objective: Objective, state: AdamState) -> AdamState:
        """The state after one step; if the loss is on a device, it is left there unread."""
        g, steps = state.gradient, state.steps + 1
        zero = torch.zeros_like(g)
        mean = torch.lerp(zero if state.mean is None else state.mean, g, 1 - self.decay[0])
        square = torch.lerp(zero if state.square is None else state.square, g * g, 1 - self.decay[1])
        unbiased = mean / (1 - self.decay[0] ** steps)
        spread = (square / (1 - self.decay[1] ** steps)).sqrt()
        theta = state.theta - self.rate * unbiased / (spread + self.epsilon)
        loss, gradient = objective(theta)
        made = AdamState(theta, math.nan, gradient, False, mean, square, steps)
        return replace(made, unread=loss) if isinstance(loss, Tensor) else replace(made, loss=loss)

    def state_tensors(self, state: AdamState) -> dict[str, Tensor]:
        """The state as tensors by name."""
        ((known, _),) = read_states([state])
        return as_tensors(vars(known))

    def resume(self, objective: Objective, tensors: Mapping[str, Tensor]) -> AdamState:
        """The state that these tensors describe, evaluated anew."""
        loss, gradient = objective(tensors["theta"])
        (loss,) = read_numbers(loss)
        return replace(AdamState(**as_values(tensors)), loss=loss, gradient=gradient)
