"""Polygons, by shapely."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely

from evopinn.errors import DomainError
from evopinn.problem.arrays import Floats
from evopinn.problem.domains.arguments import entries_of, finite, pair, part_name
from evopinn.problem.domains.curves import Segment
from evopinn.problem.domains.domain import Shape
from evopinn.problem.domains.pieces import Piece


@dataclass(frozen=True)
class Polygon(Shape):
    """The inside of a polygon that does not cross itself.

    Attributes:
        vertices: The corners in order, either way round; the first need not be repeated at the end.
        names: A part name for each edge, the first from vertex 0 to vertex 1; edges may share a name.
            If not given, "edge-0", "edge-1" and so on.

    Examples:
        >>> Polygon([(0, 0), (1, 0), (0, 1)], names=["floor", "slope", "wall"]).parts
        ('floor', 'slope', 'wall')
    """

    vertices: Sequence[tuple[float, float]]
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        vertices = _vertices(self.vertices)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "names", _names(self.names, len(vertices)))
        if not shapely.is_valid(self._polygon):
            reason = shapely.is_valid_reason(self._polygon)
            raise DomainError(
                f"the polygon crosses or touches itself ({reason}); give its vertices in order around it."
            )

    def _make_boundary(self) -> tuple[Piece, ...]:
        names = self.names or ()
        counterclockwise = self._polygon.exterior.is_ccw
        edges: list[Segment] = []
        for place, name in enumerate(names):
            edge = Segment(name, self.vertices[place], self.vertices[(place + 1) % len(self.vertices)])
            edges.append(edge if counterclockwise else edge.reversed())
        return tuple(edges)

    def _make_bounds(self) -> Floats:
        corners = np.array(self.vertices)
        return np.stack([corners.min(axis=0), corners.max(axis=0)], axis=1)

    def _level(self, points: Floats) -> Floats:
        # shapely leaves the type of `distance` partly open.
        distance = shapely.distance(  # pyright: ignore[reportUnknownMemberType]
            shapely.points(points), self._polygon.exterior
        )
        return np.where(shapely.contains_xy(self._polygon, points[:, 0], points[:, 1]), -distance, distance)

    @cached_property
    def _polygon(self) -> shapely.Polygon:
        return shapely.Polygon(self.vertices)


def _vertices(given: object) -> tuple[tuple[float, float], ...]:
    entries = entries_of(given)
    if entries is None:
        raise DomainError(f"Polygon needs a sequence of vertices (x, y), not {given!r}.")
    vertices: list[tuple[float, float]] = []
    for place, vertex in enumerate(entries):
        x, y = pair(f"vertex {place} of the polygon", vertex)
        vertices.append((finite(f"x of vertex {place}", x), finite(f"y of vertex {place}", y)))
    if len(vertices) > 1 and vertices[0] == vertices[-1]:
        vertices.pop()
    if len(vertices) < 3:
        raise DomainError(f"Polygon needs at least 3 different vertices, not {len(vertices)}.")
    for place, vertex in enumerate(vertices):
        if vertex == vertices[place - 1]:
            raise DomainError(
                f"vertex {place} of the polygon repeats the one before, {vertex}; leave it out."
            )
    return tuple(vertices)


def _names(given: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"edge-{place}" for place in range(count))
    if isinstance(given, str) or len(given) != count:
        raise DomainError(f"Polygon has {count} edges; names={given!r} has to give each of them one name.")
    return tuple(part_name(name) for name in given)
