"""What counts as a whole number, the same everywhere."""

from typing import SupportsIndex


def whole_number(value: object) -> int | None:
    """A value as an int if it is a whole number by type (NumPy's integers are; 2.0, True and "2" are not).

    Examples:
        >>> whole_number(3), whole_number(3.0), whole_number(True)
        (3, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    return value.__index__()
