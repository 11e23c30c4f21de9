"""The heat equation in a cube: four coordinates.

    u_t = a (u_xx + u_yy + u_zz)    on (0, 1)³ × (0, 1],    u = 0 on the six faces,
    u(x, y, z, 0) = sin(πx) sin(πy) sin(πz),

with diffusivity a = 0.05 and the solution u = exp(-3π²at) sin(πx) sin(πy) sin(πz).

Setting: the first mode of the cube, in any textbook on separation of variables.
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Box, Initial, Problem, Sobol, Time
from evopinn.problem.fields import FieldValues

A = 0.05


def mode(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """The first mode of the cube, shape (n,)."""
    return torch.sin(pi * x) * torch.sin(pi * y) * torch.sin(pi * z)


def exact(x: Tensor, y: Tensor, z: Tensor, t: Tensor) -> Tensor:
    """The temperature u, shape (n,)."""
    return torch.exp(-3 * pi**2 * A * t) * mode(x, y, z)


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.t - A * (u.xx + u.yy + u.zz)


def start(u: FieldValues, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """The temperature at t = 0."""
    return u - mode(x, y, z)


def cold(u: FieldValues) -> FieldValues:
    """Homogeneous Dirichlet data."""
    return u


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="heat-3d",
        title="Heat equation in a cube",
        equation=r"u_t = a (u_{xx} + u_{yy} + u_{zz})",
        domain=Box(x=(0, 1), y=(0, 1), z=(0, 1)) * Time(0, 1),
        fields=["u"],
        residual=residual,
        conditions=[Initial(start, weight=10), Boundary(cold, weight=10)],
        scale=False,
        points=Sobol(interior=4096, initial=512, boundary=1536, test=(11, 11, 11, 11), seed=0),
        solution=exact,
    )
