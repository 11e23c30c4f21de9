"""The index of the catalogue: one row for each problem.

Each problem is a module of this package that has the name of its row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class CatalogueRow:
    """A row of the catalogue.

    Attributes:
        name: The problem's name.
        title: One line on what the (default) problem is.
        coordinates: Names of the coordinates, space first.
        fields: Names of the unknown functions.
        cases: Names of its cases, the default one first; empty if it has none.
    """

    name: str
    title: str
    coordinates: tuple[str, ...]
    fields: tuple[str, ...]
    cases: tuple[str, ...] = ()

    @property
    def full_names(self) -> tuple[str, ...]:
        """The full name of each case; for a problem without cases, its name."""
        return tuple(f"{self.name}:{case}" for case in self.cases) or (self.name,)


def _row(name: str, title: str, coordinates: str, fields: str, cases: str = "") -> CatalogueRow:
    return CatalogueRow(name, title, tuple(coordinates), tuple(fields), tuple(cases.split()))


_ROWS = (
    _row("klein-gordon", "Klein-Gordon equation, ω = 5π, c = 1", "xt", "u", "I II III"),
    _row("burgers", "Burgers equation on an L-shape, α = 0.1", "xyt", "u", "I II III"),
    _row(
        "lame",
        "Lamé equations of a ring 1 < r < 2, E = 2.1, μ = 0.25, q = (23, 3)",
        "xy",
        "uv",
        "I II III IV V",
    ),
    _row("poisson-l-shape", "Poisson equation on an L-shape", "xy", "u"),
    _row(
        "laplace-disk-hole",
        "Laplace equation around a hole, potential flow past a cylinder",
        "xy",
        "u",
        "I II",
    ),
    _row("helmholtz", "Helmholtz equation with an anisotropic solution", "xy", "u"),
    _row("heat", "Heat equation on a rod", "xt", "u"),
    _row("heat-3d", "Heat equation in a cube", "xyzt", "u"),
    _row("convection", "Convection around a circle, β = 30", "xt", "u"),
    _row("wave", "Wave equation with two modes", "xt", "u"),
    _row("allen-cahn", "Allen-Cahn equation", "xt", "u"),
    _row("burgers-1d", "Burgers equation with a shock, ν = 0.01/π", "xt", "u"),
    _row("korteweg-de-vries", "Korteweg-de Vries equation, one soliton", "xt", "u", "I II"),
    _row("schroedinger", "Nonlinear Schrödinger equation: a breathing pulse", "xt", "uv"),
    _row("euler-bernoulli", "Euler-Bernoulli cantilever beam", "x", "u"),
    _row("plate", "Simply supported Kirchhoff plate", "xy", "u"),
    _row("kovasznay", "Kovasznay flow, Re = 40", "xy", "uvp"),
    _row("taylor-green", "Decaying Taylor-Green vortices", "xyt", "uvp"),
)

CATALOGUE: Mapping[str, CatalogueRow] = MappingProxyType({row.name: row for row in _ROWS})
"""The problems by name."""


def catalogue() -> tuple[CatalogueRow, ...]:
    """All problems, a row each, in the order of the table.

    Examples:
        >>> row = catalogue()[0]
        >>> row.name, row.cases, row.coordinates, row.fields
        ('klein-gordon', ('I', 'II', 'III'), ('x', 't'), ('u',))
    """
    return _ROWS


def names() -> tuple[str, ...]:
    """The full names of all problems and cases.

    Examples:
        >>> names()[:4]
        ('klein-gordon:I', 'klein-gordon:II', 'klein-gordon:III', 'burgers:I')
    """
    return tuple(name for row in _ROWS for name in row.full_names)
