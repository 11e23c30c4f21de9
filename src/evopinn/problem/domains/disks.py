"""Round shapes: disk and ring."""

from dataclasses import dataclass

import numpy as np

from evopinn.errors import DomainError
from evopinn.problem.arrays import Floats
from evopinn.problem.domains.arguments import finite, pair, positive
from evopinn.problem.domains.curves import FULL_TURN, Arc
from evopinn.problem.domains.domain import Shape
from evopinn.problem.domains.pieces import Piece


def _center(shape: str, value: object) -> tuple[float, float]:
    x, y = pair(f"{shape}(center=...)", value)
    return finite(f"the x of {shape}(center=...)", x), finite(f"the y of {shape}(center=...)", y)


def _box(center: tuple[float, float], radius: float) -> Floats:
    return np.array([[c - radius, c + radius] for c in center])


@dataclass(frozen=True)
class Disk(Shape):
    """The disk |p − center| < radius; its boundary is the part "circle"."""

    center: tuple[float, float] = (0.0, 0.0)
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", _center("Disk", self.center))
        object.__setattr__(self, "radius", positive("Disk(radius=...)", self.radius))

    def _make_boundary(self) -> tuple[Piece, ...]:
        return (Arc("circle", self.center, self.radius, 0.0, FULL_TURN),)

    def _make_bounds(self) -> Floats:
        return _box(self.center, self.radius)

    def _level(self, points: Floats) -> Floats:
        return np.hypot(*(points - np.array(self.center)).T) - self.radius


@dataclass(frozen=True)
class Ring(Shape):
    """The ring inner < |p − center| < outer; boundary parts "inner" and "outer"."""

    center: tuple[float, float] = (0.0, 0.0)
    inner: float = 1.0
    outer: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", _center("Ring", self.center))
        object.__setattr__(self, "inner", positive("Ring(inner=...)", self.inner))
        object.__setattr__(self, "outer", positive("Ring(outer=...)", self.outer))
        if self.inner >= self.outer:
            raise DomainError(
                f"Ring has inner radius {self.inner:g} and outer radius {self.outer:g}; "
                "the inner one has to be smaller."
            )

    def _make_boundary(self) -> tuple[Piece, ...]:
        return (
            Arc("inner", self.center, self.inner, 0.0, -FULL_TURN),
            Arc("outer", self.center, self.outer, 0.0, FULL_TURN),
        )

    def _make_bounds(self) -> Floats:
        return _box(self.center, self.outer)

    def _level(self, points: Floats) -> Floats:
        radius = np.hypot(*(points - np.array(self.center)).T)
        return np.maximum(radius - self.outer, self.inner - radius)
