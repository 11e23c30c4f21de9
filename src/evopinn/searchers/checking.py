"""What settings of a search may be; anything else is refused in one sentence."""

import math

from evopinn.checks import whole_number
from evopinn.errors import SearchError


def whole(name: str, value: object, least: int) -> int:
    """A whole number that is not too small."""
    number = whole_number(value)
    if number is None or number < least:
        raise SearchError(f"{name} is {value!r}; it must be a whole number of at least {least}.")
    return number


def share(name: str, value: float) -> None:
    """Refuse what is not a share or a probability."""
    if not 0.0 <= value <= 1.0:
        raise SearchError(f"{name} is {value!r}; it must be a number from 0 to 1.")


def finite_from(name: str, value: float, least: float) -> None:
    """Refuse what is below a bound, infinite or not a number."""
    if not (least <= value and math.isfinite(value)):
        raise SearchError(f"{name} is {value!r}; it must be a number of at least {least:g}.")


def positive(name: str, value: float) -> None:
    """Refuse what is not above zero and finite."""
    if not (value > 0 and math.isfinite(value)):
        raise SearchError(f"{name} is {value!r}; it must be a number above 0.")
