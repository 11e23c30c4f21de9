"""Fields and their derivatives by name: `u`, `u.t`, `u.xx`, `u.xy`, to fourth order.

`FieldValues` are one unknown function on a set of n points. They know nothing of networks: they ask their
creator for the derivative with a given multi-index, so the same residual runs on nested autograd, on a faster
engine, on an exact solution, or on a recorder that only notes which derivatives are wanted.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evopinn.errors import ProblemError
from evopinn.symbolic.arithmetic import Arithmetic

MAX_ORDER = 4

MultiIndex = tuple[int, ...]
"""Order of differentiation per coordinate: with coordinates (x, t), `u.xxt` is (2, 1)."""

DerivativeSource = Callable[[MultiIndex], Tensor]
"""Gives the derivative with a multi-index on all points, shape (n,)."""

_TORCH_NAMES = {"power": "pow", "fabs": "abs"}  # NumPy's ufuncs that torch calls otherwise

Operand: TypeAlias = "FieldValues | Tensor | NDArray[Any] | float"


@cache
def multi_index(name: str, coordinates: tuple[str, ...]) -> MultiIndex:
    """Read a derivative's name.

    Names of coordinates follow one another; an underscore may stand between them where they have several
    letters.

    Examples:
        >>> multi_index("xxt", ("x", "t"))
        (2, 1)
        >>> multi_index("theta_r", ("r", "theta"))
        (1, 1)
    """
    found = {
        tuple(word.count(coordinate) for coordinate in coordinates) for word in _spellings(name, coordinates)
    }
    example = coordinates[0] * 2 if len(coordinates[0]) == 1 else f"{coordinates[0]}_{coordinates[0]}"
    if not found:
        raise ProblemError(
            f"{name!r} is not a derivative: it is not made of the coordinates {', '.join(coordinates)}; "
            f"write for example u.{coordinates[-1]} or u.{example}."
        )
    if len(found) > 1:
        raise ProblemError(f"{name!r} can be read in several ways; put underscores between the coordinates.")
    index = found.pop()
    if sum(index) > MAX_ORDER:
        raise ProblemError(
            f"{name!r} is a derivative of order {sum(index)}; at most order {MAX_ORDER} is possible: "
            "introduce a field for a lower derivative and write a system."
        )
    return index


def _spellings(name: str, coordinates: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not name:
        yield ()
    for coordinate in coordinates:
        if name.startswith(coordinate):
            rest = name.removeprefix(coordinate)
            following = rest.removeprefix("_")
            if following or not rest:
                yield from ((coordinate, *word) for word in _spellings(following, coordinates))


def derivative_name(field: str, index: MultiIndex, coordinates: tuple[str, ...]) -> str:
    """The name of a derivative as a person writes it, for instance `u.xx`."""
    letters = [name for name, order in zip(coordinates, index, strict=True) for _ in range(order)]
    joint = "" if all(len(name) == 1 for name in coordinates) else "_"
    return f"{field}.{joint.join(letters)}" if letters else field


class FieldValues(Arithmetic[Tensor]):
    """An unknown function on n points: behaves as its values, shape (n,), with derivatives as attributes.

    Arithmetic, torch functions and NumPy's ufuncs work on it and give tensors of shape (n,).

    Args:
        name: The field's name, for messages.
        coordinates: Names of the coordinates.
        derivative: Gives the derivative of a multi-index, shape (n,).
    """

    __slots__ = ("_coordinates", "_derivative", "_name")

    def __init__(self, name: str, coordinates: tuple[str, ...], derivative: DerivativeSource) -> None:
        self._name = name
        self._coordinates = coordinates
        self._derivative = derivative

    def __getattr__(self, name: str) -> Tensor:
        if name.startswith("__"):  # a protocol that a library looks for, not a derivative
            raise AttributeError(name)
        return self._derivative(multi_index(name, self._coordinates))

    def __repr__(self) -> str:
        return f"FieldValues({self._name!r}, coordinates={self._coordinates})"

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Let torch functions take a field where they take a tensor."""
        return function(*_without_fields(args), **_without_fields(kwargs or {}))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Let NumPy's ufuncs take a field: each has a namesake in torch, which autograd can follow."""
        namesake = getattr(torch, _TORCH_NAMES.get(ufunc.__name__, ufunc.__name__), None)
        if method != "__call__" or kwargs or namesake is None:
            return NotImplemented
        return namesake(*(as_tensor(value) for value in inputs))

    def _applied(self, operation: str, *operands: Operand) -> Tensor:
        first, *others = operands
        exact = operation == "pow"  # a number as an exponent stays one
        rest = [each if exact and isinstance(each, int | float) else as_tensor(each) for each in others]
        return getattr(torch, operation)(as_tensor(first), *rest)

    @property
    def __values__(self) -> Tensor:
        return self._derivative((0,) * len(self._coordinates))


def as_tensor(value: Any) -> Tensor:
    """The values of a field, an array or a number as a tensor."""
    return value.__values__ if isinstance(value, FieldValues) else torch.as_tensor(value)


def _without_fields(value: Any) -> Any:
    """The same nested arguments, with each field replaced by its values."""
    if isinstance(value, FieldValues):
        return as_tensor(value)
    if isinstance(value, dict):
        return {key: _without_fields(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        items = [_without_fields(item) for item in cast("list[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    return value
