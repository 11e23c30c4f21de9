"""One contestant at work: how long a loss and gradient takes, and how much memory."""

import statistics
import time

import numpy as np
from numpy.typing import NDArray

from evopinn.bench.cases import Case
from evopinn.bench.contestants import Contestant, load_contestant, make_contestant
from evopinn.bench.memory import process_memory

CACHES_MATTER = 0.4
"""Seconds: memory that a processor's cache holds is read in a tenth of that."""


class Evaluation:
    """A contestant's evaluations; made for `Isolated`.

    Args:
        contestant: A peer or an engine.
        precision: float64 or float32.
    """

    def __init__(self, contestant: str, precision: str = "float64") -> None:
        self.contestant = contestant
        self.precision = precision
        load_contestant(contestant)
        self.before = process_memory("VmRSS")
        self.made: Contestant | None = None

    def loaded(self) -> bool:
        """Whether it can be used: an answer says so."""
        return True

    def prepare(self, case: Case) -> float:
        """Get ready for a case and evaluate it once; the seconds that took."""
        problem, genome = case.statement(), case.genome
        self.made = None  # so that there is never more than one in memory
        began = time.perf_counter()
        self.made = make_contestant(self.contestant, problem, genome, self.precision)
        self.made.evaluate()
        return time.perf_counter() - began

    def seconds(self) -> float:
        """The time of one evaluation in a row of them, as in a training.

        Others have had the processor's caches in the meantime, so the first of a turn does not count, except
        where it takes so long that caches make no difference.
        """
        first = self._timed()
        return first if first > CACHES_MATTER else self._timed()

    def _timed(self) -> float:
        began = time.perf_counter()
        self._prepared.evaluate()
        return time.perf_counter() - began

    def median(self, rounds: int) -> float:
        """The median time of some evaluations."""
        return statistics.median(self.seconds() for _ in range(rounds))

    def values(self) -> tuple[float, NDArray[np.float64]]:
        """The loss and its gradient, in the order of θ."""
        return self._prepared.evaluate(), self._prepared.gradient()

    def peak(self) -> int:
        """Bytes at the worst moment so far, beyond what imports alone took."""
        return process_memory("VmHWM") - self.before

    @property
    def _prepared(self) -> Contestant:
        if self.made is None:
            raise RuntimeError("prepare a case first.")
        return self.made
