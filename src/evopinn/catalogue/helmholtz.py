"""The Helmholtz equation with a source whose solution oscillates four times faster in y than in x.

    u_xx + u_yy + k² u = q(x, y)    on (-1, 1)²,    u = 0 on the boundary,

with the solution u = sin(a₁πx) sin(a₂πy), k = 1, a₁ = 1, a₂ = 4.

Setting: Wang, Teng and Perdikaris, "Understanding and mitigating gradient flow pathologies in
physics-informed neural networks" (2021), where plain PINNs fail on it.
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Problem, Rectangle
from evopinn.problem.fields import FieldValues

K = 1.0
A1 = 1.0
A2 = 4.0


def exact(x: Tensor, y: Tensor) -> Tensor:
    """The solution u, shape (n,)."""
    return torch.sin(A1 * pi * x) * torch.sin(A2 * pi * y)


def residual(u: FieldValues, x: Tensor, y: Tensor) -> Tensor:
    """The equation with its source q on the left-hand side."""
    q = (K**2 - (A1 * pi) ** 2 - (A2 * pi) ** 2) * exact(x, y)
    return u.xx + u.yy + K**2 * u - q


def wall(u: FieldValues) -> FieldValues:
    """Homogeneous Dirichlet data."""
    return u


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="helmholtz",
        title="Helmholtz equation with an anisotropic solution",
        equation=r"u_{xx} + u_{yy} + k^2 u = q(x, y)",
        domain=Rectangle(x=(-1, 1), y=(-1, 1)),
        fields=["u"],
        residual=residual,
        conditions=[Boundary(wall, weight=100)],
        scale=False,
        points=Grid(interior=(60, 60), boundary=400, test=(101, 101)),
        solution=exact,
    )
