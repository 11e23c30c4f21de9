"""Tables and named values fitted to the width of a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from evopinn.run.wording import visible
from evopinn.view.tables.cells import NOTHING

if TYPE_CHECKING:
    from evopinn.view.tables.facts import Facts
    from evopinn.view.tables.table import Table

_LEAST_WORDS = 16
"""The minimum width of a column of words, so that they are not broken into single letters."""

_GAP = 2

_IN_ASCII = str.maketrans({"×": "x", "±": "~", "–": "-"})
"""The replacements of special characters on a terminal that only has ASCII."""


class FittedTable:
    """A table fitted to the width of a terminal, without borders and without spaces at the ends of lines.

    Args:
        table: The table.
    """

    def __init__(self, table: "Table") -> None:
        self._columns = table.columns
        self._cells = [
            [visible(column.header), *(visible(row[place].text) for row in table.shown)]
            for place, column in enumerate(table.columns)
        ]

    def _columns_of_text(self, options: ConsoleOptions) -> list[list[str]]:
        if not options.ascii_only:
            return self._cells
        return [[text.translate(_IN_ASCII) for text in column] for column in self._cells]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown, cells = self._shown(options.max_width), self._columns_of_text(options)
        table = RichTable(header_style="bold", box=None)
        for place in shown:
            column = self._columns[place]
            header, *_ = cells[place]
            justify = "right" if column.format.right else "left"
            table.add_column(Text(header), justify=justify, overflow="fold", no_wrap=column.format.whole)
        for row in zip(*(cells[place][1:] for place in shown), strict=True):
            table.add_row(*map(Text, row))
        yield from unpadded(console, options, table)

    def _shown(self, width: int) -> list[int]:
        """The places of the columns that fit."""
        places = list(range(len(self._columns)))
        give_way = [place for place in places if self._columns[place].gives_way]
        for place in sorted(give_way, key=lambda each: (-self._columns[each].gives_way, -each)):
            if sum(map(self._needed, places)) <= width:
                break
            places.remove(place)
        return places

    def _needed(self, place: int) -> int:
        width = max(map(cell_len, self._cells[place]))
        whole = self._columns[place].format.whole
        return _GAP + (width if whole else min(width, _LEAST_WORDS))


def unpadded(console: Console, options: ConsoleOptions, table: RichTable) -> Iterator[Segment]:
    """A table whose lines do not end in spaces."""
    for line in Segment.split_lines(console.render(table, options)):
        while line and not line[-1].control and not line[-1].text.strip():
            line.pop()
        if line:
            line[-1] = Segment(line[-1].text.rstrip(" "), line[-1].style, line[-1].control)
        yield from line
        yield Segment.line()


class FittedFacts:
    """Named values on a terminal, each on a line after its name.

    Args:
        facts: The values.
    """

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts.facts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = RichTable(show_header=False, box=None, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for fact in self._facts:
            table.add_row(Text(visible(fact.name), style="bold"), Text(visible(fact.said.text or NOTHING)))
        yield from unpadded(console, options, table)
