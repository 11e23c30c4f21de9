"""The course of the best loss, in a few numbers however long a search is."""

import math
from collections.abc import Iterable


class BestLoss:
    """The best loss so far.

    Losses on fewer points do not compare with those on more, so the first on more points begins anew.
    """

    def __init__(self) -> None:
        self.value = math.inf
        self._coarseness = math.inf

    def add(self, loss: float, coarseness: float = 1.0) -> bool:
        """A training is over.

        Args:
            loss: Its loss; infinite or not a number if it failed.
            coarseness: By how much fewer its points are along each axis.

        Returns:
            Whether it is the best now.
        """
        first = coarseness < self._coarseness
        if not math.isfinite(loss) or coarseness > self._coarseness or not (first or loss < self.value):
            return False
        self.value, self._coarseness = loss, coarseness
        return True


def best_so_far(losses: Iterable[float], coarsenesses: Iterable[float]) -> list[float]:
    """The best loss after each training, infinite before the first that is finite; see `BestLoss`."""
    best = BestLoss()
    found: list[float] = []
    for loss, coarseness in zip(losses, coarsenesses, strict=True):
        best.add(loss, coarseness)
        found.append(best.value)
    return found


class LossCourse:
    """The best loss after each training, of many trainings after every few; see `BestLoss`.

    Args:
        most: How many numbers to keep, at most; even.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._every = 1
        self._count = 0
        self._best = BestLoss()
        self._values: list[float] = []

    def add(self, loss: float, coarseness: float = 1.0) -> None:
        """A training is over; see `BestLoss.add`."""
        self._best.add(loss, coarseness)
        self._count += 1
        if self._count % self._every:
            return
        self._values.append(self._best.value)
        if len(self._values) == self._most:
            self._values = self._values[1::2]
            self._every *= 2

    @property
    def values(self) -> tuple[float, ...]:
        """The best losses, in order, the newest last; infinite before the first that is finite."""
        if self._count % self._every:
            return (*self._values, self._best.value)
        return tuple(self._values)
