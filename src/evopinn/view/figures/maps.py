"""Maps and lines of a network's solution, the reference and the error over the domain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import TriMesh
from matplotlib.colors import Normalize
from matplotlib.tri import Triangulation
from numpy.typing import NDArray

from evopinn.errors import FigureError
from evopinn.problem import Problem
from evopinn.training import TrainingResult
from evopinn.view.figures.mesh import Section, sections
from evopinn.view.figures.style import (
    BLACK,
    BLUE,
    ERRORS,
    PAGE,
    SEQUENCE,
    VERMILION,
    Panel,
    dressed,
    grid_of_axes,
    panel_on,
    plain,
    styled,
)
from evopinn.view.figures.subjects import problem_of
from evopinn.view.numbers import scientific

Array = NDArray[np.float64]

_IN_SPACE = (0, 1)
"""The axes of a section that have the same unit."""


@dataclass(frozen=True, eq=False)
class _Row:
    """A field on a section: the network's values and the reference."""

    section: Section
    field: str
    network: Array
    reference: Array | None

    @property
    def error(self) -> Array | None:
        return None if self.reference is None else np.abs(self.network - self.reference)

    @property
    def name(self) -> str:
        fixed = (f"{plain(name)} = {value:.3g}" for name, value in self.section.fixed.items())
        return ", ".join([plain(self.field), *fixed])


@styled()
def solution(
    result: TrainingResult,
    *,
    problem: Problem | str | None = None,
    times: Sequence[float] | None = None,
    fields: Sequence[str] | None = None,
    figure: Panel | None = None,
) -> Panel:
    """Plot a network's solution, the reference if one is known, and the absolute error, over the domain.

    A domain with one coordinate is shown as a line, one with a coordinate and time as a plane. With two
    coordinates there is a plane for each of some times; with three the plane through the middle. A reference
    with points of its own is shown on these, at the nearest times.

    Args:
        result: The trained network.
        problem: The problem that it was trained on, if its name does not lead to it.
        times: Instants to show, with two or three coordinates in space; by default the first, the middle and
            the last, and with several fields only the last.
        fields: Fields to show; all by default.
        figure: Where to draw.
    """
    stated = problem_of(result, problem)
    rows = _rows(result, stated, times, fields)
    if len(rows[0].section.axes) == 1:
        figure = _draw_lines(figure, stated, rows)
    else:
        figure = _draw_maps(figure, stated, rows)
    figure.suptitle(_title(result, stated))
    return figure


