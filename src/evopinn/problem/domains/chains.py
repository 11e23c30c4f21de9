"""Chains: the curves of a boundary put end to end, and points at equal distances along them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evopinn.problem.arrays import Floats, Integers
from evopinn.problem.domains.curves import Curve
from evopinn.problem.domains.pieces import Piece

_SNAP = 1e-9
"""A point this close to a corner (as a fraction of the chain's length) is put exactly on it."""


@dataclass(frozen=True)
class CurveChain:
    """Curves of which each starts where the one before ends.

    Attributes:
        curves: The curves in order.
        members: Their places in the sequence of pieces that the chain was made from.
        closed: Whether the last curve ends where the first starts.
    """

    curves: tuple[Curve, ...]
    members: tuple[int, ...]
    closed: bool

    @property
    def length(self) -> float:
        """Sum of the curves' lengths."""
        return sum(curve.measure for curve in self.curves)

    def equispaced(self, count: int) -> tuple[Floats, Integers]:
        """Points at equal distances: with both ends on an open chain, without repetition on a closed one.

        Args:
            count: Number of points; a single one on an open chain is its middle.

        Returns:
            The points (count, 2), and for each the place of its curve in the original sequence (count,).
            A point where two curves meet belongs to the one that starts there.
        """
        length = self.length
        if self.closed:
            distances = np.arange(count) * (length / count)
        elif count == 1:
            distances = np.array([length / 2])
        else:
            distances = np.linspace(0.0, length, count)
        starts = np.concatenate([[0.0], np.cumsum([curve.measure for curve in self.curves])[:-1]])
        owners = np.searchsorted(starts, distances + _SNAP * length, side="right") - 1
        points = np.empty((count, 2))
        for place, curve in enumerate(self.curves):
            mine = owners == place
            along = (distances[mine] - starts[place]) / curve.measure
            margin = _SNAP * length / curve.measure
            along = np.where(along < margin, 0.0, np.where(along > 1 - margin, 1.0, along))
            points[mine] = curve.at(along[:, None])
        return points, np.array(self.members, dtype=np.intp)[owners]


def chains(pieces: Sequence[Piece], tolerance: float) -> tuple[CurveChain, ...]:
    """Join the curves among `pieces` end to end as far as possible.

    Args:
        pieces: Pieces of a boundary in any order.
        tolerance: How far the end of a curve may lie from the start of the next.
    """
    curves = {place: piece for place, piece in enumerate(pieces) if isinstance(piece, Curve)}
    following = _following(curves, tolerance)
    heads = sorted(curves.keys() - set(following.values()))
    seen: set[int] = set()
    found: list[CurveChain] = []
    # Open chains first, from their first curve: what is left over then consists of closed ones.
    for head in [*heads, *curves]:
        members: list[int] = []
        place: int | None = head
        while place is not None and place not in seen:
            seen.add(place)
            members.append(place)
            place = following.get(place)
        if members:
            found.append(
                CurveChain(tuple(curves[m] for m in members), tuple(members), closed=place == members[0])
            )
    return tuple(found)


def _following(curves: dict[int, Curve], tolerance: float) -> dict[int, int]:
    """For each curve the one that starts where it ends; a start is used once, also where loops touch."""
    free = dict.fromkeys(curves)
    starts = {place: curve.start for place, curve in curves.items()}
    following: dict[int, int] = {}
    for place, curve in curves.items():
        end = curve.end
        gaps = {other: float(np.linalg.norm(starts[other] - end)) for other in free}
        nearest = min(gaps, key=lambda other: gaps[other], default=None)
        if nearest is not None and gaps[nearest] <= tolerance:
            following[place] = nearest
            del free[nearest]
    return following
