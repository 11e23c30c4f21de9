"""The focusing nonlinear Schrödinger equation: two solitons bound to one another, which breathe.

    i h_t + h_xx/2 + |h|² h = 0    on (-5, 5) × (0, π/2],    h(x, 0) = 2 sech x,    h = u + i v.

The solution is that of the infinite line,

    h = 4 exp(it/2) (cosh 3x + 3 exp(4it) cosh x) / (cosh 4x + 4 cosh 2x + 3 cos 4t),

and h at both ends is given by it. The setting known to PINNs asks for periodic ends instead; as |h(±5)| is
0.03, not zero, its solution differs slightly from the closed form, which is why the ends are given here.

Setting: Raissi, Perdikaris and Karniadakis, "Physics-informed neural networks" (2019), without its periodic
ends; solution of Satsuma and Yajima (1974).
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Initial, Interval, LatinHypercube, Problem, Time
from evopinn.problem.fields import FieldValues


def exact(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Real and imaginary part u, v of h, each of shape (n,)."""
    narrow, wide = torch.cosh(3 * x), 3 * torch.cosh(x)
    scale = 4 / (torch.cosh(4 * x) + 4 * torch.cosh(2 * x) + 3 * torch.cos(4 * t))
    u = narrow * torch.cos(t / 2) + wide * torch.cos(9 * t / 2)
    v = narrow * torch.sin(t / 2) + wide * torch.sin(9 * t / 2)
    return scale * u, scale * v


def residual(u: FieldValues, v: FieldValues) -> list[Tensor]:
    """Real and imaginary part of the equation."""
    density = u**2 + v**2
    return [-v.t + u.xx / 2 + density * u, u.t + v.xx / 2 + density * v]


def start(u: FieldValues, v: FieldValues, x: Tensor) -> list[FieldValues | Tensor]:
    """The pulse at t = 0."""
    return [u - 2 / torch.cosh(x), v]


def ends(u: FieldValues, v: FieldValues, x: Tensor, t: Tensor) -> list[Tensor]:
    """The tails of the pulse."""
    u_exact, v_exact = exact(x, t)
    return [u - u_exact, v - v_exact]


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="schroedinger",
        title="Nonlinear Schrödinger equation: a breathing pulse",
        equation=r"i h_t + \tfrac12 h_{xx} + |h|^2 h = 0, \quad h = u + i v",
        domain=Interval(-5, 5) * Time(0, pi / 2),
        fields=["u", "v"],
        residual=residual,
        conditions=[Initial(start, weight=100), Boundary(ends, weight=100)],
        scale=False,
        points=LatinHypercube(interior=5000, initial=200, boundary=200, test=(201, 101), seed=0),
        solution=exact,
    )
