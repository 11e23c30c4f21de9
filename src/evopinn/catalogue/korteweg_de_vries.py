"""The Korteweg-de Vries equation: solitons.

    u_t + 6 u u_x + u_xxx = 0,

with u given at the start and at both ends and, since the equation is of third order and its dispersive
waves run to the left, u_x at the right end. Case I is one soliton of speed c = 4,

    u = (c/2) sech²(√c/2 (x - ct)),

case II two, of speeds 4 and 16, that meet in the origin at t = 0:

    u = 12 (3 + 4 cosh(2x - 8t) + cosh(4x - 64t)) / (3 cosh(x - 28t) + cosh(3x - 36t))².

Setting: the solutions of Drazin and Johnson, "Solitons: an introduction" (1989); intervals that the
solitons cross.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Initial, Interval, Problem, Time
from evopinn.problem.fields import FieldValues


def one_soliton(x: Tensor, t: Tensor) -> Tensor:
    """A soliton of speed 4 and height 2, shape (n,)."""
    return 2 / torch.cosh(x - 4 * t) ** 2


def one_slope(x: Tensor, t: Tensor) -> Tensor:
    """The slope u_x of `one_soliton`."""
    return -2 * torch.tanh(x - 4 * t) * one_soliton(x, t)


def _two(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Numerator and the root of the denominator of `two_solitons`."""
    numerator = 3 + 4 * torch.cosh(2 * x - 8 * t) + torch.cosh(4 * x - 64 * t)
    return numerator, 3 * torch.cosh(x - 28 * t) + torch.cosh(3 * x - 36 * t)


def two_solitons(x: Tensor, t: Tensor) -> Tensor:
    """Solitons of speeds 4 and 16, heights 2 and 8, that meet at t = 0, shape (n,)."""
    numerator, root = _two(x, t)
    return 12 * numerator / root**2


def two_slope(x: Tensor, t: Tensor) -> Tensor:
    """The slope u_x of `two_solitons`."""
    numerator, root = _two(x, t)
    numerator_x = 8 * torch.sinh(2 * x - 8 * t) + 4 * torch.sinh(4 * x - 64 * t)
    root_x = 3 * torch.sinh(x - 28 * t) + 3 * torch.sinh(3 * x - 36 * t)
    return 12 * (numerator_x - 2 * numerator * root_x / root) / root**2


@dataclass(frozen=True)
class Solitons:
    """Solitons on a stretch of space and time.

    Attributes:
        words: In words, for the title.
        exact: The solution u of x and t.
        slope: Its slope u_x.
        x: Ends of the spatial interval.
        t: First and last instant.
        cells: Cells of the grid in x and t.
    """

    words: str
    exact: Callable[[Tensor, Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]
    x: tuple[float, float]
    t: tuple[float, float]
    cells: tuple[int, int]


CASES = {
    "I": Solitons("one soliton", one_soliton, one_slope, (-5.0, 5.0), (-0.5, 0.5), (80, 40)),
    "II": Solitons("two solitons", two_solitons, two_slope, (-8.0, 8.0), (-0.25, 0.25), (120, 50)),
}


def build(name: str, case: Solitons) -> Problem:
    """State the problem of one case."""
    cells_x, cells_t = case.cells

    def residual(u: FieldValues) -> Tensor:
        return u.t + 6 * u * u.x + u.xxx

    def given(u: FieldValues, x: Tensor, t: Tensor) -> Tensor:
        return u - case.exact(x, t)

    def outflow(u: FieldValues, x: Tensor, t: Tensor) -> Tensor:
        return u.x - case.slope(x, t)

    return Problem(
        name=name,
        title=f"Korteweg-de Vries equation, {case.words}",
        equation=r"u_t + 6 u u_x + u_{xxx} = 0",
        domain=Interval(*case.x) * Time(*case.t),
        fields=["u"],
        residual=residual,
        conditions=[
            Initial(given, weight=100),
            Boundary(given, weight=100),
            Boundary(outflow, on="right", weight=100, name="slope at the right end"),
        ],
        scale=False,
        points=Grid(interior=case.cells, initial=2 * cells_x + 1, boundary=2 * cells_t + 2, test=(201, 101)),
        solution=case.exact,
    )
