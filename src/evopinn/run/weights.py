"""The weights of a run's hall of fame: trained networks under the numbers of their tasks."""

import math
import re
import shlex
import sys
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from evopinn.errors import RunError, StoredModelError
from evopinn.lineage import CANDIDATE
from evopinn.run.place import SAFE, WEIGHTS
from evopinn.run.reading import Reader
from evopinn.searchers import Task
from evopinn.training import TrainingResult, load, save

HALL_OF_FAME = 10
_SIDECAR = re.compile(r"([0-9]{8,})\.json")


def save_weights(directory: Path, number: int, result: TrainingResult) -> None:
    """Keep the network that a task gave; each of its files is written whole or not at all."""
    with _explained(directory):
        save(result, _name(directory, number))


def load_weights(directory: Path, number: int) -> TrainingResult:
    """The network that a task gave.

    Raises:
        StoredModelError: It was not kept, or is damaged.
    """
    try:
        return load(_name(directory, number))
    except StoredModelError as error:
        command = f"`evopinn resume {shlex.quote(str(directory))}`"
        raise StoredModelError(f"{error} {command} trains it again.") from error


def kept_weights(directory: Path) -> frozenset[int]:
    """The numbers of the tasks whose networks are kept; none where they cannot be listed."""
    try:
        names = [path.name for path in (directory / WEIGHTS).iterdir()]
    except OSError:
        return frozenset()
    # The sidecar is written last, so that where it is the tensors are too.
    return frozenset(int(found[1]) for name in names if (found := _SIDECAR.fullmatch(name)))


def prune_weights(directory: Path, keep: Collection[int]) -> None:
    """Remove all networks but some, and what a killed process left half-written."""
    kept = {
        f"{_name(directory, number).name}{ending}" for number in keep for ending in (".json", ".safetensors")
    }
    with _explained(directory):
        for path in (directory / WEIGHTS).iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)


def lost_weights(directory: Path) -> list[int]:
    """The numbers of the tasks whose networks are to be kept and are missing or damaged."""
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


@contextmanager
def _explained(directory: Path) -> Generator[None]:
    """Say what the system says when networks cannot be kept."""
    try:
        yield
    except StoredModelError as error:
        raise RunError(f"{error} {SAFE}") from error
    except OSError as error:
        place = directory / WEIGHTS
        raise RunError(
            f"the networks in {place} cannot be kept in order: {error.strerror}. {SAFE}"
        ) from error


def _name(directory: Path, number: int) -> Path:
    return directory / WEIGHTS / f"{number:08d}"


class Gallery:
    """Keeps the networks of the hall of fame and of the final evaluations while a run goes on.

    A network is saved before its evaluation is recorded and removed after a better one's is. So whatever is
    recorded as one of the best is there, whenever the process is killed.

    Args:
        directory: The run's.
        size: How many genomes the hall of fame has.
    """

    def __init__(self, directory: Path, size: int = HALL_OF_FAME) -> None:
        self._directory = directory
        self._size = size
        self._worst = (math.inf, math.inf, math.inf)
        self._changed = True
        self.prune()

    def offer(self, task: Task, loss: float, result: TrainingResult) -> None:
        """Save a network that is among the best by now, or one of a final evaluation."""
        final = CANDIDATE in task.origin.operations
        if math.isfinite(loss) and (final or (task.coarseness, loss, task.number) < self._worst):
            save_weights(self._directory, task.number, result)
            self._changed = True

    def prune(self) -> None:
        """Remove what is not among the best any more, once the evaluation of what was offered is recorded."""
        if not self._changed:
            return
        with Reader(self._directory) as reader:
            best = reader.hall_of_fame(self._size)
            final = {task for finalist in reader.finalists(sys.maxsize) for task in finalist.tasks}
        prune_weights(self._directory, {entry.task for entry in best} | final)
        if len(best) == self._size:
            self._worst = (best[-1].coarseness, best[-1].loss, best[-1].task)
        self._changed = False
