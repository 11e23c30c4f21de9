"""Pieces of Markdown, with text from users escaped."""

import re
from collections.abc import Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|~$&])")


def plain(text: object) -> str:
    """Words of others, as they are: no mark-up, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def markdown_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool] | None = None
) -> str:
    """A table of cells that are Markdown already.

    Args:
        heads: Of the columns.
        rows: Below them.
        numbers: Which columns are numbers, and stand on the right.
    """
    rule = ["---:" if right else "---" for right in numbers or [False] * len(heads)]
    lines = [heads, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def coded(text: str) -> str:
    """Text in a line, between more backticks than it has."""
    words = " ".join(text.split())
    ticks = "`" * (1 + _longest_ticks(words))
    space = " " if "`" in words else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def fenced(text: str, language: str) -> str:
    """Text in lines, between fences; nothing if there is none."""
    if not text.strip():
        return ""
    ticks = "`" * max(3, 1 + _longest_ticks(text))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
