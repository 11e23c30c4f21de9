"""The characters that charts in a terminal are made of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """The characters that charts are made of, each one column wide.

    Attributes:
        levels: Of a sparkline, the lowest first.
        fractions: Of the last character of a bar, the smallest first, a full one at the end.
        planned: A bar of what is planned only.
        best: Marks the least value.
        median: Marks the median.
        quartiles: Fills what lies between the quartiles.
        upright: An axis.
        corner: Where the axes meet.
        across: The other axis.
    """

    levels: str
    fractions: str
    planned: str
    best: str
    median: str
    quartiles: str
    upright: str
    corner: str
    across: str


BLOCKS = Glyphs("▁▂▃▄▅▆▇█", "▏▎▍▌▋▊▉█", "░", "●", "━", "░", "│", "└", "─")
ASCII = Glyphs("_.-=+*%#", "#", ".", "o", "-", ":", "|", "+", "-")
