"""Checks of the settings of a search, each with its message."""

import math

from evopinn.checks import MAX_COUNT, bounded_whole, shown
from evopinn.errors import SearchError


def check_whole(name: str, value: object, least: int, most: int = MAX_COUNT) -> int:
    """The value as a whole number; refuse any other value, and numbers out of bounds."""
    return bounded_whole(name, value, least, most, SearchError)


def check_share(name: str, value: object) -> None:
    """Refuse a value that is not a share or a probability."""
    number = _number(value)
    if number is None or not 0.0 <= number <= 1.0:
        raise SearchError(f"{name} is {shown(value)}; it must be a number from 0 to 1.")


def check_at_least(name: str, value: object, least: float) -> None:
    """Refuse a value below a bound, infinity and not-a-number."""
    number = _number(value)
    if number is None or not (least <= number and math.isfinite(number)):
        raise SearchError(f"{name} is {shown(value)}; it must be a number of at least {least:g}.")


def check_positive(name: str, value: object) -> None:
    """Refuse a value that is not above zero and finite."""
    number = _number(value)
    if number is None or not (number > 0 and math.isfinite(number)):
        raise SearchError(f"{name} is {shown(value)}; it must be a number above 0.")


def check_flag(name: str, value: object) -> None:
    """Refuse a value that is neither true nor false."""
    if not isinstance(value, bool):
        raise SearchError(f"{name} is {shown(value)}; it must be true or false.")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
