"""What a study found as plain data that JSON has words for."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast


def plain(value: object) -> Any:
    """A value as dictionaries, lists and numbers; what is not a finite number is null.

    Examples:
        >>> plain({"error": float("nan"), "cases": ("I", "II")})
        {'error': None, 'cases': ['I', 'II']}
    """
    match value:
        case float():
            return value if math.isfinite(value) else None
        case str() | int() | None:
            return value
        case Mapping():
            entries = cast("Mapping[object, object]", value)
            return {str(name): plain(each) for name, each in entries.items()}
        case Sequence():
            return [plain(each) for each in cast("Sequence[object]", value)]
        case _:
            if is_dataclass(value):
                return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
            return str(value)
