"""Tables and named values, each defined once and shown on a terminal, a page, in Markdown, CSV and JSON."""

from evopinn.view.tables.cells import FORMATS, NOTHING, Cell, Format, Kind
from evopinn.view.tables.facts import Fact, Facts, Phrase
from evopinn.view.tables.table import Column, Table

__all__ = ["FORMATS", "NOTHING", "Cell", "Column", "Fact", "Facts", "Format", "Kind", "Phrase", "Table"]
