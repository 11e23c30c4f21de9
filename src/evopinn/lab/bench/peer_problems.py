"""The paper's three problems written by hand for the peers.

They are independent of the catalogue: a peer that gives the same loss as an engine checks both. A
residual takes the library's functions (`torch` or `jax.numpy`), the coordinates and a function for
derivatives: `d(0)` is the first field, `d(0, 1, 1)` its second derivative along axis 1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import pi
from types import MappingProxyType
from typing import Any

from torch import Tensor

from evopinn.problem import Problem

Derivative = Callable[..., Any]
Residuals = Callable[[Any, Sequence[Any], Derivative], list[Any]]


@dataclass(frozen=True)
class ResidualTerm:
    """The residuals on one set of points.

    Attributes:
        term: The problem's term whose points these are.
        weight: Factor of each component's mean square in the loss.
        components: How many components there are.
        residuals: From functions, coordinates and derivatives to the components.
    """

    term: str
    weight: float
    components: int
    residuals: Residuals


def equation(problem: Problem) -> tuple[tuple[ResidualTerm, Tensor], ...]:
    """A problem's terms with their points, shape (n, d)."""
    points = {term.name: term.sides[0].points for term in problem.terms()}
    return tuple((part, points[part.term]) for part in EQUATIONS[problem.name])


OMEGA = 5 * pi


def _wave(xp: Any, x: Any, t: Any) -> Any:
    return x * xp.cos(OMEGA * t) + (x * t) ** 3


def _klein_gordon(xp: Any, at: Sequence[Any], d: Derivative) -> list[Any]:
    x, t = at
    source = -(OMEGA**2) * x * xp.cos(OMEGA * t) + 6 * x**3 * t - 6 * x * t**3 + _wave(xp, x, t) ** 3
    return [d(0, 1, 1) - d(0, 0, 0) + d(0) ** 3 - source]


def _klein_gordon_start(_xp: Any, at: Sequence[Any], d: Derivative) -> list[Any]:
    return [d(0) - at[0], d(0, 1)]


def _klein_gordon_ends(xp: Any, at: Sequence[Any], d: Derivative) -> list[Any]:
    return [d(0) - _wave(xp, *at)]


ALPHA = 0.1


def _burgers(_xp: Any, _at: Sequence[Any], d: Derivative) -> list[Any]:
    return [d(0, 2) + d(0) * (d(0, 0) + d(0, 1)) - ALPHA * (d(0, 0, 0) + d(0, 1, 1))]


def _burgers_given(xp: Any, at: Sequence[Any], d: Derivative) -> list[Any]:
    x, y, t = at
    return [d(0) - 1 / (1 + xp.exp((x + y - t) / (2 * ALPHA)))]


E, MU, PRESSURE, SHEAR, OUTER_RADIUS = 2.1, 0.25, 23.0, 3.0, 2.0
STIFFNESS = E / (1 - MU**2)


def _lame(_xp: Any, _at: Sequence[Any], d: Derivative) -> list[Any]:
    return [
        STIFFNESS * (d(0, 0, 0) + (1 - MU) / 2 * d(0, 1, 1) + (1 + MU) / 2 * d(1, 0, 1)),
        STIFFNESS * (d(1, 1, 1) + (1 - MU) / 2 * d(1, 0, 0) + (1 + MU) / 2 * d(0, 0, 1)),
    ]


def _lame_inner(_xp: Any, _at: Sequence[Any], d: Derivative) -> list[Any]:
    return [d(0), d(1)]


def _lame_outer(_xp: Any, at: Sequence[Any], d: Derivative) -> list[Any]:
    nx, ny = (each / OUTER_RADIUS for each in at)
    twist = (1 - MU) / 2 * (d(0, 1) + d(1, 0))
    return [
        STIFFNESS * (nx * (d(0, 0) + MU * d(1, 1)) + ny * twist) + PRESSURE * nx - SHEAR * ny,
        STIFFNESS * (ny * (d(1, 1) + MU * d(0, 0)) + nx * twist) + PRESSURE * ny + SHEAR * nx,
    ]


EQUATIONS: Mapping[str, tuple[ResidualTerm, ...]] = MappingProxyType(
    {
        "klein-gordon:I": (
            ResidualTerm("residual", 1, 1, _klein_gordon),
            ResidualTerm("initial u", 100, 2, _klein_gordon_start),
            ResidualTerm("boundary", 100, 1, _klein_gordon_ends),
        ),
        "burgers:I": (
            ResidualTerm("residual", 1, 1, _burgers),
            ResidualTerm("initial", 100, 1, _burgers_given),
            ResidualTerm("boundary", 100, 1, _burgers_given),
        ),
        "lame:I": (
            ResidualTerm("residual", 1, 2, _lame),
            ResidualTerm("boundary (inner)", 10, 2, _lame_inner),
            ResidualTerm("boundary (outer)", 10, 2, _lame_outer),
        ),
    }
)
"""By the problem's name."""