@styled()
def error(
    result: TrainingResult,
    *,
    problem: Problem | str | None = None,
    times: Sequence[float] | None = None,
    fields: Sequence[str] | None = None,
    figure: Panel | None = None,
) -> Panel:
    """Plot the absolute error of a network's solution over the domain; arguments as for `solution`."""
    stated = problem_of(result, problem)
    if stated.solution is None:
        raise FigureError(f"no solution of {stated.name!r} is known, so there is no error to show.")
    rows = _rows(result, stated, times, fields)
    times_shown = len({id(row.section) for row in rows})
    shape = (1, len(rows)) if times_shown == 1 else (len(rows) // times_shown, times_shown)
    width = min(3.2, PAGE / shape[1])
    height = shape[0] * row_height(stated, rows[0].section, width - 1.0)
    figure = panel_on(figure, (width * shape[1], height + 0.3))
    axes = [ax for line in grid_of_axes(figure, *shape) for ax in line]
    for row, ax in zip(rows, axes, strict=True):
        if len(row.section.axes) == 1:
            _draw_error_line(ax, stated, row)
        else:
            _draw_error_map(ax, stated, row)
        ax.set_title(f"absolute error of {row.name}")
    figure.suptitle(_title(result, stated))
    return figure


def _rows(
    result: TrainingResult, problem: Problem, times: Sequence[float] | None, fields: Sequence[str] | None
) -> list[_Row]:
    """All fields at all times, field by field."""
    chosen = result.fields if fields is None else tuple(fields)
    for field in chosen:
        if field not in result.fields:
            raise FigureError(f"there is no field {field!r}; choose from {', '.join(result.fields)}.")
    shown = [(section, result.predict(section.points)) for section in sections(problem, times)]
    rows: list[_Row] = []
    for field in chosen:
        column = result.fields.index(field)
        for section, values in shown:
            known = None if section.reference is None else section.reference[:, column]
            rows.append(_Row(section, field, values[:, column], known))
    return rows


def _title(result: TrainingResult, problem: Problem) -> str:
    recorded = result.errors if problem.name == result.problem else None
    errors = recorded or problem.errors(result.predict)
    known = ", ".join(f"of {plain(field)} {scientific(value)}" for field, value in errors.items())
    name = plain(problem.name, 60)
    return f"{name}: relative L₂ error {known}" if known else f"{name}: no solution is known"


def _draw_maps(figure: Panel | None, problem: Problem, rows: Sequence[_Row]) -> Panel:
    known = rows[0].reference is not None
    height = len(rows) * row_height(problem, rows[0].section, 1.6 if known else 2.3)
    figure = panel_on(figure, (PAGE if known else 3.2, height + 0.35))
    grid = grid_of_axes(figure, len(rows), 3 if known else 1, sharex=True, sharey=True)
    for row, axes in zip(rows, grid, strict=True):
        both = [row.network] if row.reference is None else [row.network, row.reference]
        norm = value_norm(np.concatenate(both))
        meshes = [
            fill(ax, problem, row.section, values, norm, SEQUENCE)
            for ax, values in zip(axes, both, strict=False)
        ]
        add_scale(axes[len(both) - 1], meshes[0])
        if known:
            _draw_error_map(axes[2], problem, row)
        for ax, title in zip(axes, ("network", "reference", "absolute error"), strict=False):
            ax.set_title(f"{row.name}: {title}")
        for ax in axes[1:]:
            ax.set_ylabel("")
    for axes in grid[:-1]:
        for ax in axes:
            ax.set_xlabel("")
    return figure


def value_norm(values: Array) -> Normalize:
    """Colours from the least finite value to the greatest."""
    finite = values[np.isfinite(values)]
    return Normalize(float(finite.min()), float(finite.max())) if len(finite) else Normalize(0.0, 1.0)


def row_height(problem: Problem, section: Section, width: float) -> float:
    """The height in inches of a map of a given width, in the proportions of space, with title and labels."""
    sides = problem.domain.bounds[list(section.axes)]
    across, up = (float(side) for side in sides[:, 1] - sides[:, 0]) if len(sides) == 2 else (1.0, 1.0)
    ratio = min(max(up / across, 0.25), 1.6) if section.axes == _IN_SPACE else 0.9
    return width * ratio + 0.5


def add_scale(ax: Axes, mesh: TriMesh) -> None:
    """Add a colour scale beside a map, as high as the map."""
    scale = dressed(ax.inset_axes((1.04, 0.0, 0.05, 1.0)))
    ax.figure.colorbar(mesh, cax=scale)


def _draw_error_map(ax: Axes, problem: Problem, row: _Row) -> None:
    values = _known(row.error)
    finite = values[np.isfinite(values)]
    norm = Normalize(0, float(finite.max(initial=0.0)) or 1.0)
    add_scale(ax, fill(ax, problem, row.section, values, norm, ERRORS))


def fill(
    ax: Axes, problem: Problem, section: Section, values: Array, norm: Normalize, colours: str
) -> TriMesh:
    """Colour a section by values, within the outline of the domain."""
    horizontal, vertical = section.columns
    whole = np.isfinite(values)[section.triangles].all(axis=1)
    mesh = ax.tripcolor(
        Triangulation(horizontal, vertical, section.triangles[whole]),
        np.where(np.isfinite(values), values, 0.0),
        shading="gouraud",
        norm=norm,
        cmap=colours,
        rasterized=True,
    )
    across, up = section.axes
    ax.set_xlabel(plain(problem.axes[across]))
    ax.set_ylabel(plain(problem.axes[up]))
    ax.set_xlim(*problem.domain.bounds[across])
    ax.set_ylim(*problem.domain.bounds[up])
    if section.axes == _IN_SPACE:
        ax.set_aspect("equal")
        if problem.domain.space.dimension == 2:
            _outline(ax, problem)
    return mesh


def _outline(ax: Axes, problem: Problem) -> None:
    for piece in problem.domain.space.boundary:
        curve = piece.at(np.linspace(0, 1, 100)[:, None])
        ax.plot(*curve.T, color=BLACK, linewidth=0.6, clip_on=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, pad=6)


def _draw_lines(figure: Panel | None, problem: Problem, rows: Sequence[_Row]) -> Panel:
    known = rows[0].reference is not None
    figure = panel_on(figure, (PAGE if known else 3.5, 2.1 * len(rows) + 0.3))
    grid = grid_of_axes(figure, len(rows), 2 if known else 1)
    for row, axes in zip(rows, grid, strict=True):
        (x,) = row.section.columns
        order = np.argsort(x)
        axes[0].plot(x[order], row.network[order], color=BLUE, label="network")
        if row.reference is not None:
            axes[0].plot(x[order], row.reference[order], "--", color=BLACK, linewidth=0.9, label="reference")
            _draw_error_line(axes[1], problem, row)
        axes[0].legend()
        axes[0].set_xlabel(plain(problem.axes[row.section.axes[0]]))
        axes[0].set_ylabel(row.name)
    return figure


def _draw_error_line(ax: Axes, problem: Problem, row: _Row) -> None:
    (x,) = row.section.columns
    order = np.argsort(x)
    ax.plot(x[order], _known(row.error)[order], color=VERMILION)
    ax.set_xlabel(plain(problem.axes[row.section.axes[0]]))
    ax.set_ylabel(f"absolute error of {plain(row.field)}")
    ax.set_ylim(bottom=0)


def _known(values: Array | None) -> Array:
    if values is None:
        raise FigureError("no solution is known, so there is no error to show.")
    return values
