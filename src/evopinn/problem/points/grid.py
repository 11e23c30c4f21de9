"""Points on regular grids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evopinn.errors import DomainError
from evopinn.problem.arrays import Floats
from evopinn.problem.domains import Domain, SpaceTime
from evopinn.problem.points.counts import Count, fewer, per_axis
from evopinn.problem.points.regular import lattice, midpoints_of, nodes_of, spread, with_times
from evopinn.problem.points.spec import Cloud, Points


@dataclass(frozen=True)
class Grid(Points):
    """Points on regular grids: cell midpoints or nodes inside, equispaced on the boundary.

    Counts are one per axis (space first, then time); an int is enough where there is one axis.

    Attributes:
        interior: Cells or nodes per axis of a grid on the box around the domain; those strictly inside count.
        boundary: On an interval in time, the total, shared by the ends as instants. In the plane, the number
            of points at equal distances along each closed loop in proportion to its length, beginning at a
            corner; with time a pair (points, instants). In 3D, nodes per axis of each face (then instants).
            A table {part: count} sets each part by itself: an edge then has points at both of its ends.
        initial: Nodes per axis of a grid on the box around the shape; those in the closed shape count.
        test: Likewise on the whole domain, for measuring errors.
        interior_at: "midpoints" of the cells, or "nodes".

    Examples:
        >>> from evopinn.problem import Interval, Time
        >>> points = Grid(interior=(60, 60), initial=81, boundary=162)
        >>> points.interior_points(Interval(0, 1) * Time(0, 1)).shape
        (3600, 2)
    """

    interior_at: Literal["midpoints", "nodes"] = "midpoints"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interior_at not in ("midpoints", "nodes"):
            raise DomainError(f'Grid(interior_at={self.interior_at!r}) has to be "midpoints" or "nodes".')

    def interior_points(self, domain: Domain) -> Floats:
        """Midpoints of cells, or nodes, strictly inside the domain; shape (n, d)."""
        counts = per_axis("Grid", "interior", self.interior, domain.coordinates)
        place = nodes_of if self.interior_at == "nodes" else midpoints_of
        points = lattice([place(low, high, n) for (low, high), n in zip(domain.bounds, counts, strict=True)])
        return self._some(points[domain.inside(points)], "the interior", len(points))

    def _slice_points(self, domain: SpaceTime) -> Floats:
        shape = domain.space
        example = "31" if shape.dimension == 1 else str((31,) * shape.dimension)
        given = self._given("initial", self.initial, example)
        counts = per_axis("Grid", "initial", given, shape.coordinates)
        points = lattice(
            [nodes_of(low, high, n) for (low, high), n in zip(shape.bounds, counts, strict=True)]
        )
        return self._some(points[shape.closure(points)], "the first instant", len(points))

    @property
    def _least_inside(self) -> int:
        # The first and the last node of an axis are not inside.
        return 3 if self.interior_at == "nodes" else 2

    def _fewer_around(self, domain: Domain, factor: float, given: Count, parts: Sequence[str]) -> Count:
        dimension = domain.space.dimension
        if dimension == 1 and not isinstance(given, tuple):
            ends = sum(piece.part in parts for piece in domain.space.boundary) or 1
            # A total that the ends cannot share is one that no condition asks for.
            return given if given % ends else ends * fewer(given // ends, factor)
        first, *others = given if isinstance(given, tuple) else (given,)
        # Ends all stay; of a loop through several parts, each keeps about two points.
        least = {1: first, 2: 2 * len(parts), 3: 2}[dimension]
        counts = (fewer(first, factor, least=least), *(fewer(count, factor) for count in others))
        return counts if isinstance(given, tuple) else counts[0]

    def _clouds(self, domain: Domain, parts: Sequence[str]) -> list[Cloud]:
        clouds: list[Cloud] = []
        for members, given in self._groups(domain, parts):
            pieces = [domain.space.boundary[member] for member in members]
            counts = _boundary_counts(domain, given, len(pieces))
            points, homes = spread(pieces, counts, domain.space.joint)
            if domain.time is not None:
                times = nodes_of(*domain.time.span, counts[-1])
                points, homes = with_times(points, times), np.repeat(homes, len(times))
            clouds.append(Cloud(points, np.array(members, dtype=np.intp)[homes]))
        return clouds

    def _groups(self, domain: Domain, parts: Sequence[str]) -> list[tuple[list[int], Count]]:
        """Groups of pieces that share points, by their indices in the boundary, with their counts."""
        shape = domain.space
        members = {
            part: [i for i, piece in enumerate(shape.boundary) if piece.part == part] for part in parts
        }
        if isinstance(self.boundary, Mapping):
            counts = self._part_counts(self.boundary, domain, parts, str(_example(domain)))
            return [(members[part], count) for part, count in counts.items()]
        given = self._given("boundary", self.boundary, str(_example(domain)))
        # A face has a grid of its own, edges included; curves and ends share one count.
        if shape.dimension == 3:
            return [(members[part], given) for part in parts]
        return [(list(range(len(shape.boundary))), given)]


_ALONG = {1: ("ends",), 2: ("along the boundary",), 3: ("first axis of a face", "second axis of a face")}
"""The meaning of the counts on a boundary, by the dimension of space."""


def _example(domain: Domain) -> Count:
    """An example of a boundary count that fits the domain."""
    if domain.space.dimension == 1:
        return 162
    along = (120,) if domain.space.dimension == 2 else (21, 21)
    counts = along if domain.time is None else (*along, 31)
    return counts if len(counts) > 1 else counts[0]


def _boundary_counts(domain: Domain, given: Count, ends: int) -> tuple[int, ...]:
    """Counts along the boundary and, with time, of instants; `ends` is the number of pieces they are for."""
    if domain.space.dimension == 1 and domain.time is not None and not isinstance(given, tuple):
        if given % ends:
            raise DomainError(
                f"Grid(boundary={given}) cannot be shared by {ends} ends; give a multiple of {ends}, as "
                f"boundary={ends * -(-given // ends)}."
            )
        return ends, given // ends
    axes = (*_ALONG[domain.space.dimension], *(() if domain.time is None else ("t",)))
    counts = given if isinstance(given, tuple) else (given,)
    if len(counts) != len(axes):
        raise DomainError(
            f"Grid(boundary={given!r}) needs {len(axes)} counts ({', '.join(axes)}), for example "
            f"boundary={_example(domain)}."
        )
    if domain.space.dimension == 1 and counts[0] != ends:
        raise DomainError(
            f"Grid(boundary={given!r}) asks for {counts[0]} ends, but there are {ends}; give {ends}."
        )
    return counts
