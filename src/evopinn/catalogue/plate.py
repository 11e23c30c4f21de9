"""Kirchhoff's equation of a simply supported square plate under a sinusoidal load: the biharmonic operator.

    D (u_xxxx + 2 u_xxyy + u_yyyy) = q₀ sin(πx) sin(πy)    on (0, 1)²,

with neither deflection u nor bending moment on the boundary: u = 0 and, with the outward normal n, nᵀ(∇∇u)n
= 0. The solution is u = q₀ / (4π⁴D) sin(πx) sin(πy); q₀ = 4π⁴ and D = 1 make its height 1.

Setting: Timoshenko and Woinowsky-Krieger, "Theory of plates and shells" (1959), Navier's solution; solved
with networks by Guo, Zhuang and Rabczuk, "A deep collocation method for the bending analysis of Kirchhoff
plate" (2019).
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Problem, Rectangle
from evopinn.problem.fields import FieldValues

D = 1.0
Q0 = 4 * pi**4


def shape(x: Tensor, y: Tensor) -> Tensor:
    """The shape of the load and of the deflection, shape (n,)."""
    return torch.sin(pi * x) * torch.sin(pi * y)


def exact(x: Tensor, y: Tensor) -> Tensor:
    """The deflection u, shape (n,)."""
    return Q0 / (4 * pi**4 * D) * shape(x, y)


def residual(u: FieldValues, x: Tensor, y: Tensor) -> Tensor:
    """The equation."""
    return D * (u.xxxx + 2 * u.xxyy + u.yyyy) - Q0 * shape(x, y)


def supported(u: FieldValues, nx: Tensor, ny: Tensor) -> list[FieldValues | Tensor]:
    """Neither deflection nor bending moment."""
    return [u, u.xx * nx**2 + 2 * u.xy * nx * ny + u.yy * ny**2]


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="plate",
        title="Simply supported Kirchhoff plate",
        equation=r"D \Delta^2 u = q_0 \sin(\pi x) \sin(\pi y)",
        domain=Rectangle(x=(0, 1), y=(0, 1)),
        fields=["u"],
        residual=residual,
        conditions=[Boundary(supported, weight=100)],
        scale=False,
        points=Grid(interior=(40, 40), boundary=200, test=(101, 101)),
        solution=exact,
    )
