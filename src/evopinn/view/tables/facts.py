"""Named values that describe one thing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evopinn.view.markup import plain
from evopinn.view.tables.cells import Cell
from evopinn.view.tables.fitted import FittedFacts

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import RenderableType


class Phrase(tuple[str | Cell, ...]):
    """Text with cells in it, each of which a medium shows in its own way."""

    __slots__ = ()

    def __new__(cls, *parts: str | Cell) -> "Phrase":
        """A phrase of its parts, in order."""
        return super().__new__(cls, parts)

    @property
    def text(self) -> str:
        """Its text on a terminal."""
        return "".join(each if isinstance(each, str) else each.text for each in self)

    @property
    def typeset(self) -> str:
        """Its text on a page."""
        return "".join(each if isinstance(each, str) else each.typeset for each in self)

    @property
    def markdown(self) -> str:
        """Its text in Markdown."""
        return "".join(_spaced(each) if isinstance(each, str) else each.markdown for each in self)


@dataclass(frozen=True)
class Fact:
    """A value with its name.

    Attributes:
        name: Its name.
        value: A cell, a phrase or text.
    """

    name: str
    value: Cell | Phrase | str

    @property
    def said(self) -> Phrase:
        """The value as a phrase."""
        return self.value if isinstance(self.value, Phrase) else Phrase(self.value)


@dataclass(frozen=True)
class Facts:
    """Named values, in order."""

    facts: Sequence[Fact]

    def rich(self) -> "RenderableType":
        """The facts on a terminal."""
        return FittedFacts(self)

    def html(self) -> "Markup":
        """The facts on a page."""
        from evopinn.view.pages.templates import drawn

        return drawn("view/tables/tables.html.jinja", "facts", self)

    def markdown(self) -> str:
        """A list in Markdown."""
        return "\n".join(f"- {plain(fact.name)}: {fact.said.markdown}" for fact in self.facts)

    def data(self) -> dict[str, Any]:
        """The values by name, for JSON."""
        return {
            fact.name: fact.value.data if isinstance(fact.value, Cell) else fact.said.text
            for fact in self.facts
        }


def _spaced(words: str) -> str:
    """Text in Markdown that keeps a space at its beginning or end."""
    before, after = (" " if end.isspace() else "" for end in (words[:1], words[-1:]))
    return f"{before}{plain(words)}{after}"
