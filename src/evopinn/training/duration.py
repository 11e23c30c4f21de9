"""Durations as a person writes them."""

import re

from evopinn.errors import TrainingError

_UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hour": 3600, "hours": 3600, "d": 86400}
_PIECE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_duration(text: str | float) -> float:
    """Seconds from `20s`, `10m`, `10 min`, `1h30m`, `2h`, or a plain number of seconds.

    Example:
        >>> parse_duration("1h30m")
        5400.0
    """
    if not isinstance(text, str):
        return float(text)
    seconds, position = 0.0, 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        unit = piece[2].lower() or "s" if piece else ""
        if piece is None or unit not in _UNITS:
            break
        seconds += float(piece[1]) * _UNITS[unit]
        position = piece.end()
    if not text.strip() or position < len(text) or seconds <= 0:
        raise TrainingError(f"{text!r} is not a duration; write for example 20s, 10m, 1h30m or 2h.")
    return seconds
