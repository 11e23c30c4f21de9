"""The Klein-Gordon equation with a cubic term, from a fabricated solution.

    u_tt + α u_xx + β u + γ u^k = f(x, t)    on [0, 1] × (0, 1],    α = -1, β = 0, γ = 1, k = 3,

with u and u_t given at t = 0 and u at both ends. The solution is u = x cos(ωt) + c (xt)³.

Setting: Wang, Teng and Perdikaris, "Understanding and mitigating gradient flow pathologies in
physics-informed neural networks" (2021); cases II and III, points and weights as in the evolutionary search
for networks that evopinn follows, where discovered models are tested on them for generalisation.
"""

from dataclasses import dataclass
from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Initial, Interval, Problem, Time
from evopinn.problem.fields import FieldValues


@dataclass(frozen=True)
class FabricatedSolution:
    """A fabricated solution.

    Attributes:
        omega: Angular frequency ω.
        c: Coefficient c of the cubic part.
    """

    omega: float
    c: float


CASES = {
    "I": FabricatedSolution(omega=5 * pi, c=1.0),
    "II": FabricatedSolution(omega=4 * pi, c=1.0),
    "III": FabricatedSolution(omega=6 * pi, c=1.2),
}


def build(name: str, case: FabricatedSolution) -> Problem:
    """State the problem of one case."""
    omega, c = case.omega, case.c

    def exact(x: Tensor, t: Tensor) -> Tensor:
        return x * torch.cos(omega * t) + c * (x * t) ** 3

    def source(x: Tensor, t: Tensor) -> Tensor:
        u_tt = -(omega**2) * x * torch.cos(omega * t) + 6 * c * x**3 * t
        u_xx = 6 * c * x * t**3
        return u_tt - u_xx + exact(x, t) ** 3

    def residual(u: FieldValues, x: Tensor, t: Tensor) -> Tensor:
        return u.tt - u.xx + u**3 - source(x, t)

    def displacement(u: FieldValues, x: Tensor) -> Tensor:
        return u - x

    def velocity(u: FieldValues) -> Tensor:
        return u.t

    def ends(u: FieldValues, x: Tensor, t: Tensor) -> Tensor:
        return u - exact(x, t)

    return Problem(
        name=name,
        title=f"Klein-Gordon equation, ω = {omega / pi:g}π, c = {c:g}",
        equation=r"u_{tt} - u_{xx} + u^3 = f(x, t)",
        domain=Interval(0, 1) * Time(0, 1),
        fields=["u"],
        residual=residual,
        conditions=[
            Initial(displacement, weight=100, name="initial u"),
            Initial(velocity, weight=100, name="initial u.t"),
            Boundary(ends, weight=100),
        ],
        scale=False,
        points=Grid(interior=(60, 60), initial=81, boundary=162, test=(101, 101)),
        solution=exact,
    )
