"""Shapes made from shapes: unions, differences, intersections, and other names for parts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evopinn.errors import DomainError
from evopinn.problem.arrays import Booleans, Floats
from evopinn.problem.domains.chains import chains
from evopinn.problem.domains.domain import Shape
from evopinn.problem.domains.pieces import Piece
from evopinn.problem.domains.trimming import Trimmer


class _Operation(NamedTuple):
    """A way to combine two shapes: its operator, and the level of the result from both levels."""

    symbol: str
    level: Callable[[Floats, Floats], Floats]
    turns_second: bool
    """Whether the outside of the second shape counts, so that its normals are reversed."""


def _without(first: Floats, second: Floats) -> Floats:
    return np.maximum(first, -second)


_OPERATIONS = {
    "union": _Operation("|", np.minimum, turns_second=False),
    "intersection": _Operation("&", np.maximum, turns_second=False),
    "difference": _Operation("-", _without, turns_second=True),
}

_PROBE = 1e-8
"""The distance from a boundary at which its two sides are tested, relative to the size."""


@dataclass(frozen=True, repr=False)
class Combination(Shape):
    """The union, difference or intersection of two shapes; made by `|`, `-` and `&`.

    The result is regular: no isolated points or slits remain, and a seam between the members of a union is
    interior. Pieces of the same name form one part of the boundary; `named` tells them apart.

    Attributes:
        operation: "union", "difference" or "intersection".
        first: The left operand.
        second: The right operand.
    """

    operation: str
    first: Shape
    second: Shape

    def __post_init__(self) -> None:
        if self.first.dimension != self.second.dimension:
            raise DomainError(
                f"{self!r} combines shapes of {self.first.dimension} and {self.second.dimension} dimensions; "
                "both have to have the same."
            )
        if not self.boundary:
            raise DomainError(f"{self!r} is empty; check where its two shapes lie.")
        if not all(chain.closed for chain in chains(self.boundary, self.joint)):
            raise DomainError(
                f"the boundary of {self!r} does not close, since two of its curves nearly coincide; "
                f"make them coincide, or move them at least {1e-7 * self._reach:.1e} apart."
            )

    def __repr__(self) -> str:
        return f"({self.first!r} {_OPERATIONS[self.operation].symbol} {self.second!r})"

    @property
    def _reach(self) -> float:
        return max(self.first.extent, self.second.extent)

    def _make_boundary(self) -> tuple[Piece, ...]:
        second = self.second.boundary
        if _OPERATIONS[self.operation].turns_second:
            second = tuple(piece.reversed() for piece in second)
        tolerance = max(self.first.tolerance, self.second.tolerance)
        # Beside the boundary means clearly farther than rounding, and far nearer than any feature.
        trimmer = Trimmer(self._level, max(_PROBE * self._reach, 4 * tolerance), tolerance)
        return trimmer.boundary(self.first.boundary, second)

    def _make_bounds(self) -> Floats:
        boxes = np.array([piece.bounds for piece in self.boundary])
        return np.stack([boxes[:, :, 0].min(axis=0), boxes[:, :, 1].max(axis=0)], axis=1)

    def _level(self, points: Floats) -> Floats:
        return _OPERATIONS[self.operation].level(self.first._level(points), self.second._level(points))

    def _inside(self, points: Floats) -> Booleans:
        return self._settled(points, boundary=False)

    def _closure(self, points: Floats) -> Booleans:
        return self._settled(points, boundary=True)

    def _settled(self, points: Floats, *, boundary: bool) -> Booleans:
        """Which points are inside; `boundary` says whether those on the boundary count.

        A level of about zero can also mean a seam, an edge that two members share. All around a seam is
        alike: look there.
        """
        level = self._level(points)
        result = level < -self.tolerance
        unsure = np.flatnonzero(np.abs(level) <= self.tolerance)
        on_boundary = self.on_boundary(points[unsure])
        result[unsure[on_boundary]] = boundary
        seam = unsure[~on_boundary]
        if len(seam):
            steps = max(_PROBE * self.extent, 4 * self.tolerance) * _directions(points.shape[1])
            votes = np.sum([self._level(points[seam] + step) < 0 for step in steps], axis=0)
            result[seam] = 2 * votes > len(steps)
        return result


@dataclass(frozen=True)
class Renamed(Shape):
    """A shape with other names for parts of its boundary; made by `named`.

    Attributes:
        shape: The shape itself.
        names: Pairs (old name, new name).
    """

    shape: Shape
    names: tuple[tuple[str, str], ...]

    def _make_boundary(self) -> tuple[Piece, ...]:
        new = dict(self.names)
        return tuple(piece.renamed(new.get(piece.part, piece.part)) for piece in self.shape.boundary)

    def _make_bounds(self) -> Floats:
        return self.shape.bounds

    def _level(self, points: Floats) -> Floats:
        return self.shape._level(points)

    def _inside(self, points: Floats) -> Booleans:
        return self.shape.inside(points)

    def _closure(self, points: Floats) -> Booleans:
        return self.shape.closure(points)


def _directions(dimension: int) -> Floats:
    """Unit vectors in many directions, none along an edge that a person would draw; shape (m, d)."""
    if dimension == 1:
        return np.array([[-1.0], [1.0]])
    turns = np.arange(15) * 0.6180339887 + 0.0437
    angles = 2 * np.pi * turns
    if dimension == 2:
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    height = np.linspace(-0.93, 0.93, len(turns))
    width = np.sqrt(1 - height**2)
    return np.stack([width * np.cos(angles), width * np.sin(angles), height], axis=1)
