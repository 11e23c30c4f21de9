"""Kovasznay's steady flow behind a grid: the Navier-Stokes equations at Re = 40.

    u u_x + v u_y + p_x - (u_xx + u_yy)/Re = 0,
    u v_x + v v_y + p_y - (v_xx + v_yy)/Re = 0,
    u_x + v_y = 0                                     on (-1/2, 1) × (-1/2, 3/2),

with the velocity given on the boundary and the pressure at its right side. With λ = Re/2 - √(Re²/4 + 4π²),

    u = 1 - exp(λx) cos(2πy),    v = λ/(2π) exp(λx) sin(2πy),    p = (1 - exp(2λx))/2.

Setting: L. I. G. Kovasznay (1948); domain and conditions as among DeepXDE's demonstrations.
"""

from math import pi, sqrt

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Problem, Rectangle
from evopinn.problem.fields import FieldValues

RE = 40.0
LAMBDA = RE / 2 - sqrt(RE**2 / 4 + 4 * pi**2)


def exact(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Velocity u, v and pressure p, each of shape (n,)."""
    decay = torch.exp(LAMBDA * x)
    u = 1 - decay * torch.cos(2 * pi * y)
    v = LAMBDA / (2 * pi) * decay * torch.sin(2 * pi * y)
    return u, v, (1 - decay**2) / 2


def residual(u: FieldValues, v: FieldValues, p: FieldValues) -> list[Tensor]:
    """Momentum in x and y, and continuity."""
    return [
        u * u.x + v * u.y + p.x - (u.xx + u.yy) / RE,
        u * v.x + v * v.y + p.y - (v.xx + v.yy) / RE,
        u.x + v.y,
    ]


def velocity(u: FieldValues, v: FieldValues, x: Tensor, y: Tensor) -> list[Tensor]:
    """The velocity on the boundary."""
    u_exact, v_exact, _ = exact(x, y)
    return [u - u_exact, v - v_exact]


def pressure(p: FieldValues, x: Tensor, y: Tensor) -> Tensor:
    """The pressure at the outflow, which fixes its free constant."""
    return p - exact(x, y)[2]


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="kovasznay",
        title="Kovasznay flow, Re = 40",
        equation=(
            r"\mathbf{u} \cdot \nabla \mathbf{u} + \nabla p = \tfrac{1}{Re} \Delta \mathbf{u},\quad "
            r"\nabla \cdot \mathbf{u} = 0"
        ),
        domain=Rectangle(x=(-0.5, 1), y=(-0.5, 1.5)),
        fields=["u", "v", "p"],
        residual=residual,
        conditions=[
            Boundary(velocity, weight=10, name="velocity"),
            Boundary(pressure, on="right", weight=10, name="pressure"),
        ],
        scale=False,
        points=Grid(interior=(45, 60), boundary=280, test=(76, 101)),
        solution=exact,
    )
