"""What a training gives: the trained network, its loss and errors, and how it got there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from evopinn.errors import TrainingError
from evopinn.genome import Genome
from evopinn.network import Layout, Network, forward
from evopinn.training.status import Status

Array = NDArray[np.float64]
BLOCK = 8192

MUCH_LARGER = 10.0
"""A residual that is so many times as large on other points says that there were too few."""


@dataclass(frozen=True)
class History:
    """The course of a training.

    Attributes:
        losses: The loss at the start and after each step of the optimiser.
        error_epochs: The epochs after which errors were measured.
        errors: Per field, its relative L2 error after these epochs.
        epochs: The epochs that the losses belong to: the number of the step, unless steps cost more or less
            than an epoch, as those of second order do. May be left out if it is the number of the step.
    """

    losses: tuple[float, ...]
    error_epochs: tuple[int, ...]
    errors: Mapping[str, tuple[float, ...]]
    epochs: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.epochs:
            object.__setattr__(self, "epochs", tuple(map(float, range(len(self.losses)))))


@dataclass(frozen=True, eq=False, repr=False)
class TrainingResult:
    """A trained network.

    Attributes:
        problem: Name of the problem, or the file that it came from.
        coordinates: Names of the network's inputs.
        fields: Names of its outputs.
        genome: Its structure and activation.
        theta: Its parameters, those with the least loss that was seen.
        loss: That loss.
        errors: The relative L2 error of each field, where a solution is known.
        residuals: The root mean square of the PDE's residual on the points of the training (`training`) and
            on others (`held_out`).
        status: How the training ended.
        epochs: How many epochs were trained.
        evaluations: How often loss and gradient were evaluated.
        seconds: How long it took.
        seed: The seed of the initial parameters.
        optimizer: The optimiser's name.
        history: Losses and errors on the way.
        settings: What the training was asked for, as plain data: enough to repeat it.
    """

    problem: str
    coordinates: tuple[str, ...]
    fields: tuple[str, ...]
    genome: Genome
    theta: Tensor
    loss: float
    errors: Mapping[str, float]
    status: Status
    epochs: int
    evaluations: int
    seconds: float
    seed: int
    optimizer: str
    history: History
    settings: Mapping[str, Any]
    residuals: Mapping[str, float] = field(default_factory=dict[str, float])

    def __repr__(self) -> str:
        errors = ", ".join(f"{name}: {error:.2e}" for name, error in self.errors.items())
        return (
            f"TrainingResult(problem={self.problem!r}, genome={str(self.genome)!r}, loss={self.loss:.2e}, "
            f"errors={{{errors}}}, status={str(self.status)!r}, epochs={self.epochs})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """As NumPy's arrays, which take a tenth of the time that tensors take to be pickled."""
        return vars(self) | {"theta": self.theta.numpy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The same again."""
        vars(self).update(state | {"theta": torch.as_tensor(state["theta"])})

    @property
    def overfitted(self) -> bool:
        """Whether the residual is much larger where the training has not looked: the loss deceives."""
        training, held_out = (self.residuals.get(name, math.nan) for name in ("training", "held_out"))
        return held_out > MUCH_LARGER * training

    @property
    def parameters(self) -> int:
        """The number of parameters of the network."""
        return len(self.theta)

    def predict(self, points: ArrayLike) -> Array:
        """The fields on points.

        Args:
            points: Shape (n, d), in the order of `coordinates`.

        Returns:
            Shape (n, fields), in the order of `fields`.
        """
        try:
            array = np.asarray(points, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TrainingError(
                f"predict was given {type(points).__name__}, not an array: {error}."
            ) from error
        if array.ndim != 2 or array.shape[1] != len(self.coordinates):
            raise TrainingError(
                f"predict was given points of shape {array.shape}; "
                f"expected (n, {len(self.coordinates)}): one column each for {', '.join(self.coordinates)}."
            )
        return predict(self.genome, self.layout, self.theta, array)

    @property
    def layout(self) -> Layout:
        """Where each tensor lies in θ."""
        return Layout.of(self.genome, len(self.coordinates), len(self.fields))

    def latex(self) -> str:
        """The activation in LaTeX."""
        return self.genome.activation.latex()

    def to_torch(self) -> Network:
        """The trained network as an ordinary torch module."""
        return Network(self.genome, len(self.coordinates), len(self.fields), self.theta)


def predict(genome: Genome, layout: Layout, theta: Tensor, points: Array) -> Array:
    """A network's output on points, shape (n, outputs), computed in blocks so that memory stays small."""
    tensors = layout.unpack(theta)
    with torch.no_grad():
        inputs = torch.as_tensor(points).to(theta)
        starts = range(0, max(len(inputs), 1), BLOCK)
        outputs = [forward(genome, tensors, inputs[start : start + BLOCK]) for start in starts]
        return torch.cat(outputs).to("cpu", torch.float64).numpy()
