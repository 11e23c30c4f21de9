"""Trimming: the boundary of a union, difference or intersection from the boundaries of its two members.

A point p of a piece with outward normal n belongs to the boundary of the result if and only if p + εn is
outside and p − εn is inside the result. Pieces are first split wherever the other member's boundary may cross
them, so that each cell is kept or dropped as a whole and lengths stay exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from evopinn.problem.arrays import Floats
from evopinn.problem.domains.pieces import Piece

_PROBES = np.array([0.3819660113, 0.5477225575, 0.6928203230])
"""The test points within a cell, as irrational fractions: hardly any lies on a seam inside a member.

A middle would: think of two squares side by side, cut by a third that is centered on their common edge.
"""


@dataclass(frozen=True)
class Trimmer:
    """The test of pieces against the result of an operation.

    Attributes:
        level: Level of the result: negative inside, positive outside.
        probe: ε, the distance from the boundary at which the level is evaluated.
        tolerance: Distance under which points are the same.
    """

    level: Callable[[Floats], Floats]
    probe: float
    tolerance: float

    def boundary(self, first: Sequence[Piece], second: Sequence[Piece]) -> tuple[Piece, ...]:
        """The boundary of the result, from the oriented boundaries of both members.

        Where both members have the same piece, the first one's (and so its part name) is kept.
        """
        kept = [cell for piece in first for cell in self._trim(piece, second, ())]
        kept += [cell for piece in second for cell in self._trim(piece, first, tuple(kept))]
        return tuple(kept)

    def _trim(self, piece: Piece, others: Sequence[Piece], taken: Sequence[Piece]) -> list[Piece]:
        ticks = [np.array([0.0, *cuts, 1.0]) for cuts in piece.breaks(others, self.tolerance)]
        indices = list(product(*(range(len(tick) - 1) for tick in ticks)))
        lower = np.array([[tick[i] for tick, i in zip(ticks, index, strict=True)] for index in indices])
        upper = np.array([[tick[i + 1] for tick, i in zip(ticks, index, strict=True)] for index in indices])
        votes = np.zeros(len(indices), dtype=np.intp)
        for fraction in _PROBES:
            points = piece.at(lower + fraction * (upper - lower))
            step = self.probe * piece.normals(points)
            belongs = (self.level(points + step) > 0) & (self.level(points - step) < 0)
            for other in taken:
                belongs &= ~other.contains(points, self.tolerance)
            votes += belongs
        kept = [index for index, vote in zip(indices, votes, strict=True) if 2 * vote > len(_PROBES)]
        return [
            piece.between(
                [float(tick[i]) for tick, i in zip(ticks, low, strict=True)],
                [float(tick[i]) for tick, i in zip(ticks, high, strict=True)],
            )
            for low, high in _merged(kept)
        ]


_Block = tuple[tuple[int, ...], tuple[int, ...]]
"""Lower and upper tick of a block of cells, per parameter."""


def _merged(cells: Sequence[tuple[int, ...]]) -> list[_Block]:
    """Join neighbouring cells into larger blocks to undo needless splits."""
    blocks: list[_Block] = [(cell, tuple(i + 1 for i in cell)) for cell in cells]
    for axis in reversed(range(len(cells[0]) if cells else 0)):
        rows: dict[tuple[object, ...], list[_Block]] = {}
        for low, high in blocks:
            others = low[:axis] + low[axis + 1 :], high[:axis] + high[axis + 1 :]
            rows.setdefault(others, []).append((low, high))
        blocks = [block for row in rows.values() for block in _joined(row, axis)]
    return blocks


def _joined(row: list[_Block], axis: int) -> list[_Block]:
    """Join the blocks of a row, which differ along `axis` only, wherever they touch."""
    ordered = sorted(row, key=lambda block: block[0][axis])
    gaps = [
        place
        for place, (block, following) in enumerate(pairwise(ordered), start=1)
        if block[1][axis] != following[0][axis]
    ]
    return [(ordered[begin][0], ordered[end - 1][1]) for begin, end in pairwise([0, *gaps, len(ordered)])]
