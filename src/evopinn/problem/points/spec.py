"""The base class of all placements of points: purposes, test points, the choice of parts of the boundary."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np

from evopinn.errors import DomainError
from evopinn.problem.arrays import Floats, Integers
from evopinn.problem.domains import Domain, Piece, SpaceTime
from evopinn.problem.points.counts import (
    BoundaryCount,
    Count,
    by_part,
    checked_boundary,
    checked_count,
    fewer_along,
    per_axis,
)
from evopinn.problem.points.regular import lattice, nodes_of, with_times

Predicate: TypeAlias = Callable[..., Any]
"""Takes the coordinates one by one in the domain's order, each (n,); returns a mask (n,)."""
PartChoice: TypeAlias = str | Sequence[str] | Predicate | None
"""A part of the boundary: a name, several names, a predicate, or None for all of the boundary in space."""

_DEFAULT_TEST = {1: 101, 2: 101, 3: 51, 4: 21}
"""Test nodes per axis, by the number of axes."""


@dataclass(frozen=True)
class BoundaryPoints:
    """Points on the boundary and the outward normals there.

    Attributes:
        points: Shape (n, d).
        normals: Unit normals in space, shape (n, space dimensions); zero at the first and last instant.
    """

    points: Floats
    normals: Floats


@dataclass(frozen=True)
class Cloud:
    """Points placed on the boundary together.

    Attributes:
        points: Shape (n, d).
        homes: The piece each point was placed on, by its index in the boundary of the shape; shape (n,).
    """

    points: Floats
    homes: Integers


