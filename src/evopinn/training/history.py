"""The history of a training, and its progress after each step."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state of a training after a step, which with most optimisers is an epoch.

    Attributes:
        epoch: Epochs trained so far.
        epochs: Epochs planned.
        loss: The loss now.
        errors: The latest measured errors.
        errors_epoch: The epoch after which they were measured.
        seconds: Time since the start.
    """

    epoch: int
    epochs: int
    loss: float
    errors: Mapping[str, float]
    errors_epoch: int
    seconds: float


@dataclass(frozen=True)
class History:
    """The losses and errors of a training after each step.

    Attributes:
        losses: The loss at the start and after each step of the optimiser.
        error_epochs: The epochs after which errors were measured.
        errors: Per field, its relative L2 error after these epochs.
        epochs: The epochs of the losses: the number of the step, unless steps cost more or less than an
            epoch, as those of second order do. May be left out if it is the number of the step.
    """

    losses: tuple[float, ...]
    error_epochs: tuple[int, ...]
    errors: Mapping[str, tuple[float, ...]]
    epochs: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.epochs:
            object.__setattr__(self, "epochs", tuple(map(float, range(len(self.losses)))))
