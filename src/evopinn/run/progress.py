"""Keeping count of a search, for whoever watches it."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evopinn.run.course import LossCourse
from evopinn.run.listed import RoundKind, round_kind
from evopinn.run.reading import Reader
from evopinn.run.snapshot import Phase, Snapshot
from evopinn.searchers import Task, Workload

Watcher = Callable[[Snapshot], None]
_SHOWN = 10
_INTERVAL = 0.5


@dataclass(frozen=True)
class Subject:
    """What is watched: the run's directory, the names of its problem and method, its workers."""

    directory: Path
    problem: str
    method: str
    workers: int


class Tally:
    """Counts what is done and reports it, at most twice a second.

    Args:
        subject: What is counted.
        workload: What there is to do, at most.
        watcher: Who is told.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        subject: Subject,
        workload: Workload,
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._subject = subject
        self._workload = workload
        self._watcher = watcher
        self._clock = clock
        self._began = clock()
        self._reported = -math.inf
        self._round: RoundKind = "generation"
        self._generation = self._done = self._asked = 0
        self._trained = self._failed = self._epochs = self._session_epochs = 0
        self._saved: dict[int, int] = {}
        self._course = LossCourse()

    def begin(self, tasks: Sequence[Task]) -> None:
        """A round begins, whose tasks are in the store."""
        self._round = round_kind(tasks[0].origin.operations)
        self._generation, self._done, self._asked = tasks[0].generation, 0, len(tasks)
        continued = {task.number: task.continues for task in tasks if task.continues is not None}
        with Reader(self._subject.directory) as reader:
            self._saved = {number: reader.task(before).epochs for number, before in continued.items()}

    def settle(self, task: Task, loss: float, *, earlier: bool) -> None:
        """A task is settled, now or in an earlier session."""
        self._done += 1
        self._trained += 1
        self._failed += not math.isfinite(loss)
        self._course.add(loss, task.coarseness)
        epochs = task.epochs - self._saved.get(task.number, 0)
        self._epochs += epochs
        self._session_epochs += 0 if earlier else epochs

    def report(self, phase: Phase | None = None) -> None:
        """Tell how it stands, unless that was told a moment ago and the phase is the same."""
        now = self._clock()
        if phase is None and now - self._reported < _INTERVAL and self._done < self._asked:
            return
        self._reported = now
        with Reader(self._subject.directory) as reader:
            hall_of_fame = reader.hall_of_fame(_SHOWN)
        searching: Phase = "evaluating" if self._round == "final" else "searching"
        seconds = now - self._began
        rate = self._session_epochs / seconds if seconds > 0 else 0.0
        left = max(self._workload.epochs - self._epochs, 0)
        self._watcher(
            Snapshot(
                directory=self._subject.directory,
                problem=self._subject.problem,
                method=self._subject.method,
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
                workers=self._subject.workers,
                hall_of_fame=hall_of_fame,
                course=self._course.values,
            )
        )
