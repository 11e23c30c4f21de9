"""Tables without lines around them, as all commands print them."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from evopinn.run.wording import visible

_LEAST_WORDS = 16
"""Columns that words need at least, so as not to be a letter a line."""


class PlainTable(Table):
    """A table some of whose columns give way where the terminal is too narrow for all.

    Args:
        columns: Headers, in order; a cell that is too long goes on below.
        figures: Those whose cells are never broken.
        give_way: Those that are left out, one by one, until the rest has room.
    """

    def __init__(
        self, columns: Sequence[str], figures: Sequence[str] = (), give_way: Sequence[str] = ()
    ) -> None:
        super().__init__(header_style="bold", box=None)
        self._figures = figures
        self._give_way = give_way
        for column in columns:
            self.add_column(column, overflow="fold", no_wrap=column in figures)

    def add_cells(self, *cells: str) -> None:
        """Add a row of text as it is, but for what would act on the terminal."""
        self.add_row(*(Text(visible(cell)) for cell in cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        left_out: set[str] = set()
        for name in self._give_way:
            if self._needed(console, options, left_out) <= options.max_width:
                break
            left_out.add(name)
        yield from super().__rich_console__(console, options) if not left_out else [self._without(left_out)]

    def _needed(self, console: Console, options: ConsoleOptions, left_out: set[str]) -> int:
        """Columns of the terminal that the rest needs."""
        wide = options.update(max_width=10_000)
        widths = [
            (self._measure(console, wide, place), str(column.header))
            for place, column in enumerate(self.columns)
            if column.header not in left_out
        ]
        return sum(
            2 + (width if name in self._figures else min(width, _LEAST_WORDS)) for width, name in widths
        )

    def _measure(self, console: Console, options: ConsoleOptions, place: int) -> int:
        column = self.columns[place]
        cells: list[Any] = [column.header, *column.cells]
        return max(Measurement.get(console, options, cell).maximum for cell in cells)

    def _without(self, left_out: set[str]) -> "PlainTable":
        kept = [column for column in self.columns if column.header not in left_out]
        table = PlainTable([str(column.header) for column in kept], self._figures)
        for row in zip(*(column.cells for column in kept), strict=True):
            table.add_row(*row)
        return table


def plain_table(*columns: str, figures: Sequence[str] = (), give_way: Sequence[str] = ()) -> PlainTable:
    """A table with these headers; see `PlainTable`."""
    return PlainTable(columns, figures, give_way)


def named_values(values: Mapping[str, str]) -> Table:
    """One value a line, with its name before it."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in values.items():
        table.add_row(Text(visible(name), style="bold"), Text(visible(value)))
    return table
