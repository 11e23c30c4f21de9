"""What a row of a run's database must have where: SQLite lets any value into any column."""

import json
import math
from collections.abc import Callable
from typing import Any, cast

from evopinn.checks import shown

Row = tuple[Any, ...]
Kind = Callable[[object], bool]

_LATEST = 253_402_300_800.0  # the year 10000, at which calendars end


def text(value: object) -> bool:
    """Words."""
    return isinstance(value, str)


def blob(value: object) -> bool:
    """Bytes."""
    return isinstance(value, bytes)


def whole(value: object) -> bool:
    """A whole number."""
    return isinstance(value, int)


def whole_or_none(value: object) -> bool:
    """A whole number, or nothing."""
    return value is None or isinstance(value, int)


def number(value: object) -> bool:
    """A finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def loss(value: object) -> bool:
    """A number, which may be infinite; nothing stands for what is not a number."""
    return value is None or isinstance(value, int | float)


def moment(value: object) -> bool:
    """Seconds since 1970."""
    return isinstance(value, int | float) and 0 <= value < _LATEST


def fit(row: Row, *kinds: Kind) -> Row:
    """A row whose values are of these kinds.

    Raises:
        TypeError: One is not.
    """
    for value, kind in zip(row, kinds, strict=True):
        if not kind(value):
            raise TypeError(f"{shown(value)} is no {kind.__name__.replace('_', ' ')}")
    return row


def listed(stored: str, kind: Kind) -> tuple[Any, ...]:
    """The values of a JSON list, all of one kind."""
    values: object = json.loads(stored)
    if not isinstance(values, list):
        raise TypeError(f"{shown(values)} is no list")
    row = tuple(cast("list[Any]", values))
    return fit(row, *(kind for _ in row))
