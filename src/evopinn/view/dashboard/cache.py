"""A cache of runs, so that each request reads only what is new."""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evopinn.run.progress import BestLoss
from evopinn.store.browser import Browser, RoundStart
from evopinn.store.directory import DATABASE, WEIGHTS, writer_of
from evopinn.store.records import GenerationSummary
from evopinn.view.numbers import LEAST_FOR_QUARTILES

Quartiles = tuple[float, float, float]
Stamp = tuple[object, ...]

_SETTLED = 0.1
"""Seconds after which a file's time tells it from a later state: clocks of file systems tick."""

_THINNED = 400


@dataclass
class LossAgainstCost:
    """The best loss so far against cost, as far as it has been read.

    Attributes:
        last: The evaluation that was read last.
        trainings: The number of attempts up to it.
        epochs: The epochs spent up to it.
        seconds: The time of workers up to it.
        best: The best loss; see `BestLoss`.
        improvements: Trainings, epochs, seconds and loss, each time that there was a better one.
    """

    last: int = 0
    trainings: int = 0
    epochs: int = 0
    seconds: float = 0.0
    best: BestLoss = field(default_factory=BestLoss)
    improvements: list[tuple[int, int, float, float]] = field(
        default_factory=list[tuple[int, int, float, float]]
    )

    def follow(self, browser: Browser) -> None:
        """Read the new evaluations."""
        for number, coarseness, loss, epochs, seconds in browser.steps_after(self.last):
            self.last = number
            self.trainings += 1
            self.epochs += epochs
            self.seconds += seconds
            if loss is not None and self.best.add(loss, coarseness):
                self.improvements.append((self.trainings, self.epochs, self.seconds, loss))

    def points(self) -> list[tuple[int, int, float, float]]:
        """The improvements, at most some hundreds, and the current state."""
        every = max(1, -(-len(self.improvements) // _THINNED))
        last = [(self.trainings, self.epochs, self.seconds, self.best.value)] if self.improvements else []
        return [*self.improvements[::every], *self.improvements[-1:], *last]


@dataclass
class RunCache:
    """The cache of one run.

    Attributes:
        created: The start of the run, which tells it from another one in the same directory.
        lock: Held while the run is read.
        quartiles: The quartiles of the losses of finished generations.
        progress: The best loss so far.
        answers: The answers by question, each with the state of the files that it was made from.
    """

    created: float | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    quartiles: dict[int, Quartiles | None] = field(default_factory=dict[int, "Quartiles | None"])
    progress: LossAgainstCost = field(default_factory=LossAgainstCost)
    answers: dict[str, tuple[Stamp, Any]] = field(default_factory=dict[str, tuple[Stamp, Any]])

    def know(self, created: float) -> None:
        """Clear the cache if another run is here now."""
        if self.created != created:
            self.created, self.quartiles, self.progress = created, {}, LossAgainstCost()

    def quartiles_of(
        self,
        browser: Browser,
        generations: Sequence[GenerationSummary],
        rounds: Sequence[RoundStart],
        *,
        finished: bool,
    ) -> dict[int, Quartiles | None]:
        """The quartiles of all generations; finished ones are read once."""
        ahead = [each for each in rounds if each.generation not in self.quartiles]
        if not ahead:
            return dict(self.quartiles)
        found = _quartiles(browser.losses_from(min(each.first for each in ahead)))
        last = rounds[-1].generation
        for each in generations:
            over = each.settled == each.asked and (finished or each.generation < last)
            if over and each.generation not in self.quartiles:
                self.quartiles[each.generation] = found.get(each.generation)
        return found | self.quartiles


class RunCaches:
    """The caches of runs, of which only the most recently used are kept.

    Args:
        most: The maximum number of runs; None for all that `keep_only` keeps.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._runs: OrderedDict[Path, RunCache] = OrderedDict()

    def of(self, directory: Path) -> RunCache:
        """The cache of a run."""
        with self._lock:
            found = self._runs.setdefault(directory, RunCache())
            self._runs.move_to_end(directory)
            while self._most is not None and len(self._runs) > self._most:
                self._runs.popitem(last=False)
        return found

    def knows(self, directory: Path) -> bool:
        """Whether a run has a cache."""
        return directory in self._runs

    def keep_only(self, directories: Iterable[Path]) -> None:
        """Forget all other runs."""
        kept = set(directories)
        with self._lock:
            for gone in [directory for directory in self._runs if directory not in kept]:
                del self._runs[gone]

    def answer(self, directory: Path, question: str, make: Callable[[RunCache], Any]) -> Any:
        """The cached answer if the run has not changed since, otherwise a new one."""
        remembered = self.of(directory)
        with remembered.lock:
            stamp, settled = stamp_of(directory)
            known = remembered.answers.get(question)
            if known is not None and known[0] == stamp:
                return known[1]
            try:
                value = make(remembered)
            except BaseException:  # Ctrl-C too must leave nothing half read
                remembered.created = None  # all of it is read anew
                raise
            if settled:
                remembered.answers[question] = stamp, value
            return value


def stamp_of(directory: Path) -> tuple[Stamp, bool]:
    """A stamp that changes whenever a run does, and whether it is reliable yet."""
    parts: list[object] = [writer_of(directory)]
    newest = 0.0
    for name in (DATABASE, f"{DATABASE}-wal", WEIGHTS):
        try:
            status = (directory / name).stat()
        except OSError:
            parts.append(None)
            continue
        parts += [status.st_mtime_ns, status.st_size]
        newest = max(newest, status.st_mtime)
    return tuple(parts), time.time() - newest > _SETTLED


def _quartiles(losses: list[tuple[int, float]]) -> dict[int, Quartiles | None]:
    groups: dict[int, list[float]] = {}
    for generation, loss in losses:
        if math.isfinite(loss):
            groups.setdefault(generation, []).append(loss)
    return {
        generation: (float(low), float(middle), float(high))
        for generation, group in groups.items()
        if len(group) >= LEAST_FOR_QUARTILES
        for low, middle, high in [np.quantile(group, (0.25, 0.5, 0.75))]
    }
