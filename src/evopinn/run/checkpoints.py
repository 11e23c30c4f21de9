"""Final states of trainings that later ones may go on from."""

import heapq
from collections.abc import Iterable, Mapping
from pathlib import Path

from evopinn.errors import RunError
from evopinn.searchers import Task

CHECKPOINTS = "checkpoints"


class Checkpoints:
    """The states of the best trainings of the latest number of epochs, as files.

    A state has a hundred vectors as long as the network's parameters: no more are kept than can be elitists.

    Args:
        directory: The run's.
        count: How many trainings of a generation may be gone on from; 0 if none ever is.
    """

    def __init__(self, directory: Path, count: int) -> None:
        self._place = directory / CHECKPOINTS
        self._count = count
        self._losses: dict[int, float] = {}
        self._effort: tuple[int, float] | None = None
        self._needed: frozenset[int] = frozenset()
        if count:
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

    def start(self, task: Task) -> Path | None:
        """What a task goes on from."""
        if task.continues is None:
            return None
        path = self._path(task.continues)
        if not path.is_file():
            raise RunError(
                f"task {task.number} goes on from {path}, which is missing; restore it from a copy."
            )
        return path

    def keep(self, task: Task) -> Path | None:
        """Where a task is to leave its state, if its loss is not above `threshold`."""
        return self._path(task.number) if self._count else None

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

    def _prune(self, *, between_rounds: bool = False) -> None:
        threshold = self.threshold
        # Of those with the same loss, such as networks that are constant, any may be chosen.
        kept = {number for number, loss in self._losses.items() if loss <= threshold} | self._needed
        for path in self._place.iterdir():
            number = int(path.stem) if path.stem.isdigit() else None
            # Within a round, a file may be of a training that has ended and is not recorded yet.
            if number not in kept and (between_rounds or number in self._losses):
                path.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._place / f"{number:08d}.safetensors"
