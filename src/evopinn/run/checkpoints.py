"""Final states of trainings that later ones may go on from."""

import heapq
import math
import shutil
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from evopinn.errors import RunError
from evopinn.run.evaluation import Assignment
from evopinn.run.place import SAFE
from evopinn.run.reading import Reader
from evopinn.searchers import Task

CHECKPOINTS = "checkpoints"


class Checkpoints:
    """The states of the best trainings of the latest number of epochs, as files.

    A state has a hundred vectors as long as the network's parameters: no more are kept than can be elitists.

    Args:
        directory: The run's.
        count: How many trainings of a generation may be gone on from; 0 if none ever is.
        last: The generation from which on no training is gone on from.
    """

    def __init__(self, directory: Path, count: int, last: float = math.inf) -> None:
        self._directory = directory
        self._place = directory / CHECKPOINTS
        self._count = count
        self._last = last
        self._losses: dict[int, float] = {}
        self._effort: tuple[int, float] | None = None
        self._needed: frozenset[int] = frozenset()
        if count:
            with _explained(self._place):
                self._place.mkdir(exist_ok=True)

    def begin(self, tasks: Iterable[Task], known: Mapping[int, float]) -> None:
        """Take in the tasks of a round, and the losses of those that are known already."""
        if not self._count:
            return
        listed = list(tasks)
        # Elitists are not trained again for the same effort, so theirs may stem from an earlier round of it.
        effort = (listed[0].epochs, listed[0].coarseness)
        if effort != self._effort:
            self._effort, self._losses = effort, {}
        unsettled = [task for task in listed if task.number not in known]
        self._needed = frozenset(task.continues for task in unsettled if task.continues is not None)
        self._losses |= known
        if unsettled:  # a resumed run passes through rounds whose successors have left states by now
            self._prune(between_rounds=True)

    def assignment(self, task: Task) -> Assignment:
        """What a worker is to do for a task: also how what it goes on from came about, and what to keep."""
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
        """A training with a higher loss than this will not be gone on from."""
        best = heapq.nsmallest(self._count, self._losses.values())
        return best[-1] if len(best) == self._count and best else float("inf")

    def settle(self, task: Task, loss: float) -> None:
        """Take in how a task came out."""
        if self._count:
            self._losses[task.number] = loss
            self._prune()

    def discard(self) -> None:
        """Remove all states: nothing is left to be trained."""
        if self._count:
            shutil.rmtree(self._place, ignore_errors=True)

    def _prune(self, *, between_rounds: bool = False) -> None:
        threshold = self.threshold
        # Of those with the same loss, such as networks that are constant, any may be chosen.
        kept = {number for number, loss in self._losses.items() if loss <= threshold} | self._needed
        with _explained(self._place):
            for path in self._place.iterdir():
                number = int(path.stem) if path.stem.isdigit() else None
                # Within a round, a file may be of a training that has ended and is not recorded yet.
                if number not in kept and (between_rounds or number in self._losses):
                    path.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._place / f"{number:08d}.safetensors"


@contextmanager
def _explained(place: Path) -> Generator[None]:
    """Turn the system's errors into an explanation."""
    try:
        yield
    except OSError as error:
        raise RunError(f"the states in {place} cannot be kept in order: {error.strerror}. {SAFE}") from error


def _assignment(task: Task, keep: Path | None) -> Assignment:
    return Assignment(task.genome.text, task.epochs, task.seed, task.coarseness, keep=keep)
