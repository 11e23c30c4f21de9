"""Pure convection around a circle, fast enough to defeat plain PINNs.

    u_t + β u_x = 0    on (0, 2π) × (0, 1],    u(x, 0) = sin x,    u(0, t) = u(2π, t),

with β = 30 and the solution u = sin(x - βt).

Setting: Krishnapriyan and others, "Characterizing possible failure modes in physics-informed neural
networks" (2021).
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Grid, Initial, Interval, Periodic, Problem, Time
from evopinn.problem.fields import FieldValues

BETA = 30.0


def exact(x: Tensor, t: Tensor) -> Tensor:
    """The solution u, shape (n,)."""
    return torch.sin(x - BETA * t)


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.t + BETA * u.x


def start(u: FieldValues, x: Tensor) -> Tensor:
    """The wave at t = 0."""
    return u - torch.sin(x)


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="convection",
        title="Convection around a circle, β = 30",
        equation=r"u_t + \beta u_x = 0",
        domain=Interval(0, 2 * pi) * Time(0, 1),
        fields=["u"],
        residual=residual,
        # The equation is of first order, so the values alone are matched.
        conditions=[Initial(start, weight=100), Periodic("x", order=0, weight=100)],
        scale=False,
        points=Grid(interior=(64, 64), initial=129, boundary=202, test=(101, 101)),
        solution=exact,
    )
