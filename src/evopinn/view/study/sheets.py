"""A table as data, which the terminal, Markdown and the page are all made from, so that they say the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from evopinn.run.wording import visible
from evopinn.view.markup import coded, markdown_table, plain
from evopinn.view.plain import plain_table

ColumnKind = Literal["words", "name", "number", "code", "verdict"]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its header.
        kind: Words; names and numbers, which are never broken; code, such as an activation; a verdict in a
            word.
        gives_way: Whether a terminal that is too narrow leaves it out; the last such column first.
    """

    name: str
    kind: ColumnKind = "words"
    gives_way: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table.

    Attributes:
        title: What it shows; may be empty.
        columns: In order.
        rows: Of text, a cell for each column.
        notes: Sentences below it.
        groups: So many first columns say what some rows have in common; what is the same as in the row above
            is not said again.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    groups: int = 0

    def shown(self) -> list[Sequence[str]]:
        """The rows, without what they repeat of the one above."""
        first = [*self.rows[:1]]
        return first + [self._unrepeated(above, row) for above, row in pairwise(self.rows)]

    def markdown(self) -> str:
        """The table as Markdown, with a heading."""
        body = [
            [_marked(column, cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.shown()
        ]
        numbers = [column.kind == "number" for column in self.columns]
        table = markdown_table([plain(column.name) for column in self.columns], body, numbers)
        heading = f"### {plain(self.title)}" if self.title else ""
        return "\n\n".join(part for part in (heading, table, *map(plain, self.notes)) if part) + "\n"

    def rich(self) -> RenderableType:
        """The table as a terminal shows it."""
        named = [(escape(visible(column.name)), column) for column in self.columns]
        table = plain_table(
            *(name for name, _ in named),
            figures=[name for name, column in named if column.kind in ("name", "number")],
            give_way=[name for name, column in reversed(named) if column.gives_way],
        )
        for row in self.shown():
            table.add_cells(*row)
        title = [Text(visible(self.title), style="bold")] if self.title else []
        return Group(*title, table, *(Text(visible(note)) for note in self.notes))

    def _unrepeated(self, above: Sequence[str], row: Sequence[str]) -> Sequence[str]:
        same = tuple(above[: self.groups]) == tuple(row[: self.groups])
        return [*([""] * self.groups), *row[self.groups :]] if same and self.groups else row


def _marked(column: Column, cell: str) -> str:
    return coded(cell).replace("|", r"\|") if column.kind == "code" and cell else plain(cell)
