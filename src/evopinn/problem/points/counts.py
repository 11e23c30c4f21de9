"""Counts of points: the forms they can have, and their meaning on a domain."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from evopinn.checks import whole_number
from evopinn.errors import DomainError
from evopinn.problem.arrays import Floats
from evopinn.problem.domains.arguments import entries_of

Count: TypeAlias = int | tuple[int, ...]
"""A total, or a count per axis."""
BoundaryCount: TypeAlias = Count | Mapping[str, Count]
"""A count for the whole boundary, or one for each part by its name."""


def checked_count(what: str, value: object) -> Count:
    """Return `value` as a positive int, or as a tuple of them."""
    entries = entries_of(value)
    if entries is None:
        return whole(what, value)
    if not entries:
        raise DomainError(f"{what} is empty; give a count.")
    return tuple(whole(what, entry) for entry in entries)


def checked_boundary(what: str, value: object) -> BoundaryCount:
    """Return `value` as a count, or as a table of counts by part."""
    if not isinstance(value, Mapping):
        return checked_count(what, value)
    table = cast("Mapping[str, object]", value)
    return {part: checked_count(f"{what} for {part!r}", count) for part, count in table.items()}


def by_part(
    boundary: BoundaryCount, parts: Sequence[str], change: Callable[[Count, Sequence[str]], Count]
) -> BoundaryCount:
    """Change a count that is for all parts, or each count of a table together with its part."""
    if isinstance(boundary, Mapping):
        return {part: change(count, (part,)) for part, count in boundary.items()}
    return change(boundary, parts)


def whole(what: str, value: object, least: int = 1) -> int:
    """Return `value` as an int of at least `least`."""
    number = whole_number(value)
    if number is None:
        raise DomainError(f"{what} must consist of whole numbers, not {value!r}.")
    if number < least:
        raise DomainError(f"{what} has to be at least {least}, not {number}.")
    return number


def per_axis(spec: str, argument: str, value: Count, axes: Sequence[str]) -> tuple[int, ...]:
    """One count per axis from the value of `argument`; an int is enough where there is one axis."""
    counts = value if isinstance(value, tuple) else (value,)
    if len(counts) != len(axes):
        # The example keeps about the number of points that was asked for.
        total = float(np.prod(counts))
        example = ", ".join([str(max(2, round(total ** (1 / len(axes)))))] * len(axes))
        raise DomainError(
            f"{spec}({argument}={value!r}) needs one count per axis ({', '.join(axes)}), "
            f"for example {argument}={f'({example})' if len(axes) > 1 else example}."
        )
    return counts


def total(spec: str, argument: str, value: Count) -> int:
    """The total number of points from the value of `argument`."""
    if isinstance(value, tuple):
        raise DomainError(
            f"{spec}({argument}={value!r}) has no axes: give the total number of points, "
            f"for example {argument}={int(np.prod(value))}."
        )
    return value


def fewer(count: int, factor: float, axes: int = 1, least: int = 2) -> int:
    """A count divided by a factor for each of its axes and rounded: at least `least`, never more than before.

    Examples:
        >>> fewer(81, 4), fewer(4096, 4, axes=4), fewer(3, 4), fewer(1, 4)
        (20, 16, 2, 1)
    """
    # The power of a huge factor would overflow; that of its reciprocal is zero.
    return min(count, max(least, round(count * (1 / factor) ** axes)))


def fewer_along(given: Count, axes: int, factor: float, least: int = 2) -> Count:
    """The same for the counts of several axes, or their total; each axis keeps at least `least`."""
    if isinstance(given, tuple):
        return tuple(fewer(count, factor, least=least) for count in given)
    return fewer(given, factor, axes, least**axes)


def shares(count: int, weights: Floats) -> list[int]:
    """Split `count` in proportion to `weights`, by largest remainders; nothing gets 0 if it can be avoided.

    Examples:
        >>> shares(10, np.array([1.0, 1.0, 2.0]))
        [3, 2, 5]
    """
    least = 1 if count >= len(weights) else 0
    exact = weights / weights.sum() * count
    given = np.maximum(np.floor(exact + 1e-9).astype(np.intp), least)
    while given.sum() > count:
        # Only those who have more than the least can give; take from who is furthest above its share.
        given[np.argmax(np.where(given > least, given - exact, -np.inf))] -= 1
    while given.sum() < count:
        given[np.argmax(exact - given)] += 1
    return [int(share) for share in given]
