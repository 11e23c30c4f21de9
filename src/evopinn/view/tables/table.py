"""Tables: typed columns over records."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from evopinn.run.wording import visible
from evopinn.view.markup import markdown_table, plain
from evopinn.view.tables.cells import FORMATS, Cell, Format, Kind
from evopinn.view.tables.fitted import FittedTable

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import RenderableType


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its header.
        kind: The kind of its values, one of `FORMATS`.
        value: The function from a record to its value; by default a record is a sequence of values.
        gives_way: The order in which narrow terminals leave columns out: the greatest number first, the last
            one of equal numbers; 0 for never.
        key: Its name in JSON and CSV; by default that of the header.
        unit: The unit of its values, shown after the header.
        sortable: Whether a page can sort by it.
        heads: Whether its cells are the headers of their rows on a page.
        href: The function from a record to the target of its link on a page; None for no links.
    """

    name: str
    kind: Kind = "words"
    value: Callable[[Any], Any] | None = None
    gives_way: int = 0
    key: str = ""
    unit: str = ""
    sortable: bool = True
    heads: bool = False
    href: Callable[[Any], str] | None = None

    @property
    def format(self) -> Format:
        """The format of its values."""
        return FORMATS[self.kind]

    @property
    def header(self) -> str:
        """Its name, with the unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def data_key(self) -> str:
        """Its name in JSON and CSV."""
        return self.key or self.name.replace(" ", "_")

    def cell(self, record: Any, place: int) -> Cell:
        """The cell of a record, for the column at a place of its table."""
        value = record[place] if self.value is None else self.value(record)
        return Cell(self.kind, value, self.href(record) if self.href else "")


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: What it shows; may be empty.
        columns: In order.
        records: The records, one for each row.
        notes: Sentences below it.
        groups: The number of first columns that group rows; they are blank where they equal the row above.
        sorts: Whether readers of a page can sort it.
        sorted_by: The name of the column that it is sorted by, if any.
        chosen: Whether a record is highlighted.
    """

    title: str
    columns: Sequence[Column]
    records: Sequence[Any]
    notes: Sequence[str] = ()
    groups: int = 0
    sorts: bool = False
    sorted_by: str = ""
    chosen: Callable[[Any], bool] | None = None

    @cached_property
    def rows(self) -> list[list[Cell]]:
        """The cells, row by row."""
        return [
            [column.cell(record, place) for place, column in enumerate(self.columns)]
            for record in self.records
        ]

    @cached_property
    def shown(self) -> list[list[Cell]]:
        """The cells, without those of grouping columns that repeat the row above."""
        blank = [Cell("words", "")] * self.groups
        return [
            [*blank, *row[self.groups :]] if self.groups and above and self._alike(above, row) else row
            for above, row in zip([None, *self.rows], self.rows, strict=False)
        ]

    @cached_property
    def chosen_rows(self) -> frozenset[int]:
        """The places of the highlighted records."""
        chosen = self.chosen
        return frozenset(place for place, each in enumerate(self.records) if chosen and chosen(each))

    def rich(self) -> "RenderableType":
        """The table on a terminal of any width."""
        title = [Text(visible(self.title), style="bold")] if self.title else []
        return Group(*title, FittedTable(self), *(Text(visible(note)) for note in self.notes))

    def html(self, *, heading: bool = True) -> "Markup":
        """The table on a page.

        Args:
            heading: Whether to show the title above it; otherwise only screen readers get it.
        """
        from evopinn.view.pages.templates import drawn

        return drawn("view/tables/tables.html.jinja", "table", self, heading)

    def markdown(self, *, heading: bool = True) -> str:
        """The table as Markdown.

        Args:
            heading: Whether to show the title above it.
        """
        table = markdown_table(
            [plain(column.header) for column in self.columns],
            [[_in_markdown(cell) for cell in row] for row in self.shown],
            [column.format.right for column in self.columns],
        )
        title = f"### {plain(self.title)}" if self.title and heading else ""
        return "\n\n".join(part for part in (title, table, *map(plain, self.notes)) if part) + "\n"

    def csv(self) -> str:
        """The table as CSV: the keys of the columns, and the values to the last digit."""
        file = io.StringIO(newline="")
        writer = csv.writer(file)
        writer.writerow([column.data_key for column in self.columns])
        writer.writerows([["" if cell.is_empty else cell.value for cell in row] for row in self.rows])
        return file.getvalue()

    def data(self) -> list[dict[str, Any]]:
        """The records for JSON, by the keys of the columns."""
        keys = [column.data_key for column in self.columns]
        return [dict(zip(keys, (cell.data for cell in row), strict=True)) for row in self.rows]

    def _alike(self, above: Sequence[Cell], row: Sequence[Cell]) -> bool:
        return all(one.value == other.value for one, other in zip(above[: self.groups], row, strict=False))


def _in_markdown(cell: Cell) -> str:
    # In the middle of a table, even code ends at an upright line.
    return cell.markdown.replace("|", r"\|") if cell.kind == "code" else cell.markdown
