"""The heat equation on a rod with cold ends.

    u_t = a u_xx    on (0, L) × (0, 1],    u(0, t) = u(L, t) = 0,    u(x, 0) = sin(nπx/L),

with diffusivity a = 0.4, L = 1, n = 1 and the solution u = exp(-a n²π²t/L²) sin(nπx/L).

Setting: the heat equation with exact solution among DeepXDE's demonstrations.
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Initial, Interval, Problem, Time
from evopinn.problem.fields import FieldValues

A = 0.4
L = 1.0
N = 1


def exact(x: Tensor, t: Tensor) -> Tensor:
    """The solution u, shape (n,)."""
    return torch.exp(-A * (N * pi / L) ** 2 * t) * torch.sin(N * pi * x / L)


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.t - A * u.xx


def start(u: FieldValues, x: Tensor) -> Tensor:
    """The temperature at t = 0."""
    return u - torch.sin(N * pi * x / L)


def cold(u: FieldValues) -> FieldValues:
    """Homogeneous Dirichlet data."""
    return u


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="heat",
        title="Heat equation on a rod",
        equation=r"u_t = a u_{xx}",
        domain=Interval(0, L) * Time(0, 1),
        fields=["u"],
        residual=residual,
        conditions=[Initial(start, weight=10), Boundary(cold, weight=10)],
        scale=False,
        points=Grid(interior=(40, 40), initial=81, boundary=162, test=(101, 101)),
        solution=exact,
    )
