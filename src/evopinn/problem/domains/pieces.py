"""The pieces that make up a boundary: their base class, end points (1D) and flat faces (3D).

A piece is oriented: its normal points out of the domain. Curves (2D) are in `curves`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from evopinn.problem.arrays import Booleans, Floats


@dataclass(frozen=True)
class Piece(ABC):
    """A connected piece of a boundary, the image of the unit cube [0, 1]^k.

    Attributes:
        part: Name of the boundary part that the piece belongs to.
    """

    part: str

    @property
    @abstractmethod
    def parameters(self) -> int:
        """k: 0 for a point, 1 for a curve, 2 for a face."""

    @property
    @abstractmethod
    def measure(self) -> float:
        """Length or area; 1 for a point."""

    @property
    @abstractmethod
    def bounds(self) -> Floats:
        """Smallest box around the piece, shape (d, 2)."""

    @abstractmethod
    def at(self, parameters: Floats) -> Floats:
        """Points (n, d) at parameters (n, k); equal steps are equal lengths or areas."""

    @abstractmethod
    def normals(self, points: Floats) -> Floats:
        """Outward unit normals (n, d) at points (n, d) of the piece."""

    @abstractmethod
    def contains(self, points: Floats, tolerance: float) -> Booleans:
        """Which of the points (n, d) lie within `tolerance` of the closed piece."""

    @abstractmethod
    def reversed(self) -> Self:
        """The same piece seen from the other side."""

    @abstractmethod
    def breaks(self, others: Sequence["Piece"], tolerance: float) -> tuple[Floats, ...]:
        """Where `others` may cut this piece: for each of the k parameters, values within (0, 1).

        Between two neighbouring values the piece lies wholly on one side of each of the others.
        """

    @abstractmethod
    def between(self, lower: Sequence[float], upper: Sequence[float]) -> Self:
        """The sub-piece whose parameters lie between `lower` and `upper` (k values each)."""

    def renamed(self, part: str) -> Self:
        """The same piece as a member of another part."""
        return replace(self, part=part)


@dataclass(frozen=True)
class EndPoint(Piece):
    """An end of an interval; `sign` is the outward direction, -1 or +1."""

    position: float
    sign: int

    @property
    def parameters(self) -> int:
        """0: a point has no extent."""
        return 0

    @property
    def measure(self) -> float:
        """Counts as 1."""
        return 1.0

    @property
    def bounds(self) -> Floats:
        """The position twice, shape (1, 2)."""
        return np.array([[self.position, self.position]])

    def at(self, parameters: Floats) -> Floats:
        """The position, once for each row of `parameters`."""
        return np.full((len(parameters), 1), self.position)

    def normals(self, points: Floats) -> Floats:
        """The sign, for each of the points."""
        return np.full((len(points), 1), float(self.sign))

    def contains(self, points: Floats, tolerance: float) -> Booleans:
        """Which points are within `tolerance` of the position."""
        return np.abs(points[:, 0] - self.position) <= tolerance

    def reversed(self) -> Self:
        """The same position with the inside on the other side."""
        return replace(self, sign=-self.sign)

    def breaks(self, others: Sequence[Piece], tolerance: float) -> tuple[Floats, ...]:  # noqa: ARG002
        """None: a point cannot be cut."""
        return ()

    def between(self, lower: Sequence[float], upper: Sequence[float]) -> Self:  # noqa: ARG002
        """The point itself."""
        return self


@dataclass(frozen=True)
class Face(Piece):
    """A rectangle in 3D perpendicular to a coordinate axis.

    Attributes:
        axis: The axis (0, 1, 2) that the face is perpendicular to.
        position: The face's coordinate on that axis.
        lower: Lower corner in the two other coordinates, in their order.
        upper: Upper corner in the two other coordinates.
        sign: Outward direction along `axis`, -1 or +1.
    """

    axis: int
    position: float
    lower: tuple[float, float]
    upper: tuple[float, float]
    sign: int

    @property
    def parameters(self) -> int:
        """Two, along the two tangents."""
        return 2

    @property
    def tangents(self) -> tuple[int, int]:
        """The two axes along the face."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        return first, second

    @property
    def measure(self) -> float:
        """The area."""
        return math.prod(high - low for low, high in zip(self.lower, self.upper, strict=True))

    @property
    def bounds(self) -> Floats:
        """The face as a flat box, shape (3, 2)."""
        box = np.empty((3, 2))
        box[self.axis] = self.position
        box[list(self.tangents), 0] = self.lower
        box[list(self.tangents), 1] = self.upper
        return box

    def at(self, parameters: Floats) -> Floats:
        """Points (n, 3) at parameters (n, 2); exact at the corners and in the coordinate of the axis."""
        points = np.empty((len(parameters), 3))
        points[:, self.axis] = self.position
        low, high = np.array(self.lower), np.array(self.upper)
        points[:, list(self.tangents)] = np.where(parameters == 1.0, high, low + parameters * (high - low))
        return points

    def normals(self, points: Floats) -> Floats:
        """The direction of the axis, with the sign."""
        normals = np.zeros_like(points)
        normals[:, self.axis] = self.sign
        return normals

    def contains(self, points: Floats, tolerance: float) -> Booleans:
        """Which points are within `tolerance` of the face along each axis."""
        low, high = self.bounds.T
        return np.all((points >= low - tolerance) & (points <= high + tolerance), axis=1)

    def reversed(self) -> Self:
        """The same rectangle with the inside on the other side."""
        return replace(self, sign=-self.sign)

    def breaks(self, others: Sequence[Piece], tolerance: float) -> tuple[Floats, ...]:
        """Where planes through the edges of other faces cut this one, along each tangent."""
        # Faces are parallel to the axes, so that all changes happen on the planes through their edges.
        cuts: list[Floats] = []
        for axis, low, high in zip(self.tangents, self.lower, self.upper, strict=True):
            planes = np.array([other.bounds[axis] for other in others]).ravel()
            planes = planes[(planes > low + tolerance) & (planes < high - tolerance)]
            cuts.append((np.unique(planes) - low) / (high - low))
        return tuple(cuts)

    def between(self, lower: Sequence[float], upper: Sequence[float]) -> Self:
        """The rectangle between two corners given by their parameters."""
        corners = self.at(np.array([lower, upper], dtype=np.float64))[:, list(self.tangents)]
        return replace(
            self,
            lower=(float(corners[0, 0]), float(corners[0, 1])),
            upper=(float(corners[1, 0]), float(corners[1, 1])),
        )
