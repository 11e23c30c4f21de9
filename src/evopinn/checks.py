"""Checks of whole numbers and files, and the form of values in messages."""

import os
from typing import SupportsIndex

MAX_COUNT = 10**15
"""The upper limit of counts: more than any machine can do, yet safe to compute with."""

MAX_SEED = 2**128 - 1

_MAX_SHOWN = 80


def whole_number(value: object) -> int | None:
    """A value as an int if it is a whole number by type (NumPy's integers are; 2.0, True and "2" are not).

    Examples:
        >>> whole_number(3), whole_number(3.0), whole_number(True)
        (3, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    return value.__index__()


def bounded_whole(name: str, value: object, least: int, most: int, error: type[Exception]) -> int:
    """The value as a whole number within bounds; any other value raises an error of this kind."""
    number = whole_number(value)
    if number is None or number < least:
        raise error(f"{name} is {shown(value)}; it must be a whole number of at least {least}.")
    if number > most:
        raise error(f"{name} is {shown(value)}; it must be a whole number of at most {most:,}.")
    return number


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a regular file: not a directory, pipe or device.

    A name that the system refuses, because it is too long or contains a null character, is not a file.
    """
    try:
        return os.path.isfile(path)  # noqa: PTH113 - the method of a path raises for some names
    except ValueError:
        return False


def shown(value: object) -> str:
    """A value as Python writes it, cut to the length of a line.

    Examples:
        >>> shown("a"), len(shown("a" * 1000))
        ("'a'", 59)
    """
    try:
        text = repr(value)
    except ValueError:  # Python does not write numbers of thousands of digits
        return "a number of thousands of digits"
    except RecursionError:
        return "something nested a thousand times"
    cut = _MAX_SHOWN // 4
    return text if len(text) <= _MAX_SHOWN else f"{text[: 2 * cut]} … {text[-cut + 4 :]}"
