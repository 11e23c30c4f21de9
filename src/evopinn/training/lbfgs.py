"""L-BFGS with a strong Wolfe line search, at the settings of the paper."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import torch
from torch import Tensor

from evopinn.engine import read_numbers
from evopinn.errors import TrainingError
from evopinn.training.lbfgs_memory import Steps
from evopinn.training.line_search import LinePoint, strong_wolfe
from evopinn.training.optimiser import (
    Objective,
    State,
    as_tensors,
    as_values,
    matches_state,
    require_positive,
)
from evopinn.training.optimiser_table import OPTIMISERS, OptimiserKind

SMALLEST_CURVATURE = 1e-10
HISTORY = "history."
"""The prefix of the tensors of remembered steps."""


@dataclass(frozen=True, eq=False)
class LBFGSState(State):
    """The state of L-BFGS.

    Attributes:
        unit: The unit of the tolerances: the loss at the start, or 1 if that is larger.
        history: The latest steps, oldest first.
        scale: The initial inverse Hessian is this multiple of the identity.
        started: Whether a step has been made: the first one is shorter.
    """

    unit: float = 1.0
    history: Steps = field(kw_only=True)
    scale: float = 1.0
    started: bool = False


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS; an epoch is one iteration.

    Where the loss starts above 1, steps and tolerances are those of torch's L-BFGS, which the paper used.
    Where it starts below, as small units or weights can make it, the loss is in effect divided by its initial
    value: the units of an equation do not decide how well it is solved.

    Attributes:
        rate: The first step that the line search tries.
        memory: How many steps are remembered.
        gradient_tolerance: Converged when no component of the gradient is larger.
        change_tolerance: Converged when the loss falls by less than this per unit step along the direction.
    """

    rate: float = 1.0
    memory: int = 100
    gradient_tolerance: float = 1e-16
    change_tolerance: float = 1e-16

    kind: ClassVar[OptimiserKind] = OPTIMISERS["lbfgs"]

    def __post_init__(self) -> None:
        require_positive(self, "rate")
        if self.memory < 1:
            raise TrainingError(f"LBFGS(memory={self.memory}): at least one step must be remembered.")

    def init(self, objective: Objective, theta: Tensor) -> LBFGSState:
        """The state at the start."""
        loss, gradient = objective(theta)
        loss, largest = read_numbers(loss, gradient.abs().max())
        unit = loss if 0 < loss < 1 else 1.0
        converged = self._is_flat(largest, unit)
        return LBFGSState(theta, loss, gradient, converged, unit, history=Steps.none(theta), scale=1 / unit)

    def _is_flat(self, largest: float, unit: float) -> bool:
        """Whether a gradient is flat, by its largest component."""
        return largest <= self.gradient_tolerance * unit

    def step(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        """The state after one iteration.

        Numbers are read once for the direction and once for each trial along it, all together, so that the
        host waits for a device no more often than that.
        """
        direction = state.history.descent(state.gradient, state.scale)
        slope, length, total = read_numbers(
            state.gradient @ direction, direction.abs().max(), state.gradient.abs().sum()
        )
        if not slope < -self.change_tolerance * state.unit:
            return self._given_up(state)
        first = self.rate
        if not state.started:
            first *= min(1.0, state.unit / total)

        def line(step: float) -> LinePoint:
            loss, gradient = objective(torch.add(state.theta, direction, alpha=step))
            y = gradient - state.gradient
            loss, slope, *others = read_numbers(
                loss, gradient @ direction, gradient.abs().max(), y @ (step * direction), y @ y
            )
            return LinePoint(step, loss, slope, gradient, tuple(others))

        start = LinePoint(0.0, state.loss, slope, state.gradient)
        found = strong_wolfe(line, start, first, length)
        if not found.loss < state.loss:
            return self._given_up(state)
        largest, *_ = found.others
        history, scale = self._remember(state, found.step * direction, found)
        return LBFGSState(
            torch.add(state.theta, direction, alpha=found.step),
            found.loss,
            found.gradient,
            self._is_flat(largest, state.unit),
            state.unit,
            history=history,
            scale=scale,
            started=True,
        )

    def state_tensors(self, state: LBFGSState) -> dict[str, Tensor]:
        """The state as tensors by name."""
        others = {name: value for name, value in vars(state).items() if name != "history"}
        steps = {f"{HISTORY}{name}": tensor for name, tensor in state.history.tensors().items()}
        return as_tensors(others) | steps

    def resume(self, objective: Objective, tensors: Mapping[str, Tensor]) -> LBFGSState:
        """The state that these tensors describe, evaluated anew."""
        steps = {name.removeprefix(HISTORY): tensors[name] for name in tensors if name.startswith(HISTORY)}
        history = Steps.restored(steps) if steps else Steps.none(tensors["theta"])
        others = {name: tensor for name, tensor in tensors.items() if not name.startswith(HISTORY)}
        state = LBFGSState(**as_values(others), history=history)
        loss, gradient = objective(state.theta)
        loss, largest = read_numbers(loss, gradient.abs().max())
        if matches_state(state, loss, gradient):
            return state
        return replace(
            state,
            loss=loss,
            gradient=gradient,
            converged=self._is_flat(largest, state.unit),
            history=history.seen_from(gradient),
        )

    def _given_up(self, state: LBFGSState) -> LBFGSState:
        """The state if no step improves: without history or, if there was none, converged."""
        none = Steps.none(state.theta)
        fresh = replace(state, history=none, scale=1 / state.unit, started=False)
        return fresh if state.history else replace(fresh, converged=True)

    def _remember(self, state: LBFGSState, s: Tensor, found: LinePoint) -> tuple[Steps, float]:
        """History and scale after a step; one along which the curvature is not positive is not remembered."""
        _, curvature, square = found.others
        if not curvature > SMALLEST_CURVATURE * state.unit:
            return state.history.seen_from(found.gradient), state.scale
        y = found.gradient - state.gradient
        return state.history.followed_by(s, y, found.gradient, self.memory), curvature / square
