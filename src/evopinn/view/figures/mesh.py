"""Points and triangles that fill a domain, or a plane section of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.tri import Triangulation
from numpy.typing import NDArray

from evopinn.errors import FigureError
from evopinn.problem import Problem, Reference
from evopinn.problem.domains.domain import Shape
from evopinn.problem.points.regular import lattice, nodes_of

Array = NDArray[np.float64]
Triangles = NDArray[np.intp]

_STEPS = 80
"""The number of steps along the longest side of a filled section."""

_CLEAR = 0.35
"""The distance in steps between inner points and the boundary, which has points of its own."""


@dataclass(frozen=True, eq=False)
class Section:
    """The part of a domain that a plot shows: a line, or a plane in which all other coordinates are fixed.

    Attributes:
        axes: Numbers of the coordinates that vary: one, or the horizontal and the vertical.
        fixed: The others, by name.
        points: In all coordinates, shape (n, d).
        triangles: Indices of points, shape (m, 3); none for a line.
        reference: The known solution on the points, shape (n, fields), if there is one.
    """

    axes: tuple[int, ...]
    fixed: Mapping[str, float]
    points: Array
    triangles: Triangles
    reference: Array | None

    @property
    def columns(self) -> tuple[Array, ...]:
        """The coordinates that vary."""
        return tuple(self.points[:, axis] for axis in self.axes)


def sections(problem: Problem, times: Sequence[float] | None = None) -> tuple[Section, ...]:
    """The sections of a problem's domain that a figure shows.

    Space and time together where space is a line; else a plane for each of some instants, or just one if
    there is no time. Where space has three dimensions, it is cut through its middle.

    Args:
        problem: The problem.
        times: The instants; first, middle and last by default, of several fields only the last.
    """
    domain = problem.domain
    space, time = domain.space.dimension, domain.time
    if time is None or space == 1:
        if times is not None:
            raise FigureError("times are for problems with time and two or more coordinates in space.")
        instants: list[float | None] = [None]
    else:
        start, end = time.span
        usual = (start, (start + end) / 2, end) if len(problem.fields) == 1 else (end,)
        instants = list(usual if times is None else map(float, times))
        if not instants or not all(start <= each <= end for each in instants if each is not None):
            raise FigureError(f"times are {times!r}; give times between {start:g} and {end:g}.")
    return tuple(_section(problem, instant) for instant in instants)


def _section(problem: Problem, instant: float | None) -> Section:
    domain = problem.domain
    fixed = {} if instant is None else {domain.dimension - 1: instant}
    if domain.space.dimension == 3:
        fixed[2] = float(domain.bounds[2].mean())
    varied = tuple(axis for axis in range(domain.dimension) if axis not in fixed)
    if domain.time is not None and instant is None and len(varied) == 2:
        varied = varied[::-1]  # time from left to right
    solution = problem.solution
    if isinstance(solution, Reference):
        points, fixed, rows = _nearest(solution.points, fixed)
        reference = np.stack([solution.values[name][rows] for name in problem.fields], axis=1)
    else:
        points = _filled(problem, varied, fixed)
        reference = problem.solution_at(points)
    named = {problem.axes[axis]: value for axis, value in fixed.items()}
    return Section(varied, named, points, _triangles(problem, points, varied), reference)


def _nearest(points: Array, fixed: Mapping[int, float]) -> tuple[Array, dict[int, float], NDArray[np.bool_]]:
    """The points nearest to a section, its coordinates there, and the rows of these points."""
    rows = np.ones(len(points), dtype=np.bool_)
    found: dict[int, float] = {}
    for axis, value in fixed.items():
        known = np.unique(points[:, axis])
        found[axis] = float(known[np.argmin(np.abs(known - value))])
        rows &= points[:, axis] == found[axis]
    return points[rows], found, rows


def _filled(problem: Problem, varied: tuple[int, ...], fixed: Mapping[int, float]) -> Array:
    """Points that fill a section of a domain."""
    domain = problem.domain
    count = _STEPS + 1 if len(varied) > 1 else 4 * _STEPS + 1
    spans = domain.bounds[list(varied)]
    whole = domain.space.dimension == 2
    flat = _plate(domain.space) if whole else lattice([nodes_of(low, high, count) for low, high in spans])
    points = np.empty((len(flat), domain.dimension))
    points[:, list(varied)] = flat
    for axis, value in fixed.items():
        points[:, axis] = value
    return points[domain.closure(points)]


def _plate(shape: Shape) -> Array:
    """Points of a shape in the plane: a lattice of one step both ways, and the boundary in such steps too."""
    step = shape.extent / _STEPS
    counts = [int(np.ceil((high - low) / step)) + 1 for low, high in shape.bounds]
    axes = [nodes_of(low, high, max(2, n)) for (low, high), n in zip(shape.bounds, counts, strict=True)]
    inner = lattice(axes)
    inner = inner[shape.level(inner) < -_CLEAR * step]
    rim = [piece.at(_along(piece.measure, step)) for piece in shape.boundary]
    return _distinct(np.concatenate([inner, *rim]), step)


def _along(length: float, step: float) -> Array:
    return np.linspace(0, 1, max(2, int(np.ceil(length / step)) + 1))[:, None]


def _distinct(points: Array, step: float) -> Array:
    """The points without duplicates, such as the corners in which pieces of the boundary meet."""
    _, first = np.unique(np.round(points / (1e-3 * step)), axis=0, return_index=True)
    return points[np.sort(first)]


def _triangles(problem: Problem, points: Array, varied: tuple[int, ...]) -> Triangles:
    """Triangles between points, without those outside of the domain, over its notches and holes."""
    if len(varied) == 1:
        return np.empty((0, 3), dtype=np.intp)
    plane = points[:, list(varied)]
    low, high = plane.min(axis=0), plane.max(axis=0)
    across = (plane - low) / np.where(high > low, high - low, 1)  # else a short axis makes needles
    try:
        corners = Triangulation(across[:, 0], across[:, 1]).triangles
    except (RuntimeError, ValueError) as error:
        raise FigureError(f"the points of {problem.name!r} do not span a plane: {error}.") from error
    return corners[problem.domain.closure(points[corners].mean(axis=1))].astype(np.intp)
