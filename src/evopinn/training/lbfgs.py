"""L-BFGS with a strong Wolfe line search, at the settings of the paper."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from evopinn.errors import TrainingError
from evopinn.training.optimizer import Objective, State, require_positive
from evopinn.training.wolfe import Trial, strong_wolfe

SMALLEST_CURVATURE = 1e-10


@dataclass(frozen=True, eq=False)
class Pair:
    """One remembered step: s = θ' − θ, y = ∇' − ∇, and 1/(y·s)."""

    s: Tensor
    y: Tensor
    inverse: float


@dataclass(frozen=True, eq=False)
class LBFGSState(State):
    """The state of L-BFGS.

    Attributes:
        unit: What tolerances are relative to: the loss at the start, or 1 if that is larger.
        history: The latest steps, oldest first.
        scale: The initial inverse Hessian is this multiple of the identity.
        started: Whether a step has been made: the first one is shorter.
    """

    unit: float = 1.0
    history: tuple[Pair, ...] = ()
    scale: float = 1.0
    started: bool = False


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS; an epoch is one iteration.

    Where the loss starts above 1, steps and tolerances are those of torch's L-BFGS, which the paper used.
    Where it starts below, as small units or weights can make it, all is as if the loss were divided by its
    start: the units of an equation do not decide how well it is solved.

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

    def __post_init__(self) -> None:
        require_positive(self, "rate")
        if self.memory < 1:
            raise TrainingError(f"LBFGS(memory={self.memory}): at least one step must be remembered.")

    def init(self, objective: Objective, theta: Tensor) -> LBFGSState:
        """The state at the start."""
        loss, gradient = objective(theta)
        unit = loss if 0 < loss < 1 else 1.0
        converged = self._is_flat(gradient, unit)
        return LBFGSState(theta, loss, gradient, converged, unit, scale=1 / unit)

    def _is_flat(self, gradient: Tensor, unit: float) -> bool:
        return bool(gradient.abs().max() <= self.gradient_tolerance * unit)

    def step(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        """The state after one iteration."""
        direction = self._direction(state)
        slope = float(state.gradient @ direction)
        if not slope < -self.change_tolerance * state.unit:
            return self._given_up(state)
        first = self.rate
        if not state.started:
            first *= min(1.0, state.unit / float(state.gradient.abs().sum()))

        def line(step: float) -> Trial:
            loss, gradient = objective(state.theta + step * direction)
            return Trial(step, loss, float(gradient @ direction), gradient)

        start = Trial(0.0, state.loss, slope, state.gradient)
        found = strong_wolfe(line, start, first, float(direction.abs().max()))
        if not found.loss < state.loss:
            return self._given_up(state)
        history, scale = self._remember(state, found.step * direction, found.gradient - state.gradient)
        return LBFGSState(
            state.theta + found.step * direction,
            found.loss,
            found.gradient,
            self._is_flat(found.gradient, state.unit),
            state.unit,
            history,
            scale,
            started=True,
        )

    def _given_up(self, state: LBFGSState) -> LBFGSState:
        """No step along the direction improves: start afresh without history or, if there was none, end."""
        fresh = LBFGSState(state.theta, state.loss, state.gradient, unit=state.unit, scale=1 / state.unit)
        return fresh if state.history else replace(fresh, converged=True)

    def _remember(self, state: LBFGSState, s: Tensor, y: Tensor) -> tuple[tuple[Pair, ...], float]:
        """History and scale after a step; one along which the curvature is not positive is not remembered."""
        curvature = float(y @ s)
        if not curvature > SMALLEST_CURVATURE * state.unit:
            return state.history, state.scale
        pair = Pair(s, y, 1.0 / curvature)
        return (*state.history, pair)[-self.memory :], curvature / float(y @ y)

    def _direction(self, state: LBFGSState) -> Tensor:
        """−H·gradient by the two-loop recursion."""
        q = -state.gradient
        alphas: list[float] = []
        for pair in reversed(state.history):
            alpha = pair.inverse * float(pair.s @ q)
            q = torch.add(q, pair.y, alpha=-alpha)
            alphas.append(alpha)
        r = q * state.scale
        for pair, alpha in zip(state.history, reversed(alphas), strict=True):
            r = torch.add(r, pair.s, alpha=alpha - pair.inverse * float(pair.y @ r))
        return r
