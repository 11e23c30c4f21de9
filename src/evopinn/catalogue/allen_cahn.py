"""The Allen-Cahn equation: phases separate and leave thin interfaces.

    u_t = d u_xx + 5 (u - u³)    on (-1, 1) × (0, 1],    u(x, 0) = x² cos(πx),    d = 1e-4,

with u and u_x equal at both ends. The initial values are even but not smooth around the periodic end: u_x
jumps there from -2 to 2 at t = 0 and is 0 at once afterwards, a singularity that any method has to live
with.

There is no closed form; `references/allen_cahn.py` computes the solution with cosine series to 1e-11.

Setting: Raissi, Perdikaris and Karniadakis, "Physics-informed neural networks" (2019).
"""

from math import pi
from pathlib import Path

import torch
from torch import Tensor

from evopinn.problem import Initial, Interval, Periodic, Problem, Reference, Sobol, Time
from evopinn.problem.fields import FieldValues

REFERENCE = Path(__file__).parent / "data" / "allen_cahn.npz"
D = 1e-4


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.t - D * u.xx - 5 * (u - u**3)


def start(u: FieldValues, x: Tensor) -> Tensor:
    """The mixture at t = 0."""
    return u - x**2 * torch.cos(pi * x)


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="allen-cahn",
        title="Allen-Cahn equation",
        equation=r"u_t = d u_{xx} + 5 (u - u^3)",
        domain=Interval(-1, 1) * Time(0, 1),
        fields=["u"],
        residual=residual,
        conditions=[Initial(start, weight=100), Periodic("x", order=1)],
        # Interfaces hide between the columns of a grid.
        scale=False,
        points=Sobol(interior=8000, initial=500, boundary=400),
        solution=Reference.load(REFERENCE),
    )