@dataclass(frozen=True)
class Points(ABC):
    """The numbers of points for each purpose, and their placement.

    Attributes:
        interior: Points strictly inside the domain.
        boundary: Points on the boundary in space, over all of it or by part.
        initial: Points at the first instant.
        test: Nodes per axis of the grid on which errors are measured; by default 101 (51 for three axes).
    """

    interior: Count
    boundary: BoundaryCount | None = None
    initial: Count | None = None
    test: Count | None = None

    def __post_init__(self) -> None:
        for argument in ("interior", "initial", "test"):
            value = getattr(self, argument)
            if value is not None or argument == "interior":
                object.__setattr__(self, argument, checked_count(f"{self._kind}({argument}=...)", value))
        if self.boundary is not None:
            checked = checked_boundary(f"{self._kind}(boundary=...)", self.boundary)
            object.__setattr__(self, "boundary", checked)

    @abstractmethod
    def interior_points(self, domain: Domain) -> Floats:
        """Points strictly inside the domain, shape (n, d)."""

    @abstractmethod
    def _slice_points(self, domain: SpaceTime) -> Floats:
        """Points of the closed shape, without time, for the first and last instant; shape (n, d − 1)."""

    @abstractmethod
    def _clouds(self, domain: Domain, parts: Sequence[str]) -> list[Cloud]:
        """The points placed on the boundary in space, or at least those placed for any of `parts`.

        Never called for an interval without time, whose boundary is its ends.
        """

    @abstractmethod
    def _fewer_around(self, domain: Domain, factor: float, given: Count, parts: Sequence[str]) -> Count:
        """A count for parts of the boundary made smaller; never called for an interval without time."""

    def coarsened(self, domain: Domain, factor: float) -> Self:
        """The same placement with `factor` times fewer points along each axis; test points stay."""
        boundary, initial = self.boundary, self.initial
        if boundary is not None and domain.dimension > 1:  # else there are just the ends
            boundary = by_part(boundary, domain.space.parts, partial(self._fewer_around, domain, factor))
        if initial is not None:
            initial = fewer_along(initial, domain.space.dimension, factor)
        interior = fewer_along(self.interior, domain.dimension, factor, self._least_inside)
        return replace(self, interior=interior, boundary=boundary, initial=initial)

    def initial_points(self, domain: Domain) -> Floats:
        """Points of the closed shape at the first instant, shape (n, d)."""
        return self._instant(domain, "initial").points

    def test_points(self, domain: Domain) -> Floats:
        """Nodes of a regular grid that lie in the closed domain, shape (m, d)."""
        nodes = _DEFAULT_TEST[domain.dimension]
        counts = (nodes,) * domain.dimension
        if self.test is not None:
            counts = per_axis(self._kind, "test", self.test, domain.coordinates)
        shape = domain.space
        inside = lattice(
            [nodes_of(low, high, n) for (low, high), n in zip(shape.bounds, counts, strict=False)]
        )
        inside = self._some(inside[shape.closure(inside)], "test", len(inside))
        return inside if domain.time is None else with_times(inside, nodes_of(*domain.time.span, counts[-1]))

    def part_points(self, domain: Domain, on: PartChoice = None) -> BoundaryPoints:
        """Points on a part of the boundary, with the normals of that part.

        A corner belongs to both of its parts. Asked for one of them, its normal is that part's; asked for
        more, that of the piece which the point was placed on.

        Args:
            domain: The domain.
            on: None for all of the boundary in space, a part's name, several names, or a predicate that takes
                the coordinates and returns a mask, such as `lambda x, y: x > 0.5`.
        """
        if callable(on):
            return self._picked(domain, on)
        names = domain.space.parts if on is None else domain.known_parts([on] if isinstance(on, str) else on)
        if not names:
            raise DomainError(f"on={on!r} names no part; the parts are {', '.join(domain.parts)}.")
        found = [self._instant(domain, name) for name in ("initial", "final") if name in names]
        sides = [name for name in names if name in domain.space.parts]
        if sides:
            pieces = [piece for piece in domain.space.boundary if piece.part in sides]
            found.insert(0, self._on_pieces(domain, pieces, f"on={on!r}"))
        return BoundaryPoints(
            np.concatenate([part.points for part in found]), np.concatenate([part.normals for part in found])
        )

    def periodic_points(self, domain: Domain, axis: str) -> tuple[Floats, Floats]:
        """Points on the lower and the upper side along `axis` that correspond one by one, each (n, d)."""
        shape = domain.space
        if axis not in shape.coordinates:
            raise DomainError(
                f"the domain has no axis {axis!r} to be periodic along; "
                f"its axes are {', '.join(shape.coordinates)}."
            )
        column = shape.coordinates.index(axis)
        low, high = shape.bounds[column]
        lower, upper = (
            [piece for piece in shape.boundary if np.allclose(piece.bounds[column], end, 0, shape.tolerance)]
            for end in (low, high)
        )
        lengths = [sum(piece.measure for piece in side) for side in (lower, upper)]
        if not lower or not upper or not np.isclose(lengths[0], lengths[1]):
            raise self._no_opposite(domain, axis)
        first = self._on_pieces(domain, lower, f"the lower side along {axis}").points
        second = first.copy()
        first[:, column], second[:, column] = low, high
        if not np.all(_owners(second[:, : shape.dimension], upper, 2 * shape.tolerance) >= 0):
            raise self._no_opposite(domain, axis)
        return first, second

    @property
    def _kind(self) -> str:
        return type(self).__name__

    @property
    def _least_inside(self) -> int:
        return 2  # points that an axis needs for one to be inside

    def _instant(self, domain: Domain, name: str) -> BoundaryPoints:
        if not isinstance(domain, SpaceTime):
            raise DomainError(
                "there is no first instant without time; multiply the domain by Time(start, end)."
            )
        points = self._slice_points(domain)
        t = domain.time.start if name == "initial" else domain.time.end
        return BoundaryPoints(with_times(points, np.array([t])), np.zeros_like(points))

    def _placed(self, domain: Domain, parts: Sequence[str]) -> list[Cloud]:
        if domain.dimension > 1:
            return self._clouds(domain, parts)
        ends = domain.space.boundary
        number = dict(Counter(end.part for end in ends))
        given = self.boundary
        if isinstance(given, Mapping):
            right = all(
                count == number[part] for part, count in self._part_counts(given, domain, parts, "1").items()
            )
        else:
            right = given is None or given == len(ends)
        if not right:
            raise DomainError(
                f"{self._kind}(boundary={given!r}) does not fit a boundary of {len(ends)} ends "
                f"({', '.join(number)}); give boundary={len(ends)}, or leave it out."
            )
        return [Cloud(np.array([[end.bounds[0, 0]] for end in ends]), np.arange(len(ends)))]

    def _on_pieces(self, domain: Domain, wanted: Sequence[Piece], what: str) -> BoundaryPoints:
        shape = domain.space
        looked_at = 0
        points, normals = [np.empty((0, domain.dimension))], [np.empty((0, shape.dimension))]
        is_wanted = np.array([piece in wanted for piece in shape.boundary])
        for cloud in self._placed(domain, tuple(dict.fromkeys(piece.part for piece in wanted))):
            looked_at += len(cloud.points)
            homes = cloud.homes.copy()
            strays = np.flatnonzero(~is_wanted[homes])
            places = cloud.points[strays, : shape.dimension]
            homes[strays] = _owners(
                places, [p if p in wanted else None for p in shape.boundary], 2 * shape.tolerance
            )
            found = homes >= 0
            points.append(cloud.points[found])
            normals.append(_normals(shape.boundary, cloud.points[found, : shape.dimension], homes[found]))
        return BoundaryPoints(self._some(np.concatenate(points), what, looked_at), np.concatenate(normals))

    def _picked(self, domain: Domain, predicate: Predicate) -> BoundaryPoints:
        shape = domain.space
        clouds = self._placed(domain, shape.parts)
        points = np.concatenate([cloud.points for cloud in clouds])
        homes = np.concatenate([cloud.homes for cloud in clouds])
        chosen = np.asarray(predicate(*(column.copy() for column in points.T)))
        if chosen.dtype != np.bool_ or chosen.shape != (len(points),):
            raise DomainError(
                f"the predicate returned {chosen.dtype} of shape {chosen.shape}; expected a mask, bool of "
                f"shape ({len(points)},), from {', '.join(domain.coordinates)} of that shape."
            )
        name = getattr(predicate, "__name__", repr(predicate))
        picked = self._some(points[chosen], f"the predicate {name}", len(points))
        return BoundaryPoints(picked, _normals(shape.boundary, picked[:, : shape.dimension], homes[chosen]))

    def _some(self, points: Floats, what: str, looked_at: int) -> Floats:
        if not len(points):
            raise DomainError(
                f"{self._kind} has no points for {what}: none of {looked_at} boundary points lies there; "
                "give a larger count, or on a boundary one for each part, as in boundary={'left': 20, ...}."
            )
        return points

    def _given(self, argument: str, value: Count | None, example: str) -> Count:
        if value is None:
            raise DomainError(
                f"{self._kind} has no count for {argument} points, which a condition asks for; "
                f"give one, for example {argument}={example}."
            )
        return value

    def _part_counts(
        self, table: Mapping[str, Count], domain: Domain, parts: Sequence[str], example: str
    ) -> dict[str, Count]:
        """The counts of `parts` from a table by part; a missing or an unknown part is an error."""
        domain.space.known_parts(tuple(table))
        missing = [part for part in parts if part not in table]
        if missing:
            raise DomainError(
                f"{self._kind}(boundary={dict(table)!r}) has no count for {', '.join(map(repr, missing))}, "
                f"which a condition asks for; add one, for example {missing[0]!r}: {example}."
            )
        return {part: table[part] for part in parts}

    def _no_opposite(self, domain: Domain, axis: str) -> DomainError:
        return DomainError(
            f"the domain is not periodic along {axis}: it needs two equal sides at right angles to {axis}, "
            f"as an Interval, Rectangle or Box has, but is {domain.space!r}."
        )


def _owners(points: Floats, pieces: Sequence[Piece | None], tolerance: float) -> Integers:
    """For each point the index of the first piece it lies on, or -1; shape (n,)."""
    owners = np.full(len(points), -1, dtype=np.intp)
    for index, piece in enumerate(pieces):
        if piece is not None:
            owners[(owners < 0) & piece.contains(points, tolerance)] = index
    return owners


def _normals(boundary: Sequence[Piece], points: Floats, homes: Integers) -> Floats:
    normals = np.empty_like(points)
    for home in sorted({int(home) for home in homes}):
        mine = homes == home
        normals[mine] = boundary[home].normals(points[mine])
    return normals
