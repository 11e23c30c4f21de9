"""Checks of the arguments of domains."""

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import SupportsFloat, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from evopinn.errors import DomainError
from evopinn.problem.arrays import Floats

Span: TypeAlias = tuple[float, float]


def finite(what: str, value: object) -> float:
    """Return `value` as a float, or raise an error that `what` has to be a finite number."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat) or np.ndim(cast("ArrayLike", value)):
        raise DomainError(f"{what} has to be a number, not {value!r}.")
    number = float(value)
    if not math.isfinite(number):
        raise DomainError(f"{what} has to be finite, not {number}.")
    return number


def positive(what: str, value: object) -> float:
    """Return `value` as a float greater than zero."""
    number = finite(what, value)
    if number <= 0:
        raise DomainError(f"{what} has to be positive, not {number:g}.")
    return number


def span(what: str, low: object, high: object) -> Span:
    """Return (low, high) as floats with low < high."""
    ends = finite(f"the lower end of {what}", low), finite(f"the upper end of {what}", high)
    if ends[0] >= ends[1]:
        raise DomainError(f"{what} goes from {ends[0]:g} to {ends[1]:g}; the lower end has to come first.")
    return ends


def pair(what: str, value: object) -> tuple[object, object]:
    """Return the two entries of `value`, or raise an error that `what` has to be a pair."""
    entries = entries_of(value)
    if entries is None or len(entries) != 2:
        raise DomainError(f"{what} has to be a pair of numbers, not {value!r}.")
    return entries[0], entries[1]


def entries_of(value: object) -> list[object] | None:
    """The entries of a list, tuple or array; None for anything else (a text or a set too)."""
    return list(cast("Sequence[object]", value)) if isinstance(value, list | tuple | np.ndarray) else None


def point_array(points: ArrayLike, coordinates: Sequence[str]) -> Floats:
    """Return `points` as a float64 array of shape (n, d), d the number of `coordinates`.

    A flat array is refused rather than guessed at: (n,) could be n points or one.
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != len(coordinates):
        raise DomainError(
            f"points have shape {array.shape}; expected (n, {len(coordinates)}), "
            f"one column per coordinate ({', '.join(coordinates)})."
        )
    return array


def known_part(name: str, parts: Iterable[str]) -> str:
    """Return `name` if it is one of `parts`; otherwise list them and suggest the nearest."""
    known = tuple(parts)
    if name in known:
        return name
    near = get_close_matches(str(name), known, n=1, cutoff=0.5)
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    raise DomainError(f"the boundary has no part {name!r}; its parts are {', '.join(known)}.{suggestion}")


def part_name(name: object) -> str:
    """Return `name` if a part can have it: a non-empty text that time does not use."""
    if not isinstance(name, str) or not name:
        raise DomainError(f"the name of a boundary part has to be a non-empty text, not {name!r}.")
    if name in {"initial", "final"}:
        raise DomainError(f"{name!r} is the name of an end of the time interval; give the part another name.")
    return name
