"""The acceleration of a step of Levenberg-Marquardt, from the curvature of the residuals along it."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from evopinn.training.linearised import Linearised, Solve
from evopinn.training.optimiser import LeastSquares, require_positive


class Acceleration(Protocol):
    """A way to make a step from the solutions of a damped problem."""

    @property
    def solutions(self) -> int:
        """The number of solutions per step; each costs an evaluation of the residuals too."""
        ...

    def step(self, objective: LeastSquares, theta: Tensor, model: Linearised, solve: Solve) -> Tensor:
        """The step from θ.

        Args:
            objective: Gives the residuals elsewhere.
            theta: θ.
            model: The residuals near θ.
            solve: Solves their damped problem.
        """
        ...


@dataclass(frozen=True)
class NoAcceleration:
    """Steps without acceleration: v."""

    solutions = 1

    def step(self, objective: LeastSquares, theta: Tensor, model: Linearised, solve: Solve) -> Tensor:  # noqa: ARG002
        """The step v."""
        return solve(model.residuals)


@dataclass(frozen=True)
class GeodesicAcceleration:
    """Steps bent along the second derivative of the residuals (Transtrum & Sethna): v + a/2.

    With h the probe, the second derivative along v and the acceleration are

        r'' = 2/h · ((r(θ + h·v) − r)/h − J·v),    a = −(JᵀJ + λ·diag(s))⁻¹ Jᵀr''.

    Where a is too large for its series to be trusted, the step is v.

    Attributes:
        probe: h.
        most: A step is bent while 2·‖a‖ is at most this times ‖v‖, in the scale s.
    """

    probe: float = 0.1
    most: float = 0.75

    solutions = 2

    def __post_init__(self) -> None:
        require_positive(self, "probe", "most")

    def step(self, objective: LeastSquares, theta: Tensor, model: Linearised, solve: Solve) -> Tensor:
        """The step v + a/2, or v."""
        v = solve(model.residuals)
        ahead = objective.residuals(theta + self.probe * v)
        a = solve(2 / self.probe * ((ahead - model.residuals) / self.probe - model.change(v)))
        bent = 2 * _length(a, model.scale) <= self.most * _length(v, model.scale)
        return torch.where(bent, v + a / 2, v)


def _length(vector: Tensor, scale: Tensor) -> Tensor:
    """‖v‖ in the metric of the damping; infinite if it is not a number."""
    length = (vector.square() * scale).sum().sqrt()
    return torch.where(length.isnan(), torch.inf, length)
