"""The wave equation with two modes of very different frequency.

    u_tt - c² u_xx = 0    on (0, 1) × (0, 1],    u(0, t) = u(1, t) = 0,    u_t(x, 0) = 0,
    u(x, 0) = sin(πx) + sin(4πx)/2,

with c = 2 and the solution u = sin(πx) cos(cπt) + sin(4πx) cos(4cπt)/2.

Setting: Wang, Yu and Perdikaris, "When and why PINNs fail to train: a neural tangent kernel perspective"
(2022).
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Initial, Interval, Problem, Time
from evopinn.problem.fields import FieldValues

C = 2.0


def exact(x: Tensor, t: Tensor) -> Tensor:
    """The solution u, shape (n,)."""
    slow = torch.sin(pi * x) * torch.cos(C * pi * t)
    fast = torch.sin(4 * pi * x) * torch.cos(4 * C * pi * t)
    return slow + fast / 2


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.tt - C**2 * u.xx


def displacement(u: FieldValues, x: Tensor) -> Tensor:
    """The string at t = 0."""
    return u - torch.sin(pi * x) - torch.sin(4 * pi * x) / 2


def velocity(u: FieldValues) -> Tensor:
    """The string starts at rest."""
    return u.t


def fixed(u: FieldValues) -> FieldValues:
    """Homogeneous Dirichlet data."""
    return u


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="wave",
        title="Wave equation with two modes",
        equation=r"u_{tt} - c^2 u_{xx} = 0",
        domain=Interval(0, 1) * Time(0, 1),
        fields=["u"],
        residual=residual,
        conditions=[
            Initial(displacement, weight=100, name="initial u"),
            Initial(velocity, weight=100, name="initial u.t"),
            Boundary(fixed, weight=100),
        ],
        scale=False,
        points=Grid(interior=(60, 60), initial=101, boundary=202, test=(101, 101)),
        solution=exact,
    )
