"""Times of contestants, each in a process of its own: a loss and its gradient, and the memory they take."""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from evopinn.lab.bench.cases import Case
from evopinn.lab.bench.contestants import (
    Contestant,
    contestants,
    is_installed,
    load_contestant,
    make_contestant,
)
from evopinn.lab.bench.findings import CaseTimings, Timing
from evopinn.lab.bench.isolation import CrashedError, Isolated
from evopinn.lab.bench.machine import process_memory

Report = Callable[[str], None]

CACHES_MATTER = 0.4
"""Seconds: memory that a processor's cache holds is read in a tenth of that."""


class TimedContestant:
    """A contestant that times its evaluations; made for `Isolated`.

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
        """True: an answer shows that everything is loaded."""
        return True

    def prepare(self, case: Case) -> float:
        """Prepare a case and evaluate it once; the seconds that took."""
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


def time_contestants(cases: Sequence[Case], rounds: int, report: Report) -> list[CaseTimings]:
    """Time all contestants on all cases, interleaved, after one evaluation to warm up."""
    with ExitStack() as stack:
        names = [name for name in contestants() if is_installed(name)]
        running = {name: stack.enter_context(_Process(name)) for name in names}
        for process in running.values():
            process.call("loaded")  # imports that are still going on would disturb the first to be timed
        rows: list[CaseTimings] = []
        for number, case in enumerate(cases, 1):
            report(f"engines {number}/{len(cases)}: {case.problem}, {case.label}")
            rows.append(CaseTimings(case, _timings(running, case, rounds)))
        return rows


class _Process:
    """A contestant's process, replaced by a new one if it crashes."""

    def __init__(self, contestant: str) -> None:
        self.contestant = contestant
        self.process = Isolated(TimedContestant, contestant)

    def __enter__(self) -> "_Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close()

    def call(self, method: str, *arguments: object) -> float | None:
        """What the method returns, or nothing if the process crashed."""
        try:
            return self.process.call(method, *arguments)
        except CrashedError:
            self.process.close()
            self.process = Isolated(TimedContestant, self.contestant)
            return None


def _timings(running: dict[str, _Process], case: Case, rounds: int) -> dict[str, Timing]:
    setups = {name: process.call("prepare", case) for name, process in running.items()}
    ready = {name: setup for name, setup in setups.items() if setup is not None}
    seconds: dict[str, list[float]] = {name: [] for name in ready}
    for _ in range(rounds):
        for name in tuple(ready):
            took = running[name].call("seconds")
            if took is None:
                del ready[name]
            else:
                seconds[name].append(took)
    return {name: _timing(name, ready.get(name), seconds.get(name, [])) for name in contestants()}


def _timing(contestant: str, first: float | None, seconds: Sequence[float]) -> Timing:
    if not is_installed(contestant):
        return Timing(note="not installed")
    if first is None:
        return Timing(note="failed")
    median = statistics.median(seconds)
    return Timing(median, max(0.0, first - median))
