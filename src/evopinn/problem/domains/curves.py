"""Boundary pieces in the plane: segments and circular arcs, and where they meet.

A curve runs with the domain on its left, so that its outward normal is on its right.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from evopinn.problem.arrays import Booleans, Floats
from evopinn.problem.domains.pieces import Piece

FULL_TURN = 2 * math.pi
_PARALLEL = 1e-12
"""Sine of the angle under which two lines count as parallel: they share a stretch, or nothing."""


@dataclass(frozen=True)
class Curve(Piece):
    """A piece of a boundary in the plane, run through once from `start` to `end`."""

    @property
    def parameters(self) -> int:
        """One, along the length."""
        return 1

    @property
    @abstractmethod
    def start(self) -> Floats:
        """The first point, shape (2,)."""

    @property
    @abstractmethod
    def end(self) -> Floats:
        """The last point, shape (2,); equal to `start` for a whole circle."""

    @abstractmethod
    def locate(self, points: Floats) -> Floats:
        """Parameters (n,) of the nearest points on the extended curve; outside [0, 1] off the piece."""

    def breaks(self, others: Sequence[Piece], tolerance: float) -> tuple[Floats, ...]:
        """Where the other curves cross, touch, join or leave this one."""
        curves = [other for other in others if isinstance(other, Curve)]
        if not curves:
            return (np.empty(0),)
        ends = np.array([point for curve in curves for point in (curve.start, curve.end)])
        # Where two curves share a stretch, it begins and ends at an end of one of them.
        candidates = np.concatenate(
            [ends[self.contains(ends, tolerance)], *(_meetings(self, curve) for curve in curves)]
        )
        cuts = np.sort(self.locate(candidates))
        margin = tolerance / self.measure
        cuts = cuts[(cuts > margin) & (cuts < 1 - margin)]
        return (cuts[np.diff(cuts, prepend=0.0) > margin],)


@dataclass(frozen=True)
class Segment(Curve):
    """The straight line from `first` to `last`."""

    first: tuple[float, float]
    last: tuple[float, float]

    @property
    def start(self) -> Floats:
        """The first end."""
        return np.array(self.first)

    @property
    def end(self) -> Floats:
        """The other end."""
        return np.array(self.last)

    @property
    def measure(self) -> float:
        """The distance between both ends."""
        return math.dist(self.first, self.last)

    @property
    def bounds(self) -> Floats:
        """The box with both ends as corners, shape (2, 2)."""
        return np.sort(np.array([self.first, self.last]).T, axis=1)

    def at(self, parameters: Floats) -> Floats:
        """Points (n, 2) at fractions (n, 1) of the length."""
        # Exact at both ends, and exact throughout in a coordinate that does not change.
        return np.where(parameters == 1.0, self.end, self.start + parameters * (self.end - self.start))

    def normals(self, points: Floats) -> Floats:
        """The direction turned clockwise by a right angle."""
        x, y = (self.end - self.start) / self.measure
        return np.tile(np.array([y + 0.0, -x + 0.0]), (len(points), 1))

    def locate(self, points: Floats) -> Floats:
        """Fractions (n,) of the length at the feet of the perpendiculars."""
        direction = self.end - self.start
        return (points - self.start) @ direction / (direction @ direction)

    def contains(self, points: Floats, tolerance: float) -> Booleans:
        """Which points are within `tolerance` of the closed segment."""
        nearest = self.at(np.clip(self.locate(points), 0.0, 1.0)[:, None])
        return np.linalg.norm(points - nearest, axis=1) <= tolerance

    def reversed(self) -> Self:
        """The same line run the other way."""
        return replace(self, first=self.last, last=self.first)

    def between(self, lower: Sequence[float], upper: Sequence[float]) -> Self:
        """The stretch between two fractions of the length."""
        (x0, y0), (x1, y1) = self.at(np.array([lower, upper], dtype=np.float64))
        return replace(self, first=(float(x0), float(y0)), last=(float(x1), float(y1)))


@dataclass(frozen=True)
class Arc(Curve):
    """A circular arc p(s) = center + radius·(cos θ, sin θ), θ = angle + s·sweep.

    A positive sweep runs counterclockwise and has its normal away from the center.
    """

    center: tuple[float, float]
    radius: float
    angle: float
    sweep: float

    @property
    def start(self) -> Floats:
        """The point at `angle`."""
        return self.at(np.zeros((1, 1)))[0]

    @property
    def end(self) -> Floats:
        """The point at `angle + sweep`."""
        return self.at(np.ones((1, 1)))[0]

    @property
    def measure(self) -> float:
        """The length, radius · |sweep|."""
        return self.radius * abs(self.sweep)

    @property
    def bounds(self) -> Floats:
        """The box around both ends and those of the extreme points that are on the arc."""
        points = np.array([self.start, self.end])
        box = np.stack([points.min(axis=0), points.max(axis=0)], axis=1)
        for axis in (0, 1):
            for column, sign in enumerate((-1.0, 1.0)):
                extreme = np.array([self.center])
                extreme[0, axis] += sign * self.radius
                if self.locate(extreme)[0] <= 1.0:
                    box[axis, column] = extreme[0, axis]
        return box

    def at(self, parameters: Floats) -> Floats:
        """Points (n, 2) at fractions (n, 1) of the sweep."""
        theta = self.angle + parameters[:, 0] * self.sweep
        return np.array(self.center) + self.radius * np.stack([np.cos(theta), np.sin(theta)], axis=1)

    def normals(self, points: Floats) -> Floats:
        """Away from the center if the arc runs counterclockwise, else towards it."""
        radial = points - np.array(self.center)
        return math.copysign(1.0, self.sweep) * radial / np.linalg.norm(radial, axis=1, keepdims=True)

    def locate(self, points: Floats) -> Floats:
        """Fractions (n,) of the sweep, from 0 to a whole turn."""
        x, y = (points - np.array(self.center)).T
        turned = (np.arctan2(y, x) - self.angle) * math.copysign(1.0, self.sweep)
        return np.mod(turned, FULL_TURN) / abs(self.sweep)

    def contains(self, points: Floats, tolerance: float) -> Booleans:
        """Which points are within `tolerance` of the closed arc."""
        radial = np.abs(np.linalg.norm(points - np.array(self.center), axis=1) - self.radius)
        start, end = (np.linalg.norm(points - point, axis=1) for point in (self.start, self.end))
        near_end = np.minimum(start, end) <= tolerance
        return near_end | ((radial <= tolerance) & (self.locate(points) <= 1.0))

    def reversed(self) -> Self:
        """The same arc run the other way."""
        return replace(self, angle=self.angle + self.sweep, sweep=-self.sweep)

    def between(self, lower: Sequence[float], upper: Sequence[float]) -> Self:
        """The stretch between two fractions of the sweep."""
        return replace(
            self, angle=self.angle + lower[0] * self.sweep, sweep=(upper[0] - lower[0]) * self.sweep
        )


def _meetings(one: Curve, other: Curve) -> Floats:
    """Points (m, 2) where the lines or circles that carry two curves meet.

    Carriers that coincide meet nowhere in this sense: the ends of the curves then mark their common stretch.
    """
    if isinstance(one, Segment) and isinstance(other, Segment):
        return _line_and_line(one, other)
    if isinstance(one, Arc) and isinstance(other, Arc):
        return _circle_and_circle(one, other)
    if isinstance(one, Arc) and isinstance(other, Segment):
        return _line_and_circle(other, one)
    if isinstance(one, Segment) and isinstance(other, Arc):
        return _line_and_circle(one, other)
    raise TypeError(f"no rule for where {type(one).__name__} and {type(other).__name__} meet")


def _cross(one: Floats, other: Floats) -> float:
    return float(one[0] * other[1] - one[1] * other[0])


def _line_and_line(one: Segment, other: Segment) -> Floats:
    along, across = one.end - one.start, other.end - other.start
    determinant = _cross(along, across)
    if abs(determinant) <= _PARALLEL * one.measure * other.measure:
        return np.empty((0, 2))
    return (one.start + along * _cross(other.start - one.start, across) / determinant)[None]


def _line_and_circle(line: Segment, circle: Arc) -> Floats:
    center = np.array(circle.center)
    direction = (line.end - line.start) / line.measure
    foot = line.start + direction * ((center - line.start) @ direction)
    return _chord(foot, direction, circle.radius, math.dist(foot, center))


def _circle_and_circle(one: Arc, other: Arc) -> Floats:
    centers = np.array(other.center) - np.array(one.center)
    distance = float(np.linalg.norm(centers))
    if distance <= _PARALLEL * (one.radius + other.radius):
        return np.empty((0, 2))
    # The common chord cuts the line of centers at this distance from the first center.
    offset = (distance**2 + one.radius**2 - other.radius**2) / (2 * distance)
    unit = centers / distance
    return _chord(
        np.array(one.center) + offset * unit, np.array([-unit[1], unit[0]]), one.radius, abs(offset)
    )


def _chord(foot: Floats, direction: Floats, radius: float, distance: float) -> Floats:
    """Both ends of the chord of a circle through `foot`, which lies `distance` from the center."""
    squared = (radius - distance) * (radius + distance)
    # A tangent may miss the circle by rounding; a cut too many does no harm, one too few would.
    if squared < -1e-12 * radius**2:
        return np.empty((0, 2))
    half = math.sqrt(max(squared, 0.0)) * direction
    return np.array([foot - half, foot + half])
