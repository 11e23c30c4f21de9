"""Domains: shapes in space, time, and their product.

A domain knows its points by a level: negative inside, zero on the boundary, positive outside.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from evopinn.errors import DomainError
from evopinn.problem.arrays import Booleans, Floats
from evopinn.problem.domains.arguments import Span, known_part, part_name, point_array, span
from evopinn.problem.domains.pieces import Piece

if TYPE_CHECKING:
    from evopinn.problem.domains.boolean import Combination, Renamed

AXES = ("x", "y", "z")


class Domain(ABC):
    """A bounded region of space, or of space and time."""

    @property
    @abstractmethod
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates in the order of the columns of an array of points."""

    @property
    @abstractmethod
    def bounds(self) -> Floats:
        """Lowest and highest value of each coordinate, shape (d, 2)."""

    @property
    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """Names of the parts of the boundary."""

    @property
    @abstractmethod
    def space(self) -> "Shape":
        """The region of space."""

    @property
    @abstractmethod
    def time(self) -> "Time | None":
        """The interval of time, if there is one."""

    @abstractmethod
    def _level(self, points: Floats) -> Floats: ...

    @abstractmethod
    def _inside(self, points: Floats) -> Booleans: ...

    @abstractmethod
    def _closure(self, points: Floats) -> Booleans: ...

    def level(self, points: ArrayLike) -> Floats:
        """Level (n,) of points (n, d): negative inside, zero on the boundary, positive outside.

        Also zero on a seam, an edge that two members of a union share; `inside` tells the two apart.
        """
        return self._level(point_array(points, self.coordinates))

    def inside(self, points: ArrayLike) -> Booleans:
        """Which of the points (n, d) are strictly inside, by more than rounding; shape (n,)."""
        return self._inside(point_array(points, self.coordinates))

    def closure(self, points: ArrayLike) -> Booleans:
        """Which of the points (n, d) are inside or, up to rounding, on the boundary; shape (n,)."""
        return self._closure(point_array(points, self.coordinates))

    @property
    def dimension(self) -> int:
        """Number of coordinates d, time included."""
        return len(self.coordinates)

    def known_parts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return `names` if all are parts of the boundary; otherwise raise an error with their names."""
        return tuple(known_part(name, self.parts) for name in names)


class Shape(Domain):
    """A region of space with a boundary of named parts.

    Shapes of the same dimension combine by `|` (union), `-` (difference) and `&` (intersection), and become
    domains in space and time by `* Time(start, end)`.

    Examples:
        >>> from evopinn.problem import Disk, Rectangle
        >>> plate = Rectangle((0, 2), (0, 1)) - Disk((1, 0.5), 0.2).named(circle="hole")
        >>> plate.parts
        ('left', 'right', 'bottom', 'top', 'hole')
    """

    @abstractmethod
    def _make_boundary(self) -> tuple[Piece, ...]: ...

    @abstractmethod
    def _make_bounds(self) -> Floats: ...

    @cached_property
    def boundary(self) -> tuple[Piece, ...]:
        """The pieces of the boundary, with outward normals."""
        return self._make_boundary()

    @cached_property
    def _bounds(self) -> Floats:
        box = self._make_bounds()
        box.flags.writeable = False
        return box

    @property
    def bounds(self) -> Floats:
        """Lowest and highest value of each coordinate, shape (d, 2)."""
        return self._bounds

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The first of x, y, z."""
        return AXES[: len(self.bounds)]

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts of the boundary, each a set of its pieces."""
        return tuple(dict.fromkeys(piece.part for piece in self.boundary))

    @property
    def space(self) -> "Shape":
        """The shape itself."""
        return self

    @property
    def time(self) -> "Time | None":
        """None."""
        return None

    @cached_property
    def extent(self) -> float:
        """The largest side of the box around the shape."""
        return float(np.max(np.diff(self.bounds, axis=1)))

    @cached_property
    def tolerance(self) -> float:
        """Distance from the boundary under which a point counts as on it."""
        # Far from the origin, the rounding of the coordinates themselves is what counts.
        return max(1e-10 * self.extent, 8 * float(np.spacing(np.max(np.abs(self.bounds)))))

    @property
    def joint(self) -> float:
        """How far the end of a boundary curve may be from the start of the next, which it meets there."""
        # Curves that meet at a shallow angle do so at a place known less well than the curves themselves.
        return 1e-6 * self.extent

    def _inside(self, points: Floats) -> Booleans:
        return self._level(points) < -self.tolerance

    def _closure(self, points: Floats) -> Booleans:
        return self._level(points) <= self.tolerance

    def on_boundary(self, points: Floats) -> Booleans:
        """Which of the points (n, d) lie on a piece of the boundary; shape (n,)."""
        found = np.zeros(len(points), dtype=np.bool_)
        for piece in self.boundary:
            # A level may be smaller than the distance, outside a corner by √d.
            found |= piece.contains(points, 2 * self.tolerance)
        return found

    def named(self, names: Mapping[str, str] | None = None, /, **more: str) -> "Renamed":
        """The same shape with other names for parts of its boundary.

        Args:
            names: New names by old ones; needed for names such as "edge-0" that cannot be keywords.
            **more: The same as keywords, `Disk().named(circle="hole")`.
        """
        from evopinn.problem.domains.boolean import Renamed

        table = dict(names or {}) | more
        self.known_parts(tuple(table))
        return Renamed(self, tuple((old, part_name(new)) for old, new in table.items()))

    def __or__(self, other: "Shape") -> "Combination":
        return self._combined("union", other)

    def __sub__(self, other: "Shape") -> "Combination":
        return self._combined("difference", other)

    def __and__(self, other: "Shape") -> "Combination":
        return self._combined("intersection", other)

    def __mul__(self, other: "Time") -> "SpaceTime":
        if not isinstance(other, Time):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DomainError(f"a shape can be multiplied by Time(start, end) only, not by {other!r}.")
        return SpaceTime(self, other)

    def _combined(self, operation: str, other: "Shape") -> "Combination":
        from evopinn.problem.domains.boolean import Combination

        if not isinstance(other, Shape):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DomainError(
                f"the {operation} of {self!r} and {other!r} needs two shapes in space; multiply by Time last."
            )
        return Combination(operation, self, other)


@dataclass(frozen=True)
class Time:
    """The interval of time [start, end], a factor of a domain: `Interval(0, 1) * Time(0, 1)`."""

    start: float
    end: float

    def __post_init__(self) -> None:
        start, end = span("Time", self.start, self.end)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)

    @property
    def span(self) -> Span:
        """(start, end)."""
        return self.start, self.end

    def __mul__(self, other: object) -> NoReturn:
        raise DomainError("time comes last: write shape * Time(start, end).")


@dataclass(frozen=True)
class SpaceTime(Domain):
    """A shape at all instants of a time interval: coordinates of the shape, then t.

    Its boundary has the parts of the shape (at all times), "initial" (first instant) and "final" (last).
    """

    shape: Shape
    interval: Time

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Those of the shape, then t."""
        return (*self.shape.coordinates, "t")

    @property
    def bounds(self) -> Floats:
        """Lowest and highest value of each coordinate, time last, shape (d, 2)."""
        return np.vstack([self.shape.bounds, self.interval.span])

    @property
    def parts(self) -> tuple[str, ...]:
        """Those of the shape, then "initial" and "final"."""
        return (*self.shape.parts, "initial", "final")

    @property
    def space(self) -> Shape:
        """The shape."""
        return self.shape

    @property
    def time(self) -> Time:
        """The time interval."""
        return self.interval

    def _level(self, points: Floats) -> Floats:
        return np.maximum(self.shape.level(points[:, :-1]), self._late(points))

    def _inside(self, points: Floats) -> Booleans:
        return self.shape.inside(points[:, :-1]) & (self._late(points) < -self._time_tolerance)

    def _closure(self, points: Floats) -> Booleans:
        return self.shape.closure(points[:, :-1]) & (self._late(points) <= self._time_tolerance)

    def _late(self, points: Floats) -> Floats:
        t = points[:, -1]
        return np.maximum(self.interval.start - t, t - self.interval.end)

    @property
    def _time_tolerance(self) -> float:
        start, end = self.interval.span
        return max(1e-10 * (end - start), 8 * float(np.spacing(max(abs(start), abs(end)))))

    def _refuse(self, other: object) -> NoReturn:
        raise DomainError(
            f"{self!r} already has time and cannot be combined with {other!r}; combine the shapes first, "
            "then multiply by Time."
        )

    __or__ = __sub__ = __and__ = __mul__ = _refuse
