"""Durations in the form in which a person writes them."""

import re

from evopinn.checks import shown
from evopinn.errors import TrainingError

_UNITS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
}
_PIECE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]*)\s*", re.IGNORECASE)
_MAX_CHARACTERS = 100
_MAX_SECONDS = 1e9  # thirty years


def parse_duration(text: str | float) -> float:
    """Seconds from `20s`, `10m`, `10 min`, `1h30m`, `2h`, or a plain number of seconds.

    Examples:
        >>> parse_duration("1h30m")
        5400.0
    """
    if isinstance(text, int | float):
        return _bounded(text, text)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TrainingError(f"{shown(text)} is not a duration; give seconds, or text such as 20s, 10m or 2h.")
    seconds, position = 0.0, 0
    while position < len(text) <= _MAX_CHARACTERS:
        piece = _PIECE.match(text, position)
        unit = piece[2].lower() or "s" if piece else ""
        if piece is None or unit not in _UNITS:
            break
        seconds += float(piece[1]) * _UNITS[unit]
        position = piece.end()
    if not text.strip() or position < len(text) or seconds <= 0:
        raise TrainingError(f"{shown(text)} is not a duration; write for example 20s, 10m, 1h30m or 2h.")
    return _bounded(seconds, text)


def _bounded(seconds: float, given: object) -> float:
    """Seconds within the range of clocks; for no limit, leave the duration out."""
    if isinstance(seconds, bool) or not -_MAX_SECONDS <= seconds <= _MAX_SECONDS:
        raise TrainingError(
            f"{shown(given)} is not a duration of at most 30 years; write for example 20s, 10m or 2h, or  "
            "leave it out."
        )
    return float(seconds)
