"""What settings of a search may be; anything else is refused in one sentence."""

import math

from evopinn.checks import MOST, shown, whole_number
from evopinn.errors import SearchError


def whole(name: str, value: object, least: int, most: int = MOST) -> int:
    """A whole number that is neither too small nor too large."""
    number = whole_number(value)
    if number is None or number < least:
        raise SearchError(f"{name} is {shown(value)}; it must be a whole number of at least {least}.")
    if number > most:
        raise SearchError(f"{name} is {shown(value)}; it must be a whole number of at most {most:,}.")
    return number


def share(name: str, value: object) -> None:
    """Refuse what is not a share or a probability."""
    number = _number(value)
    if number is None or not 0.0 <= number <= 1.0:
        raise SearchError(f"{name} is {shown(value)}; it must be a number from 0 to 1.")


def finite_from(name: str, value: object, least: float) -> None:
    """Refuse what is below a bound, infinite or not a number."""
    number = _number(value)
    if number is None or not (least <= number and math.isfinite(number)):
        raise SearchError(f"{name} is {shown(value)}; it must be a number of at least {least:g}.")


def positive(name: str, value: object) -> None:
    """Refuse what is not above zero and finite."""
    number = _number(value)
    if number is None or not (number > 0 and math.isfinite(number)):
        raise SearchError(f"{name} is {shown(value)}; it must be a number above 0.")


def flag(name: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise SearchError(f"{name} is {shown(value)}; it must be true or false.")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
