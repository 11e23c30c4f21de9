"""Pieces of Markdown, with text from users escaped."""

import re
from collections.abc import Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|~$&])")


def plain(text: object) -> str:
    """Text from users on one line, without effect as mark-up."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def markdown_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool] | None = None
) -> str:
    """A table whose cells are already Markdown.

    Args:
        heads: The headers of the columns.
        rows: The rows.
        numbers: Whether each column has numbers, which are aligned to the right.
    """
    rule = ["---:" if right else "---" for right in numbers or [False] * len(heads)]
    lines = [heads, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def coded(text: str) -> str:
    """Text as inline code, between more backticks than it contains."""
    words = " ".join(text.split())
    ticks = "`" * (1 + _longest_ticks(words))
    space = " " if "`" in words else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def fenced(text: str, language: str) -> str:
    """Text as a fenced block; empty text stays empty."""
    if not text.strip():
        return ""
    ticks = "`" * max(3, 1 + _longest_ticks(text))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
