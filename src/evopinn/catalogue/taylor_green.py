"""Taylor and Green's decaying vortices: the unsteady Navier-Stokes equations on a periodic square.

    u_t + u u_x + v u_y + p_x - ν (u_xx + u_yy) = 0,
    v_t + u v_x + v v_y + p_y - ν (v_xx + v_yy) = 0,
    u_x + v_y = 0                                       on (0, 2π)² × (0, 1],

periodic in x and y, with the velocity given at t = 0 and ν = 0.1. A periodic problem leaves the pressure
free up to a constant of time, so it is measured in one corner. The solution is

    u = -cos x sin y exp(-2νt),    v = sin x cos y exp(-2νt),    p = -(cos 2x + cos 2y)/4 exp(-4νt).

Setting: G. I. Taylor and A. E. Green (1937), in two dimensions.
"""

from math import pi

import numpy as np
import torch
from torch import Tensor

from evopinn.problem import Data, Grid, Initial, Periodic, Problem, Rectangle, Time
from evopinn.problem.fields import FieldValues

NU = 0.1


def exact(x: Tensor, y: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Velocity u, v and pressure p, each of shape (n,)."""
    decay = torch.exp(-2 * NU * t)
    u = -torch.cos(x) * torch.sin(y) * decay
    v = torch.sin(x) * torch.cos(y) * decay
    return u, v, -(torch.cos(2 * x) + torch.cos(2 * y)) / 4 * decay**2


def residual(u: FieldValues, v: FieldValues, p: FieldValues) -> list[Tensor]:
    """Momentum in x and y, and continuity."""
    return [
        u.t + u * u.x + v * u.y + p.x - NU * (u.xx + u.yy),
        v.t + u * v.x + v * v.y + p.y - NU * (v.xx + v.yy),
        u.x + v.y,
    ]


def start(u: FieldValues, v: FieldValues, x: Tensor, y: Tensor) -> list[Tensor]:
    """The vortices at t = 0."""
    return [u + torch.cos(x) * torch.sin(y), v - torch.sin(x) * torch.cos(y)]


def build() -> Problem:
    """State the problem."""
    times = np.linspace(0, 1, 11)
    corner = {"x": np.zeros_like(times), "y": np.zeros_like(times), "t": times}
    return Problem(
        name="taylor-green",
        title="Decaying Taylor-Green vortices",
        equation=(
            r"\mathbf{u}_t + \mathbf{u} \cdot \nabla \mathbf{u} + \nabla p = \nu \Delta \mathbf{u},\quad "
            r"\nabla \cdot \mathbf{u} = 0"
        ),
        domain=Rectangle(x=(0, 2 * pi), y=(0, 2 * pi)) * Time(0, 1),
        fields=["u", "v", "p"],
        residual=residual,
        conditions=[
            Initial(start, weight=10),
            Periodic("x", weight=10),
            Periodic("y", weight=10),
            Data(corner, {"p": -0.5 * np.exp(-4 * NU * times)}, weight=10, name="pressure gauge"),
        ],
        scale=False,
        points=Grid(interior=(20, 20, 10), initial=(31, 31), boundary=(80, 11), test=(41, 41, 21)),
        solution=exact,
    )
