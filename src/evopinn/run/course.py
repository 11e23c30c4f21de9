"""The course of the best loss, in a few numbers however long a search is."""

import math


class LossCourse:
    """The least loss after each training, of many trainings after every few.

    Losses on fewer points do not compare with those on more, so the first on more points begins anew.

    Args:
        most: How many numbers to keep, at most; even.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._every = 1
        self._count = 0
        self._best = math.inf
        self._coarseness = math.inf
        self._values: list[float] = []

    def add(self, loss: float, coarseness: float = 1.0) -> None:
        """A training is over.

        Args:
            loss: Its loss; infinite or not a number if it failed.
            coarseness: By how much fewer its points are along each axis.
        """
        if math.isfinite(loss) and coarseness <= self._coarseness:
            self._best = min(self._best, loss) if coarseness == self._coarseness else loss
            self._coarseness = coarseness
        self._count += 1
        if self._count % self._every:
            return
        self._values.append(self._best)
        if len(self._values) == self._most:
            self._values = self._values[1::2]
            self._every *= 2

    @property
    def values(self) -> tuple[float, ...]:
        """The least losses, in order, the newest last; infinite before the first that is finite."""
        if self._count % self._every:
            return (*self._values, self._best)
        return tuple(self._values)
