"""The Euler-Bernoulli equation of a cantilever beam under a uniform load.

    u'''' + q = 0    on (0, 1),    u(0) = u'(0) = 0,    u''(1) = u'''(1) = 0,    q = 1:

clamped on the left; neither moment nor shear force on the right. The solution is u = -x⁴/24 + x³/6 - x²/4.

Setting: the Euler beam among DeepXDE's demonstrations.
"""

from torch import Tensor

from evopinn.problem import Boundary, Grid, Interval, Problem
from evopinn.problem.fields import FieldValues

Q = 1.0


def exact(x: Tensor) -> Tensor:
    """The deflection u, shape (n,)."""
    return Q * (-(x**4) / 24 + x**3 / 6 - x**2 / 4)


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.xxxx + Q


def clamped(u: FieldValues) -> list[FieldValues | Tensor]:
    """Neither deflection nor slope."""
    return [u, u.x]


def free(u: FieldValues) -> list[Tensor]:
    """Neither moment nor shear force."""
    return [u.xx, u.xxx]


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="euler-bernoulli",
        title="Euler-Bernoulli cantilever beam",
        equation=r"u_{xxxx} + q = 0",
        domain=Interval(0, 1),
        fields=["u"],
        residual=residual,
        conditions=[Boundary(clamped, on="left"), Boundary(free, on="right")],
        scale=False,
        points=Grid(interior=100, boundary=2, test=201),
        solution=exact,
    )
