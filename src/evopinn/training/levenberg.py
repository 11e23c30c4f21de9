"""Levenberg-Marquardt with geodesic acceleration."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from evopinn.engine import fetched
from evopinn.errors import TrainingError
from evopinn.training.linearised import Linearised, costs, dense_bytes, linearised
from evopinn.training.optimizer import (
    LeastSquares,
    Objective,
    State,
    as_tensors,
    as_values,
    require_positive,
)

_TRIALS = 24
"""Dampings that a step tries at most."""

_RAISED = 5.0
"""λ is multiplied by this after a step that was refused."""

_LOWERED = 25.0
"""λ is divided by this after a step that was made."""

_LEAST_DAMPING = 1e-16
"""What is below is lost in the rounding of JᵀJ."""

_LEAST_SCALE = 1e-8
"""Of s, in units of the mean of d."""

_PROBE = 0.1
"""The second derivative of the residuals along a step v is taken from a step of this times v."""

_MOST_BENT = 0.75
"""A step v is bent by its acceleration a while 2·‖a‖ is at most this times ‖v‖."""


@dataclass(frozen=True, eq=False)
class LMState(State):
    """The state of Levenberg-Marquardt.

    Attributes:
        damping: λ that the next step tries first.
        residuals: Those at θ.
        model: The residuals near θ; made when a step needs it, if not before.
    """

    damping: float = 1.0
    residuals: Tensor = field(kw_only=True)
    model: Linearised | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class LM:
    """Levenberg-Marquardt with geodesic acceleration.

    A step v minimises the linearised residuals, damped,

        ‖r + J·v‖² + λ·Σ sᵢ·vᵢ²    with sᵢ = sqrt(dᵢ · mean d),  d the diagonal of JᵀJ,

    and is bent by half of the acceleration along it: the change of the residuals that J does not see, put
    through the same solver (Transtrum & Sethna's geodesic acceleration). The scale s lies half-way between
    Levenberg's (all alike) and Marquardt's (d), neither of which is good for all problems.

    Of all λ that lower the loss, a small one is taken, not the one that lowers it most: each step begins far
    below the λ of the one before, and λ rises until the loss falls. A trial costs little beside J, and on
    most of what was tried losses come out far lower than with cautious rules (docs/results.md).

    Attributes:
        damping: λ at the start.
        memory: Bytes that matrices may take; beyond, the method works without J.
    """

    damping: float = 1.0
    memory: float = 4e9

    def __post_init__(self) -> None:
        for name in ("damping", "memory"):
            require_positive(self, name)

    def init(self, objective: Objective, theta: Tensor) -> LMState:
        """The state at the start."""
        return self._begun(least_squares(objective), theta, self.damping)

    def step(self, objective: Objective, state: LMState) -> LMState:
        """The state after the first damping that lowers the loss; converged, if none does."""
        squares = least_squares(objective)
        model = state.model or self._model(squares, state.theta, state.residuals)
        damping = state.damping
        for trial in range(_TRIALS):
            found = _trial(squares, state, model, damping)
            if found is not None:
                theta, residuals, loss = found
                model = self._model(squares, theta, residuals)
                lowered = max(damping / _LOWERED, _LEAST_DAMPING)
                cost = self._cost(squares, residuals, theta, trial + 1)
                gradient = 2 * model.gradient
                (largest,) = fetched(gradient.abs().max())
                made = LMState(theta, loss, gradient, largest == 0, lowered, residuals=residuals, cost=cost)
                return replace(made, model=model, remark=state.remark)
            damping *= _RAISED
        return replace(state, damping=damping, model=model, converged=True)

    def state_tensors(self, state: LMState) -> dict[str, Tensor]:
        """The state as tensors by name; the rest is made again from θ."""
        return as_tensors({"theta": state.theta, "damping": state.damping, "cost": state.cost})

    def resume(self, objective: Objective, tensors: Mapping[str, Tensor]) -> LMState:
        """The state that `state_tensors` was asked of, evaluated anew."""
        values = as_values(tensors)
        state = self._begun(least_squares(objective), values["theta"], values["damping"])
        return replace(state, cost=values["cost"])

    def _begun(self, squares: LeastSquares, theta: Tensor, damping: float) -> LMState:
        """The state at a point, without what only a step needs: there may be no budget for one."""
        residuals = squares.residuals(theta)
        _, gradient = squares.loss_and_gradient(theta)
        loss, largest = fetched(residuals @ residuals, gradient.abs().max())
        cost, remark = self._cost(squares, residuals, theta, trials=1), self._remark(len(residuals), theta)
        return LMState(
            theta, loss, gradient, largest == 0, damping, residuals=residuals, cost=cost, remark=remark
        )

    def _model(self, squares: LeastSquares, theta: Tensor, residuals: Tensor) -> Linearised:
        return linearised(squares, theta, residuals, _scale, self.memory)

    def _remark(self, residuals: int, theta: Tensor) -> str:
        """That the method works without J, if it does: then it is slower, and its steps are rough."""
        needed = dense_bytes(residuals, len(theta), theta.element_size())
        if needed <= self.memory:
            return ""
        return (
            f"Levenberg-Marquardt worked without its Jacobian of {residuals:,} residuals by {len(theta):,} "
            f"parameters, which would take {needed / 1e9:.2g} GB, more than the {self.memory / 1e9:.2g} GB "
            f"allowed; fewer points or neurons, or a larger LM(memory=...), would make it faster."
        )

    def _cost(self, squares: LeastSquares, residuals: Tensor, theta: Tensor, trials: int) -> float:
        """Epochs that a step with so many trials counts for."""
        work = squares.work
        each = costs(work, len(residuals), len(theta), theta.element_size(), self.memory)
        return each.model + trials * (each.trial + 2 * work.residuals)


def least_squares(objective: object) -> LeastSquares:
    """An objective whose residuals are known."""
    if not isinstance(objective, LeastSquares):
        raise TrainingError(
            "Levenberg-Marquardt was given a loss and its gradient alone; it needs the residuals as well."
        )
    return objective


def _trial(
    squares: LeastSquares, state: LMState, model: Linearised, damping: float
) -> tuple[Tensor, Tensor, float] | None:
    """Where a damping leads, with residuals and loss there, if it is lower.

    Of a device two numbers are read, one after the other: whether the damped problem can be solved at all,
    before anything is evaluated, and the loss.
    """
    solve = model.damped(damping)
    if solve is None:
        return None
    v = solve(model.residuals)
    ahead = squares.residuals(state.theta + _PROBE * v)
    a = solve(2 / _PROBE * ((ahead - model.residuals) / _PROBE - model.change(v)))
    bent = 2 * _length(a, model.scale) <= _MOST_BENT * _length(v, model.scale)
    theta = state.theta + torch.where(bent, v + a / 2, v)
    residuals = squares.residuals(theta)
    (loss,) = fetched(residuals @ residuals)
    return (theta, residuals, loss) if loss < state.loss else None


def _scale(diagonal: Tensor) -> Tensor:
    """s; where no residual depends on a parameter, its step is zero whatever it is, but must not be zero."""
    mean = diagonal.mean()
    return (diagonal * mean).sqrt().clamp_min(_LEAST_SCALE * mean)


def _length(vector: Tensor, scale: Tensor) -> Tensor:
    """‖v‖ in the metric of the damping; infinite if it is not a number."""
    length = (vector.square() * scale).sum().sqrt()
    return torch.where(length.isnan(), torch.inf, length)
