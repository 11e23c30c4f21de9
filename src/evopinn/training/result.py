"""The result of a training: the network, its loss and errors, and their history."""

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
from evopinn.problem.scales import UNSCALED, Scales
from evopinn.training.history import History
from evopinn.training.status import Status
from evopinn.training.warnings import is_overfitted

Array = NDArray[np.float64]
BLOCK = 8192

PRECISIONS: Mapping[str, torch.dtype] = {"float64": torch.float64, "float32": torch.float32}


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
        scales: The maps of coordinates and fields, which belong to the network, and the units of the terms.
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
    scales: Scales = UNSCALED

    def __repr__(self) -> str:
        errors = ", ".join(f"{name}: {error:.2e}" for name, error in self.errors.items())
        return (
            f"TrainingResult(problem={self.problem!r}, genome={str(self.genome)!r}, loss={self.loss:.2e}, "
            f"errors={{{errors}}}, status={str(self.status)!r}, epochs={self.epochs})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """The state with NumPy arrays, which pickle ten times faster than tensors."""
        return vars(self) | {"theta": self.theta.numpy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the tensors."""
        vars(self).update(state | {"theta": torch.as_tensor(state["theta"])})

    @property
    def overfitted(self) -> bool:
        """Whether the network overfits: its residual is much larger on held-out points."""
        return is_overfitted(self.residuals)

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
        return predict(self.genome, self.layout, self.theta, array, self.scales)

    @property
    def layout(self) -> Layout:
        """The layout of the tensors in θ."""
        return Layout.of_network(self.genome, len(self.coordinates), len(self.fields))

    def latex(self) -> str:
        """The activation in LaTeX."""
        return self.genome.activation.latex()

    def to_torch(self) -> Network:
        """The trained network as an ordinary torch module."""
        return Network(self.genome, len(self.coordinates), len(self.fields), self.theta, self.scales)


def predict(genome: Genome, layout: Layout, theta: Tensor, points: Array, scales: Scales = UNSCALED) -> Array:
    """A network's fields on points, shape (n, outputs), computed in blocks so that memory stays small."""
    tensors = layout.unpack(theta)
    with torch.no_grad():
        inputs = torch.as_tensor(points).to(theta)
        starts = range(0, max(len(inputs), 1), BLOCK)
        outputs = [forward(genome, tensors, inputs[start : start + BLOCK], scales) for start in starts]
        return torch.cat(outputs).to("cpu", torch.float64).numpy()
