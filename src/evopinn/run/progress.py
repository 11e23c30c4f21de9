"""The progress of a search, counted while it runs and reported as snapshots."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from evopinn.search import Rank, Score, Task, Workload
from evopinn.search.ranking import LAST
from evopinn.store.reader import Reader
from evopinn.store.records import Entry, RoundKind, round_kind

Phase = Literal["loading", "starting", "measuring", "searching", "evaluating", "finished", "stopped"]
"""The phase of a session: it loads the problem, starts workers, measures the speed of trainings, trains
generations, makes final evaluations; or how it has ended."""

Watcher = Callable[["Snapshot"], None]

_SHOWN = 10
_INTERVAL = 0.5


@dataclass(frozen=True)
class Snapshot:
    """The state of a search at one moment.

    Attributes:
        directory: The run's.
        problem: The problem's name.
        method: The method's name; empty where trainings are only timed.
        phase: What the session is doing.
        round: The kind of round under way: a generation, or something else that is counted like one.
        generation: The number of the round, from 1; 0 before the first.
        generations: The number of generations, or batches, in all.
        done: Finished trainings of this round.
        asked: All trainings of this round.
        trained: Finished trainings, including those of earlier sessions.
        failed: How many of them have no finite loss.
        trainings: The maximum number of trainings.
        epochs: Finished epochs, by plan: a training that ended early counts in full.
        epochs_planned: Epochs of all trainings.
        seconds: Seconds since this session started.
        epochs_per_second: The speed of this session, all workers together; 0 while unknown.
        seconds_left: The predicted seconds until the end; None while unknown.
        workers: The number of workers.
        hall_of_fame: The best genomes so far, best first.
        course: The least loss so far, after each training or, if there are many, after every few.
        in_study: Whether the run is part of a study, which is resumed by the command that started it.
    """

    directory: Path
    problem: str
    method: str
    phase: Phase
    round: RoundKind = "generation"
    generation: int = 0
    generations: int = 0
    done: int = 0
    asked: int = 0
    trained: int = 0
    failed: int = 0
    trainings: int = 0
    epochs: int = 0
    epochs_planned: int = 0
    seconds: float = 0.0
    epochs_per_second: float = 0.0
    seconds_left: float | None = None
    workers: int = 1
    hall_of_fame: Sequence[Entry] = ()
    course: Sequence[float] = ()
    in_study: bool = False


class ProgressTracker:
    """Counts trainings and reports snapshots, at most twice a second.

    Args:
        start: The state before the first training.
        workload: The maximum of what there is to do.
        watcher: Receives the snapshots.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        start: Snapshot,
        workload: Workload,
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start = start
        self._workload = workload
        self._watcher = watcher
        self._clock = clock
        self._began = clock()
        self._reported = -math.inf
        self._round: RoundKind = "generation"
        self._generation = self._done = self._asked = 0
        self._trained = self._failed = self._epochs = self._session_epochs = 0
        self._saved: dict[int, int] = {}
        self._course = LossHistory()

    def begin(self, tasks: Sequence[Task]) -> None:
        """Begin a round, whose tasks are in the store."""
        self._round = round_kind(tasks[0].origin.operations)
        self._generation, self._done, self._asked = tasks[0].generation, 0, len(tasks)
        continued = {task.number: task.continues for task in tasks if task.continues is not None}
        with Reader(self._start.directory) as reader:
            self._saved = {number: reader.task(before).epochs for number, before in continued.items()}

    def settle(self, task: Task, loss: float, *, earlier: bool) -> None:
        """Count a task that was settled, now or in an earlier session."""
        self._done += 1
        self._trained += 1
        self._failed += not math.isfinite(loss)
        self._course.add(loss, task.coarseness)
        epochs = task.epochs - self._saved.get(task.number, 0)
        self._epochs += epochs
        self._session_epochs += 0 if earlier else epochs

    def report(self, phase: Phase | None = None) -> None:
        """Report a snapshot, unless one was reported a moment ago or a phase is given."""
        now = self._clock()
        if phase is None and now - self._reported < _INTERVAL and self._done < self._asked:
            return
        self._reported = now
        with Reader(self._start.directory) as reader:
            hall_of_fame = reader.hall_of_fame(_SHOWN)
        searching: Phase = "evaluating" if self._round == "final" else "searching"
        seconds = now - self._began
        rate = self._session_epochs / seconds if seconds > 0 else 0.0
        left = max(self._workload.epochs - self._epochs, 0)
        self._watcher(
            replace(
                self._start,
                phase=phase or searching,
                round=self._round,
                generation=self._generation,
                generations=self._workload.generations,
                done=self._done,
                asked=self._asked,
                trained=self._trained,
                failed=self._failed,
                trainings=self._workload.trainings,
                epochs=self._epochs,
                epochs_planned=self._workload.epochs,
                seconds=seconds,
                epochs_per_second=rate,
                seconds_left=left / rate if rate else None,
                hall_of_fame=hall_of_fame,
                course=self._course.values,
            )
        )


class BestLoss:
    """The best loss so far.

    Losses on fewer points cannot be compared with losses on more, so the first loss on more points replaces
    the best one.
    """

    def __init__(self) -> None:
        self._best = LAST

    @property
    def value(self) -> float:
        """The best loss so far; infinite before the first that is finite."""
        return self._best.loss

    def add(self, loss: float, coarseness: float = 1.0) -> bool:
        """Take in the loss of a training.

        Args:
            loss: Infinite or not-a-number if the training failed.
            coarseness: How many times fewer points it has along each axis.

        Returns:
            Whether it is the best loss now.
        """
        rank = Rank.of(Score(loss), coarseness=coarseness)
        if rank.failed or rank >= self._best:
            return False
        self._best = rank
        return True


def best_so_far(losses: Iterable[float], coarsenesses: Iterable[float]) -> list[float]:
    """The best loss after each training, infinite before the first that is finite; see `BestLoss`."""
    best = BestLoss()
    found: list[float] = []
    for loss, coarseness in zip(losses, coarsenesses, strict=True):
        best.add(loss, coarseness)
        found.append(best.value)
    return found


class LossHistory:
    """The best loss after each training or, if there are many, after every few; see `BestLoss`.

    Args:
        most: The maximum number of losses to keep; even.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._every = 1
        self._count = 0
        self._best = BestLoss()
        self._values: list[float] = []

    def add(self, loss: float, coarseness: float = 1.0) -> None:
        """Take in the loss of a training; see `BestLoss.add`."""
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
