"""Checkpoints: the final states of trainings that later ones may continue."""

import heapq
import math
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from evopinn.search import Rank, Score, Task
from evopinn.store.directory import SAFE, disk_errors
from evopinn.store.reader import Reader
from evopinn.workers.evaluation import Assignment

CHECKPOINTS = "checkpoints"


class Checkpoints:
    """The states of the best trainings of the current length, as files.

    A state can have a hundred vectors as long as the network's parameters, so only those of possible elitists
    are kept.

    Args:
        directory: The run's.
        count: How many trainings of a generation later ones may continue; 0 if none.
        last: The first generation whose trainings are never continued.
    """

    def __init__(self, directory: Path, count: int, last: float = math.inf) -> None:
        self._directory = directory
        self._place = directory / CHECKPOINTS
        self._failure = f"the checkpoints in {self._place} cannot be written or removed"
        self._count = count
        self._last = last
        self._ranks: dict[int, Rank] = {}
        self._effort: tuple[int, float] | None = None
        self._needed: frozenset[int] = frozenset()
        if count:
            with disk_errors(self._failure, SAFE):
                self._place.mkdir(exist_ok=True)

    def begin(self, tasks: Iterable[Task], known: Mapping[int, float]) -> None:
        """Begin a round with its tasks and the losses that are known already."""
        if not self._count:
            return
        listed = list(tasks)
        # Elitists are not trained again for the same effort, so their states may be from an earlier round.
        effort = (listed[0].epochs, listed[0].coarseness)
        if effort != self._effort:
            self._effort, self._ranks = effort, {}
        unsettled = [task for task in listed if task.number not in known]
        self._needed = frozenset(task.continues for task in unsettled if task.continues is not None)
        self._ranks |= {number: Rank.of(Score(loss)) for number, loss in known.items()}
        if unsettled:  # a resumed run also passes through rounds whose successors have saved states
            self._prune(between_rounds=True)

    def assignment(self, task: Task) -> Assignment:
        """A worker's assignment for a task: with the trainings that it continues, and what to save."""
        keep = self._path(task.number) if self._count and task.generation < self._last else None
        before = () if task.continues is None else tuple(self._history(task.continues))
        return replace(_assignment(task, keep), before=before, keep_below=self.threshold)

    def _history(self, number: int | None) -> Iterator[Assignment]:
        with Reader(self._directory) as reader:
            while number is not None:
                task = reader.task(number)
                yield _assignment(task, self._path(number))
                number = task.continues

    @property
    def threshold(self) -> float:
        """The loss above which no training is continued."""
        best = heapq.nsmallest(self._count, self._ranks.values())
        return best[-1].loss if len(best) == self._count and best else math.inf

    def settle(self, task: Task, loss: float) -> None:
        """Register the loss of a settled task."""
        if self._count:
            self._ranks[task.number] = Rank.of(Score(loss))
            self._prune()

    def discard(self) -> None:
        """Remove all states once nothing is left to train."""
        if self._count:
            shutil.rmtree(self._place, ignore_errors=True)

    def _prune(self, *, between_rounds: bool = False) -> None:
        threshold = self.threshold
        # Any of several with the same loss, such as constant networks, may be chosen.
        kept = {number for number, rank in self._ranks.items() if rank.loss <= threshold} | self._needed
        with disk_errors(self._failure, SAFE):
            for path in self._place.iterdir():
                number = int(path.stem) if path.stem.isdigit() else None
                # Within a round, a file may belong to a training that has ended but is not recorded yet.
                if number not in kept and (between_rounds or number in self._ranks):
                    path.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._place / f"{number:08d}.safetensors"


def _assignment(task: Task, keep: Path | None) -> Assignment:
    return Assignment(task.genome.text, task.epochs, task.seed, task.coarseness, keep=keep)
