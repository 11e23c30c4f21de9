"""A solution known only at points, computed once by an independent method and stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evopinn.errors import ProblemError
from evopinn.problem.arrays import Floats, finite_array


@dataclass(frozen=True, eq=False)
class Reference:
    """Values of a solution at points, against which errors are reported.

    Attributes:
        points: Shape (m, d), in the order of the problem's coordinates.
        values: An array of shape (m,) per field.
    """

    points: Floats
    values: Mapping[str, Floats]

    def __post_init__(self) -> None:
        points = np.asarray(self.points)
        width = points.shape[1] if points.ndim == 2 else None
        points = finite_array(self.points, (None, width), "Reference: points")
        values = {
            name: finite_array(each, (len(points),), f"Reference: the values of {name}")
            for name, each in self.values.items()
        }
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "values", values)

    @classmethod
    def load(cls, path: str | Path) -> "Reference":
        """Read values on a tensor grid.

        The file is an `.npz` with a one-dimensional array per coordinate and, per field, an array over the
        grid that they span, all in the order in which they were saved.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                arrays = {name: np.asarray(stored[name], dtype=np.float64) for name in stored.files}
        except (OSError, ValueError, AttributeError) as error:
            raise ProblemError(f"{path} cannot be read as an .npz file of numbers: {error}.") from error
        flat = all(array.ndim == 1 for array in arrays.values())
        axes = {name: array for name, array in arrays.items() if array.ndim == 1}
        if flat:  # one coordinate: the first array is the axis, the others are fields
            axes = dict([next(iter(arrays.items()))])
        grids = {name: array for name, array in arrays.items() if name not in axes}
        mesh = np.meshgrid(*axes.values(), indexing="ij")
        for name, grid in grids.items():
            if grid.shape != mesh[0].shape:
                raise ProblemError(f"{path}: {name} has shape {grid.shape}; its axes span {mesh[0].shape}.")
        points = np.stack([axis.ravel() for axis in mesh], axis=1)
        return cls(points, {name: grid.ravel() for name, grid in grids.items()})
