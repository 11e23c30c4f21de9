"""The table of a problem's scales."""

from collections.abc import Iterator

from evopinn.problem import Problem
from evopinn.view.tables import Column, Table

_COLUMNS = (
    Column("scales", heads=True),
    Column("name"),
    Column("shift", "plain"),
    Column("size", "plain"),
)


def scale_table(problem: Problem, title: str = "") -> Table:
    """The maps of the network's inputs and outputs, and the units of residuals.

    It is empty for a problem without scales.
    """
    return Table(title, _COLUMNS, list(_rows(problem)))


def _rows(problem: Problem) -> Iterator[tuple[str, str, float | None, float]]:
    scales = problem.scales
    for kind, names, maps in (
        ("coordinate", problem.axes, scales.coordinates),
        ("field", problem.fields, scales.fields),
    ):
        for name, each in zip(names, maps, strict=False):  # which may be empty
            yield kind, name, each.shift, each.size
    for term in problem.terms():
        for number, unit in enumerate(term.units):
            yield "residual", term.name if len(term.units) == 1 else f"{term.name}, {number}", None, unit
