"""Values of a kind, as each medium shows them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from evopinn.run.wording import one_line
from evopinn.view.markup import coded, plain
from evopinn.view.numbers import duration, moment, scientific, typographic

Kind = Literal[
    "words", "name", "code", "verdict", "structure", "note", "number", "count", "plain", "scientific",
    "seconds", "moment", "id", "task", "tasks", "run",
]  # fmt: skip

NOTHING = "–"
"""What a page and Markdown have where there is no value."""


@dataclass(frozen=True)
class Format:
    """How values of a kind are shown.

    Attributes:
        text: For a terminal.
        typeset: For pages and Markdown.
        right: Whether cells stand on the right.
        whole: Whether a cell is never broken over lines.
    """

    text: Callable[[Any], str] = str
    typeset: Callable[[Any], str] | None = None
    right: bool = False
    whole: bool = False


def _count(value: int) -> str:
    return f"{value:,}"


def _plain_number(value: float) -> str:
    return f"{value:g}"


FORMATS: Mapping[Kind, Format] = MappingProxyType(
    {
        "words": Format(),
        "name": Format(whole=True),
        "code": Format(),
        "verdict": Format(whole=True),
        "structure": Format(),
        "note": Format(one_line),
        "number": Format(right=True, whole=True),
        "id": Format(right=True, whole=True),
        "count": Format(_count, right=True, whole=True),
        "plain": Format(_plain_number, right=True, whole=True),
        "scientific": Format(scientific, typographic, right=True, whole=True),
        "seconds": Format(duration, right=True, whole=True),
        "moment": Format(moment, whole=True),
        "task": Format(right=True, whole=True),
        "tasks": Format(),
        "run": Format(),
    }
)
"""A row for each kind. A `number` is text already; an `id` has no commas; a `verdict` is a word; a `note` may
have many lines. The dashboard has pages for a `task`, `tasks` with spaces between them, and a `run`."""


@dataclass(frozen=True)
class Cell:
    """A value of a kind. There is none if it is None or not a number.

    Attributes:
        kind: One of `FORMATS`.
        value: What is shown.
        href: Where a page links it to; empty for nowhere.
    """

    kind: Kind
    value: Any
    href: str = ""

    @property
    def format(self) -> Format:
        """How it is shown."""
        return FORMATS[self.kind]

    @property
    def is_empty(self) -> bool:
        """Whether there is no value."""
        return self.value is None or (isinstance(self.value, float) and math.isnan(self.value))

    @property
    def text(self) -> str:
        """On a terminal, which leaves out what is infinite too: that is the loss of what failed."""
        finite = not isinstance(self.value, float) or math.isfinite(self.value)
        return self.format.text(self.value) if self.value is not None and finite else ""

    @property
    def typeset(self) -> str:
        """On a page."""
        if self.is_empty:
            return NOTHING
        if isinstance(self.value, float) and math.isinf(self.value):
            return typographic(self.value)
        return (self.format.typeset or self.format.text)(self.value)

    @property
    def markdown(self) -> str:
        """In a line of Markdown."""
        return coded(self.value) if self.kind == "code" and self.value else plain(self.typeset)

    @property
    def sort_key(self) -> str:
        """What a page sorts it by; empty for what comes last."""
        if self.value is None or (isinstance(self.value, float) and not math.isfinite(self.value)):
            return ""
        return str(self.value)

    @property
    def data(self) -> Any:
        """What JSON has: what is not a finite number is null."""
        if isinstance(self.value, float):
            return self.value if math.isfinite(self.value) else None
        return self.value if self.value is None or isinstance(self.value, int | str) else str(self.value)
