"""Checkpoints: files of the end of a training, from which another can continue.

One `.safetensors` file: tensors, and a few words of metadata. It cannot run code, and it is written
completely or not at all. A digest in it reveals damage, which the format alone does not.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType]
from torch import Tensor

from evopinn.atomic_write import atomic_write
from evopinn.checks import is_file
from evopinn.errors import StoredModelError, TrainingError

FORMAT = "2"
STATE = "state."
"""The prefix of the tensors of an optimiser's state."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The end of a training, with everything needed to continue.

    Attributes:
        optimizer: The optimiser's name.
        genome: The network's genome as text.
        state: The optimiser's state as tensors by name, as the optimiser itself names them.
        best_theta: The parameters with the least loss that was seen.
        best_loss: That loss.
        losses: The loss at the start and after each step.
        epochs: The epochs that the losses belong to.
    """

    optimizer: str
    genome: str
    state: Mapping[str, Tensor]
    best_theta: Tensor
    best_loss: float
    losses: tuple[float, ...]
    epochs: tuple[float, ...]

    @property
    def epoch(self) -> int:
        """The number of trained epochs, rounded."""
        return round(self.epochs[-1])

    def to(self, device: torch.device | str) -> "Checkpoint":
        """The same with its tensors on another device."""
        state = {name: tensor.to(device) for name, tensor in self.state.items()}
        return replace(self, state=state, best_theta=self.best_theta.to(device))

    def require_fit(self, optimizer: str, genome: str, size: int, dtype: torch.dtype) -> None:
        """Refuse to continue with another optimiser, network or precision."""
        theta = self.best_theta
        asked_and_kept = {
            "optimizer": (optimizer, self.optimizer),
            "genome": (genome, self.genome),
            "number of parameters": (size, len(theta)),
            "precision": (_name(dtype), _name(theta.dtype)),
        }
        for what, (asked, kept) in asked_and_kept.items():
            if asked != kept:
                raise TrainingError(f"the checkpoint's {what} is {kept}, not {asked}; cannot resume from it.")


def save_checkpoint(checkpoint: Checkpoint, path: str | Path) -> None:
    """Write a checkpoint to one file, completely or not at all."""
    path = Path(path)
    tensors = {
        "losses": torch.tensor(checkpoint.losses, dtype=torch.float64),
        "epochs": torch.tensor(checkpoint.epochs, dtype=torch.float64),
        "best.loss": torch.tensor(checkpoint.best_loss, dtype=torch.float64),
        "best.theta": checkpoint.best_theta,
    } | {f"{STATE}{name}": tensor for name, tensor in checkpoint.state.items()}
    # The best parameters are often those of the state, but a file cannot have two names for one tensor.
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    words = {
        "format": FORMAT,
        "optimizer": checkpoint.optimizer,
        "genome": checkpoint.genome,
    }
    metadata = {**words, "digest": _digest(words, tensors)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, lambda temporary: save_file(tensors, temporary, metadata))
    except (OSError, safetensors.SafetensorError) as error:
        raise StoredModelError(f"the checkpoint could not be saved as {path}: {error}.") from error


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint that `save_checkpoint` wrote.

    Raises:
        StoredModelError: The file is missing, damaged, or something else.
    """
    path = Path(path)
    if not is_file(path):
        raise StoredModelError(f"there is no file {path} to read a checkpoint from.")
    try:
        return _checked(path, *_read(path))
    except StoredModelError:
        raise
    except (OSError, LookupError, TypeError, ValueError, RuntimeError, safetensors.SafetensorError) as error:
        raise StoredModelError(f"{path} is not a checkpoint, or is damaged: {error}.") from error


def _checked(path: Path, words: dict[str, str], tensors: Mapping[str, Tensor]) -> Checkpoint:
    """The checkpoint from a file's contents, if these are undamaged."""
    if not {"format", "optimizer", "genome", "digest"} <= words.keys():
        raise StoredModelError(f"{path} holds tensors, but is not a checkpoint of a training.")
    if words["format"] != FORMAT:
        raise StoredModelError(
            f"{path} has format {words['format']}; this version of evopinn reads format {FORMAT}."
        )
    if words.pop("digest") != _digest(words, tensors):
        raise StoredModelError(f"{path} is damaged: its contents have changed since it was written.")
    return _restored(words, tensors)


def _restored(words: Mapping[str, str], tensors: Mapping[str, Tensor]) -> Checkpoint:
    theta, losses, epochs = tensors["best.theta"], tensors["losses"], tensors["epochs"]
    if theta.ndim != 1 or losses.ndim != 1 or losses.shape != epochs.shape or not len(epochs):
        raise ValueError("its histories differ in length")
    if not epochs.isfinite().all():
        raise ValueError("its epochs are not numbers")
    return Checkpoint(
        optimizer=words["optimizer"],
        genome=words["genome"],
        state={name.removeprefix(STATE): tensors[name] for name in tensors if name.startswith(STATE)},
        best_theta=theta,
        best_loss=float(tensors["best.loss"].item()),
        losses=tuple(map(float, losses.numpy())),
        epochs=tuple(map(float, epochs.numpy())),
    )


def _read(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Metadata and tensors of a file, in memory of their own."""
    opened: Any = safetensors.safe_open(path, framework="pt")
    with opened as file:
        return dict(file.metadata() or {}), {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118


def _digest(words: Mapping[str, str], tensors: Mapping[str, Tensor]) -> str:
    """A digest of the contents, independent of their arrangement in a file."""
    digest = hashlib.sha256(json.dumps(words, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name].numpy()
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
