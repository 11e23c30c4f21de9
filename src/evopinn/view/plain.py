"""Tables without lines around them, as all commands print them."""

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text


def plain_table(*columns: str) -> Table:
    """A table with these headers; a cell that is too long goes on below."""
    table = Table(header_style="bold", box=None)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def named_values(values: Mapping[str, str]) -> Table:
    """One value a line, with its name before it."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in values.items():
        table.add_row(Text(name, style="bold"), Text(value))
    return table
