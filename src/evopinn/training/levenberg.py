"""Levenberg-Marquardt, composed of a damping rule, an acceleration and linear solvers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from torch import Tensor

from evopinn.engine import read_numbers
from evopinn.training.acceleration import Acceleration, GeodesicAcceleration
from evopinn.training.damping import DampingRule, SmallDamping
from evopinn.training.linearised import Linearised
from evopinn.training.optimiser import (
    LeastSquares,
    State,
    as_tensors,
    as_values,
    require_objective,
    require_positive,
)
from evopinn.training.optimiser_table import OPTIMISERS, OptimiserKind
from evopinn.training.solvers import Cholesky, ConjugateGradients, Solver


@dataclass(frozen=True, eq=False)
class LMState(State):
    """The state of Levenberg-Marquardt.

    Attributes:
        damping: The λ that the next step tries first.
        residuals: Those at θ.
        model: The residuals near θ; made when a step needs it, if not before.
    """

    damping: float = 1.0
    residuals: Tensor = field(kw_only=True)
    model: Linearised | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class LM:
    """Levenberg-Marquardt, usually with geodesic acceleration.

    A step v minimises the linearised residuals, damped,

        ‖r + J·v‖² + λ·Σ sᵢ·vᵢ²,    with a scale s made of the diagonal of JᵀJ,

    and is bent by half of the acceleration along it. Of all λ that lower the loss, the usual rule takes a
    small one, not the one that lowers it most. A trial costs little beside J, and on most of what was tried
    losses come out far lower than with cautious rules (docs/results.md).

    Attributes:
        damping: λ at the start.
        memory: Bytes that matrices may take; beyond, the method works without J.
        rule: How λ and its scale are chosen, and which trials are accepted.
        acceleration: How a step is bent.
        solver: What solves the damped problems.
        fallback: What solves them where the matrices of `solver` take more than `memory`.
    """

    damping: float = 1.0
    memory: float = 4e9
    rule: DampingRule = field(default=SmallDamping())
    acceleration: Acceleration = field(default=GeodesicAcceleration())
    solver: Solver = field(default=Cholesky())
    fallback: Solver = field(default=ConjugateGradients())

    kind: ClassVar[OptimiserKind] = OPTIMISERS["lm"]

    def __post_init__(self) -> None:
        require_positive(self, "damping", "memory")

    def init(self, objective: LeastSquares, theta: Tensor) -> LMState:
        """The state at the start."""
        return self._begun(objective, theta, self.damping)

    def step(self, objective: LeastSquares, state: LMState) -> LMState:
        """The state after the first accepted trial; converged if there is none."""
        model = state.model or self._model(objective, state.theta, state.residuals)
        damping = state.damping
        for trial in range(self.rule.trials):
            found = self._trial(objective, state, model, damping)
            if found is not None:
                theta, residuals, loss = found
                model = self._model(objective, theta, residuals)
                cost = self._cost(objective, residuals, theta, trial + 1)
                gradient = 2 * model.gradient
                (largest,) = read_numbers(gradient.abs().max())
                lowered = self.rule.lowered(damping)
                made = LMState(theta, loss, gradient, largest == 0, lowered, residuals=residuals, cost=cost)
                return replace(made, model=model, remark=state.remark)
            damping = self.rule.raised(damping)
        return replace(state, damping=damping, model=model, converged=True)

    def state_tensors(self, state: LMState) -> dict[str, Tensor]:
        """The state as tensors by name; the rest is made again from θ."""
        return as_tensors({"theta": state.theta, "damping": state.damping, "cost": state.cost})

    def resume(self, objective: LeastSquares, tensors: Mapping[str, Tensor]) -> LMState:
        """The state that these tensors describe, evaluated anew."""
        values = as_values(tensors)
        state = self._begun(objective, values["theta"], values["damping"])
        return replace(state, cost=values["cost"])

    def _begun(self, objective: LeastSquares, theta: Tensor, damping: float) -> LMState:
        """The state at a point, without the model: there may be no budget for a step."""
        require_objective(self.kind, objective)
        residuals = objective.residuals(theta)
        _, gradient = objective.loss_and_gradient(theta)
        loss, largest = read_numbers(residuals @ residuals, gradient.abs().max())
        cost, remark = self._cost(objective, residuals, theta, trials=1), self._remark(len(residuals), theta)
        return LMState(
            theta, loss, gradient, largest == 0, damping, residuals=residuals, cost=cost, remark=remark
        )

    def _trial(
        self, objective: LeastSquares, state: LMState, model: Linearised, damping: float
    ) -> tuple[Tensor, Tensor, float] | None:
        """The point that a damping leads to, with its residuals and loss, if it is accepted.

        Two numbers are read from a device: before any evaluation whether the damped problem has a solution,
        and then the loss.
        """
        solve = model.damped(damping)
        if solve is None:
            return None
        theta = state.theta + self.acceleration.step(objective, state.theta, model, solve)
        residuals = objective.residuals(theta)
        (loss,) = read_numbers(residuals @ residuals)
        return (theta, residuals, loss) if self.rule.accepts(loss, state.loss) else None

    def _model(self, objective: LeastSquares, theta: Tensor, residuals: Tensor) -> Linearised:
        return self._solver(len(residuals), theta).model(objective, theta, residuals, self.rule.scale)

    def _solver(self, residuals: int, theta: Tensor) -> Solver:
        """The solver, or its substitute where memory is short."""
        return self.solver if self._bytes(residuals, theta) <= self.memory else self.fallback

    def _bytes(self, residuals: int, theta: Tensor) -> int:
        return self.solver.bytes(residuals, len(theta), theta.element_size())

    def _remark(self, residuals: int, theta: Tensor) -> str:
        """A remark if the method works without J, which is slower and makes rough steps."""
        needed = self._bytes(residuals, theta)
        if needed <= self.memory:
            return ""
        return (
            f"Levenberg-Marquardt worked without its Jacobian of {residuals:,} residuals by {len(theta):,} "
            f"parameters, which would take {needed / 1e9:.2g} GB, more than the {self.memory / 1e9:.2g} GB "
            f"allowed; fewer points or neurons, or a larger LM(memory=...), would make it faster."
        )

    def _cost(self, objective: LeastSquares, residuals: Tensor, theta: Tensor, trials: int) -> float:
        """The cost of a step with a number of trials, in epochs."""
        work, count, solutions = objective.work, len(residuals), self.acceleration.solutions
        each = self._solver(count, theta).costs(work, count, len(theta), solutions)
        return each.model + trials * (each.trial + solutions * work.residuals)
