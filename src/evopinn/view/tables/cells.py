"""Cells: values with a kind, which decides how each medium shows them."""

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
"""The sign for a missing value, on pages and in Markdown."""


@dataclass(frozen=True)
class Format:
    """The format of values of a kind.

    Attributes:
        text: Their text on a terminal.
        typeset: Their text on pages and in Markdown; by default the same.
        right: Whether cells are aligned to the right.
        whole: Whether a cell must not be broken over lines.
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
        value: The value.
        href: The target of its link on a page; empty for none.
    """

    kind: Kind
    value: Any
    href: str = ""

    @property
    def format(self) -> Format:
        """The format of its kind."""
        return FORMATS[self.kind]

    @property
    def is_empty(self) -> bool:
        """Whether there is no value."""
        return self.value is None or (isinstance(self.value, float) and math.isnan(self.value))

    @property
    def text(self) -> str:
        """Its text on a terminal; infinite values, which are losses of failed trainings, are left out."""
        finite = not isinstance(self.value, float) or math.isfinite(self.value)
        return self.format.text(self.value) if self.value is not None and finite else ""

    @property
    def typeset(self) -> str:
        """Its text on a page."""
        if self.is_empty:
            return NOTHING
        if isinstance(self.value, float) and math.isinf(self.value):
            return typographic(self.value)
        return (self.format.typeset or self.format.text)(self.value)

    @property
    def markdown(self) -> str:
        """Its text in a line of Markdown."""
        return coded(self.value) if self.kind == "code" and self.value else plain(self.typeset)

    @property
    def sort_key(self) -> str:
        """The key by which a page sorts it; empty keys come last."""
        if self.value is None or (isinstance(self.value, float) and not math.isfinite(self.value)):
            return ""
        return str(self.value)

    @property
    def data(self) -> Any:
        """Its value in JSON; numbers that are not finite are null."""
        if isinstance(self.value, float):
            return self.value if math.isfinite(self.value) else None
        return self.value if self.value is None or isinstance(self.value, int | str) else str(self.value)
