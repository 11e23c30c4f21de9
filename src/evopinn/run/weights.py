"""The weights of a run's hall of fame: trained networks under the numbers of their tasks."""

from collections.abc import Collection
from pathlib import Path

from evopinn.run.place import WEIGHTS
from evopinn.training import TrainingResult, load, save


def save_weights(directory: Path, number: int, result: TrainingResult) -> None:
    """Keep the network that a task gave; each of its files is written whole or not at all."""
    save(result, _name(directory, number))


def load_weights(directory: Path, number: int) -> TrainingResult:
    """The network that a task gave.

    Raises:
        StoredModelError: It was not kept, or is damaged.
    """
    return load(_name(directory, number))


def kept_weights(directory: Path) -> frozenset[int]:
    """The numbers of the tasks whose networks are kept."""
    # The sidecar is written last, so that where it is the tensors are too.
    return frozenset(int(path.stem) for path in (directory / WEIGHTS).glob("[0-9]*.json"))


def prune_weights(directory: Path, keep: Collection[int]) -> None:
    """Remove all networks but some, and what a killed process left half-written."""
    kept = {
        f"{_name(directory, number).name}{ending}" for number in keep for ending in (".json", ".safetensors")
    }
    for path in (directory / WEIGHTS).iterdir():
        if path.name not in kept:
            path.unlink(missing_ok=True)


def _name(directory: Path, number: int) -> Path:
    return directory / WEIGHTS / f"{number:08d}"
