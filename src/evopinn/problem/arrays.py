"""Types of arrays, and checks of a user's arrays."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evopinn.errors import ProblemError

Floats: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.intp]


def finite_array(values: ArrayLike, shape: tuple[int | None, ...], label: str) -> Floats:
    """Convert a user's values to an array, or say what is wrong with them.

    Args:
        values: The user's values.
        shape: The expected shape; `None` for any size but zero.
        label: What messages call it, in the plural.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ProblemError(f"{label} are not an array of numbers: {error}.") from error
    if not array.size:
        raise ProblemError(f"{label} are empty; give at least one.")
    fits = array.ndim == len(shape) and all(
        given == wanted or (wanted is None and given)
        for given, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        expected = ", ".join("n" if size is None else str(size) for size in shape)
        comma = "," if len(shape) == 1 else ""
        raise ProblemError(f"{label} have shape {array.shape}; expected ({expected}{comma}).")
    if not np.isfinite(array).all():
        row = int(np.nonzero(~np.isfinite(array))[0][0])
        raise ProblemError(f"{label} are not finite in row {row}; remove or correct it.")
    return array
