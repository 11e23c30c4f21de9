"""The weights of a run's best networks, saved under the numbers of their tasks."""

import math
import shlex
import sys
from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path

from evopinn import training
from evopinn.errors import RunError, StoredModelError
from evopinn.search import Score, Task
from evopinn.search.ranking import LAST, Rank
from evopinn.search.task import CANDIDATE
from evopinn.store.directory import SAFE, WEIGHTS, disk_errors
from evopinn.store.reader import Reader

HALL_OF_FAME = 10


def save_weights(directory: Path, number: int, result: "training.TrainingResult") -> None:
    """Save the network of a task; each of its files is written completely or not at all."""
    try:
        with _failures(directory):
            training.save(result, _name(directory, number))
    except StoredModelError as error:
        raise RunError(f"{error} {SAFE}") from error


def load_weights(directory: Path, number: int) -> "training.TrainingResult":
    """The network of a task.

    Raises:
        StoredModelError: It was not kept, or is damaged.
    """
    try:
        return training.load(_name(directory, number))
    except StoredModelError as error:
        command = f"`evopinn resume {shlex.quote(str(directory))}`"
        raise StoredModelError(f"{error} {command} trains it again.") from error


def prune_weights(directory: Path, keep: Collection[int]) -> None:
    """Remove all networks except some, and incomplete files of a killed process."""
    kept = {
        f"{_name(directory, number).name}{ending}" for number in keep for ending in (".json", ".safetensors")
    }
    with _failures(directory):
        for path in (directory / WEIGHTS).iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)


def lost_weights(directory: Path) -> list[int]:
    """The numbers of the tasks whose networks should be kept but are missing or damaged."""
    with Reader(directory) as reader:
        wanted = {entry.task for entry in reader.hall_of_fame(HALL_OF_FAME)}
        for finalist in reader.finalists(sys.maxsize):
            losses = zip(finalist.tasks, finalist.losses, strict=True)
            wanted |= {task for task, loss in losses if math.isfinite(loss)}
    return [number for number in sorted(wanted) if not _is_sound(directory, number)]


def _is_sound(directory: Path, number: int) -> bool:
    try:
        load_weights(directory, number)
    except (OSError, StoredModelError):
        return False
    return True


def _failures(directory: Path) -> AbstractContextManager[None]:
    return disk_errors(f"the networks in {directory / WEIGHTS} cannot be written or removed", SAFE)


def _name(directory: Path, number: int) -> Path:
    return directory / WEIGHTS / f"{number:08d}"


class WeightsKeeper:
    """Saves the networks of the hall of fame and of the final evaluations during a run.

    A network is saved before its evaluation is recorded, and removed after that of a better one is. So the
    network of every recorded best evaluation exists, even if the process is killed.

    Args:
        directory: The run's.
        size: The number of genomes in the hall of fame.
    """

    def __init__(self, directory: Path, size: int = HALL_OF_FAME) -> None:
        self._directory = directory
        self._size = size
        self._worst = LAST
        self._changed = True
        self.prune()

    def offer(self, task: Task, loss: float, result: "training.TrainingResult") -> None:
        """Save a network if it is among the best so far, or belongs to a final evaluation."""
        final = CANDIDATE in task.origin.operations
        if math.isfinite(loss) and (
            final or Rank.of(Score(loss), coarseness=task.coarseness, task=task.number) < self._worst
        ):
            save_weights(self._directory, task.number, result)
            self._changed = True

    def prune(self) -> None:
        """Remove networks that are no longer among the best; call it after recording the offered ones."""
        if not self._changed:
            return
        with Reader(self._directory) as reader:
            best = reader.hall_of_fame(self._size)
            final = {task for finalist in reader.finalists(sys.maxsize) for task in finalist.tasks}
        prune_weights(self._directory, {entry.task for entry in best} | final)
        if len(best) == self._size:
            self._worst = best[-1].rank
        self._changed = False
