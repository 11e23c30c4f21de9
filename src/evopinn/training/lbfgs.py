"""L-BFGS with a strong Wolfe line search, at the settings of the paper."""

from dataclasses import dataclass

import torch
from torch import Tensor

from evopinn.training.optimizer import Objective, State
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
        history: The latest steps, oldest first.
        scale: The initial inverse Hessian is this multiple of the identity.
        started: Whether a step has been made: the first one is shorter.
    """

    history: tuple[Pair, ...] = ()
    scale: float = 1.0
    started: bool = False


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS; an epoch is one iteration.

    Attributes:
        rate: The first step that the line search tries.
        memory: How many steps are remembered.
        gradient_tolerance: Converged when no component of the gradient is larger.
        change_tolerance: Converged when neither θ nor the loss changes by more.
    """

    rate: float = 1.0
    memory: int = 100
    gradient_tolerance: float = 1e-16
    change_tolerance: float = 1e-16

    def init(self, objective: Objective, theta: Tensor) -> LBFGSState:
        """The state at the start."""
        loss, gradient = objective(theta)
        converged = bool(gradient.abs().max() <= self.gradient_tolerance)
        return LBFGSState(theta, loss, gradient, converged)

    def step(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        """The state after one iteration."""
        direction = self._direction(state)
        slope = float(state.gradient @ direction)
        if not slope < -self.change_tolerance:
            return LBFGSState(state.theta, state.loss, state.gradient, True, state.history, state.scale, True)
        first = self.rate if state.started else self.rate * min(1.0, 1.0 / float(state.gradient.abs().sum()))
        length = float(direction.abs().max())

        def line(step: float) -> Trial:
            loss, gradient = objective(state.theta + step * direction)
            return Trial(step, loss, float(gradient @ direction), gradient)

        start = Trial(0.0, state.loss, slope, state.gradient)
        found = strong_wolfe(line, start, first, length)
        history, scale = self._remember(state, found.step * direction, found.gradient - state.gradient)
        converged = (
            found.step * length <= self.change_tolerance
            or abs(found.loss - state.loss) < self.change_tolerance
            or bool(found.gradient.abs().max() <= self.gradient_tolerance)
        )
        theta = state.theta + found.step * direction
        return LBFGSState(theta, found.loss, found.gradient, converged, history, scale, True)

    def _remember(self, state: LBFGSState, s: Tensor, y: Tensor) -> tuple[tuple[Pair, ...], float]:
        """History and scale after a step; one along which the curvature is not positive is not remembered."""
        curvature = float(y @ s)
        if not curvature > SMALLEST_CURVATURE:
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
