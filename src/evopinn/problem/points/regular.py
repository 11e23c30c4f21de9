"""Regular points: along axes, on lattices, and on pieces of a boundary."""

from collections.abc import Sequence

import numpy as np

from evopinn.problem.arrays import Floats, Integers
from evopinn.problem.domains import Curve, Face, Piece, chains
from evopinn.problem.points.counts import shares

_CLOSE = 1e-9
"""How far off a face a node of its grid may be by rounding, relative to the size of the face."""


def nodes_of(low: float, high: float, count: int) -> Floats:
    """`count` equispaced values from `low` to `high`, both included; a single one is the middle."""
    return np.linspace(low, high, count) if count > 1 else np.array([(low + high) / 2])


def midpoints_of(low: float, high: float, count: int) -> Floats:
    """The middles of `count` equal cells from `low` to `high`."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


def lattice(axes: Sequence[Floats]) -> Floats:
    """All combinations of values along the axes, the last axis fastest; shape (n, len(axes))."""
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def with_times(points: Floats, times: Floats) -> Floats:
    """Each of the points (n, d) at each of the times (m,), shape (n · m, d + 1)."""
    return np.column_stack([np.repeat(points, len(times), axis=0), np.tile(times, len(points))])


def spread(pieces: Sequence[Piece], counts: Sequence[int], joint: float) -> tuple[Floats, Integers]:
    """Place points regularly on pieces of the same dimension.

    Args:
        pieces: Ends (each gets one point), curves (points at equal distances along each chain of them) or
            faces (nodes of a grid on each plane).
        counts: First the counts in space: none is needed for ends, one for curves, two for faces.
        joint: How far the end of a curve may be from the start of the next.

    Returns:
        Points (n, d), and for each the index of its piece (n,).
    """
    if isinstance(pieces[0], Curve):
        return _on_curves(pieces, counts[0], joint)
    if isinstance(pieces[0], Face):
        return _on_faces([piece for piece in pieces if isinstance(piece, Face)], (counts[0], counts[1]))
    return np.concatenate([piece.at(np.empty((1, 0))) for piece in pieces]), np.arange(len(pieces))


def _on_curves(pieces: Sequence[Piece], count: int, joint: float) -> tuple[Floats, Integers]:
    found = chains(pieces, joint)
    lengths = np.array([chain.length for chain in found])
    spread_out = [chain.equispaced(n) for chain, n in zip(found, shares(count, lengths), strict=True) if n]
    return np.concatenate([points for points, _ in spread_out]), np.concatenate(
        [homes for _, homes in spread_out]
    )


def _on_faces(faces: Sequence[Face], counts: tuple[int, int]) -> tuple[Floats, Integers]:
    """Nodes on each plane, over the rectangle around its faces; those on none of the faces are left out."""
    planes: dict[tuple[int, float, int], list[int]] = {}
    for index, face in enumerate(faces):
        planes.setdefault((face.axis, face.position, face.sign), []).append(index)
    points: list[Floats] = []
    homes: list[Integers] = []
    for members in planes.values():
        boxes = np.array([faces[member].bounds for member in members])
        low, high = boxes[:, :, 0].min(axis=0), boxes[:, :, 1].max(axis=0)
        plane = faces[members[0]]
        nodes = np.full((counts[0] * counts[1], 3), plane.position)
        tangents = list(plane.tangents)
        steps = [nodes_of(low[axis], high[axis], n) for axis, n in zip(tangents, counts, strict=True)]
        nodes[:, tangents] = lattice(steps)
        owners = np.full(len(nodes), -1, dtype=np.intp)
        for member in reversed(members):
            owners[faces[member].contains(nodes, _CLOSE * float(np.max(high - low)))] = member
        points.append(nodes[owners >= 0])
        homes.append(owners[owners >= 0])
    return np.concatenate(points), np.concatenate(homes)
