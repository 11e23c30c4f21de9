"""Regular values along axes, and their combinations."""

from collections.abc import Sequence

import numpy as np

from evopinn.problem.domains.checks import Floats


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
