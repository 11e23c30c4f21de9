"""The catalogue's one table: which problems there are, by name, and which cases each has.

A problem is called `heat`, or `klein-gordon:II` if it has cases; without a case, the first is meant.
Nothing is built until it is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from evopinn.errors import UnknownNameError
from evopinn.problem import Problem
from evopinn.problems import (
    allen_cahn,
    burgers,
    burgers_1d,
    convection,
    euler_bernoulli,
    heat,
    heat_3d,
    helmholtz,
    klein_gordon,
    korteweg_de_vries,
    kovasznay,
    lame,
    laplace_disk_hole,
    plate,
    poisson_l_shape,
    schroedinger,
    taylor_green,
    wave,
)

Factories = Mapping[str, Callable[[], Problem]]
"""What builds each case, by the case's name; a problem without cases has one, called ""."""


@dataclass(frozen=True)
class Row:
    """A row of the catalogue, for listings.

    Attributes:
        name: The problem's name.
        cases: Names of its cases, the default one first; empty if it has none.
        title: One line on what the (default) problem is.
        equation: The PDE in LaTeX.
        coordinates: Names of the coordinates, space first.
        fields: Names of the unknown functions.
    """

    name: str
    cases: tuple[str, ...]
    title: str
    equation: str
    coordinates: tuple[str, ...]
    fields: tuple[str, ...]


def _cases(
    name: str, build: Callable[[str, Any], Problem], cases: Mapping[str, Any]
) -> tuple[str, Factories]:
    return name, {label: partial(build, f"{name}:{label}", case) for label, case in cases.items()}


def _single(name: str, build: Callable[[], Problem]) -> tuple[str, Factories]:
    return name, {"": build}


_TABLE: Mapping[str, Factories] = dict(
    (
        _cases("klein-gordon", klein_gordon.build, klein_gordon.CASES),
        _cases("burgers", burgers.build, burgers.CASES),
        _cases("lame", lame.build, lame.CASES),
        _single("poisson-l-shape", poisson_l_shape.build),
        _cases("laplace-disk-hole", laplace_disk_hole.build, laplace_disk_hole.CASES),
        _single("helmholtz", helmholtz.build),
        _single("heat", heat.build),
        _single("heat-3d", heat_3d.build),
        _single("convection", convection.build),
        _single("wave", wave.build),
        _single("allen-cahn", allen_cahn.build),
        _single("burgers-1d", burgers_1d.build),
        _cases("korteweg-de-vries", korteweg_de_vries.build, korteweg_de_vries.CASES),
        _single("schroedinger", schroedinger.build),
        _single("euler-bernoulli", euler_bernoulli.build),
        _single("plate", plate.build),
        _single("kovasznay", kovasznay.build),
        _single("taylor-green", taylor_green.build),
    )
)


def names() -> tuple[str, ...]:
    """The full names of all problems and cases.

    Examples:
        >>> names()[:4]
        ('klein-gordon:I', 'klein-gordon:II', 'klein-gordon:III', 'burgers:I')
    """
    return tuple(_full(name, case) for name, factories in _TABLE.items() for case in factories)


def problem(name: str) -> Problem:
    """Build a problem of the catalogue.

    Args:
        name: For instance `heat`, `klein-gordon` (its first case) or `klein-gordon:II`.

    Raises:
        UnknownNameError: There is no such problem, or it has no such case.

    Examples:
        >>> problem("klein-gordon").name
        'klein-gordon:I'
    """
    base, colon, case = name.lower().partition(":")
    case = case.upper()  # cases are Roman numerals
    factories = _TABLE.get(base)
    if factories is None:
        raise UnknownNameError("problem", name, _TABLE, hint="`evopinn problems` lists them all.")
    if not colon:
        case = next(iter(factories))
    elif case not in factories or not case:
        raise UnknownNameError(f"case of {base}", case, factories, hint=_cases_hint(base, factories))
    return factories[case]()


def catalogue() -> tuple[Row, ...]:
    """All problems, a row each, in the order of the table.

    Examples:
        >>> row = catalogue()[0]
        >>> row.name, row.cases, row.coordinates, row.fields
        ('klein-gordon', ('I', 'II', 'III'), ('x', 't'), ('u',))
    """
    return tuple(_row(name, factories) for name, factories in _TABLE.items())


def _row(name: str, factories: Factories) -> Row:
    default = problem(name)
    return Row(
        name=name,
        cases=tuple(case for case in factories if case),
        title=default.title,
        equation=default.equation,
        coordinates=default.axes,
        fields=tuple(default.fields),
    )


def _full(name: str, case: str) -> str:
    return f"{name}:{case}" if case else name


def _cases_hint(name: str, factories: Factories) -> str:
    cases = [case for case in factories if case]
    return f"It has {', '.join(cases)}." if cases else f"It has no cases: write {name}."
