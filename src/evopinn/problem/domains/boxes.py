"""Shapes with sides along the axes: interval, rectangle, box."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from evopinn.problem.arrays import Floats
from evopinn.problem.domains.arguments import Span, pair, span
from evopinn.problem.domains.curves import Segment
from evopinn.problem.domains.domain import Shape
from evopinn.problem.domains.pieces import EndPoint, Face, Piece

SIDES = (("left", "right"), ("bottom", "top"), ("back", "front"))
"""Names of the lower and upper side along each axis."""


class AxisAligned(Shape):
    """A product of intervals, one along each axis."""

    @property
    @abstractmethod
    def spans(self) -> tuple[Span, ...]:
        """The interval along each axis."""

    def _make_bounds(self) -> Floats:
        return np.array(self.spans)

    def _make_boundary(self) -> tuple[Piece, ...]:
        return tuple(
            self._side(SIDES[axis][upper], axis, bool(upper))
            for axis in range(len(self.spans))
            for upper in (0, 1)
        )

    def _level(self, points: Floats) -> Floats:
        low, high = self.bounds.T
        return np.max(np.maximum(low - points, points - high), axis=1)

    def _side(self, part: str, axis: int, upper: bool) -> Piece:
        position, sign = self.spans[axis][upper], 1 if upper else -1
        others = [span for place, span in enumerate(self.spans) if place != axis]
        if not others:
            return EndPoint(part, position, sign)
        if len(others) == 1:
            low, high = others[0]
            # With the inside on the left, the right side runs up and the bottom runs to the right.
            if axis == 0:
                side = Segment(part, (position, low), (position, high))
                return side if upper else side.reversed()
            side = Segment(part, (low, position), (high, position))
            return side.reversed() if upper else side
        (low0, high0), (low1, high1) = others
        return Face(part, axis, position, (low0, low1), (high0, high1), sign)


def _set_span(shape: AxisAligned, axis: str) -> None:
    what = f"{type(shape).__name__}({axis}=...)"
    object.__setattr__(shape, axis, span(what, *pair(what, getattr(shape, axis))))


@dataclass(frozen=True)
class Interval(AxisAligned):
    """The interval a < x < b; boundary parts "left" and "right"."""

    a: float
    b: float

    def __post_init__(self) -> None:
        a, b = span("Interval", self.a, self.b)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The interval itself."""
        return ((self.a, self.b),)


@dataclass(frozen=True)
class Rectangle(AxisAligned):
    """The rectangle x[0] < x < x[1], y[0] < y < y[1]; parts "left", "right", "bottom", "top"."""

    x: Span = (0.0, 1.0)
    y: Span = (0.0, 1.0)

    def __post_init__(self) -> None:
        for axis in "xy":
            _set_span(self, axis)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Width and height."""
        return self.x, self.y


@dataclass(frozen=True)
class Box(AxisAligned):
    """The box of a span for each of x, y, z; parts as a rectangle's, with "back" and "front" for z."""

    x: Span = (0.0, 1.0)
    y: Span = (0.0, 1.0)
    z: Span = (0.0, 1.0)

    def __post_init__(self) -> None:
        for axis in "xyz":
            _set_span(self, axis)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Width, height and depth."""
        return self.x, self.y, self.z
