"""The figures of a report: which there are, what each shows, and how it is drawn into the page."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure

from evopinn.errors import EvopinnError
from evopinn.view.figures.style import styled
from evopinn.view.figures.table import Subject, draw
from evopinn.view.report.facts import Picture

_DOTS = 180
"""Per inch: twice what the widest figure takes on a page, for screens with small dots."""

_LARGEST_DRAWING = 160_000
"""Bytes of a vector drawing above which dots are smaller, and faster to show."""

Undrawn = dict[str, str]


@dataclass(frozen=True)
class PictureRow:
    """A figure of a report.

    Attributes:
        name: Of the figure.
        title: A heading.
        caption: What is seen and how to read it.
        kind: `svg`, or `png` where there are many points or colours.
    """

    name: str
    title: str
    caption: str
    kind: str = "svg"


ROWS: Mapping[str, PictureRow] = {
    row.name: row
    for row in (
        PictureRow(
            "solution",
            "The solution",
            "Left the winner's solution, in the middle the known one, right their difference: where that is "
            "bright, the network is least exact. Where no solution is known there is only the network's.",
            "png",
        ),
        PictureRow(
            "convergence",
            "How the finalists were trained",
            "Loss, and error where it is known, over the epochs of the final trainings; a line is the mean "
            "of a genome's trials, its band goes from the least to the greatest. A line that still falls at "
            "the end would have gained from more epochs.",
        ),
        PictureRow(
            "structure",
            "Structure",
            "The layers from input to output with their neurons; a line above them is a shortcut that "
            "carries what enters its first layer past the others, to where it is added.",
        ),
        PictureRow(
            "activation",
            "The activation at work",
            "The activation and its first two derivatives in each layer, over the range that its argument "
            "takes on the problem's points, with the parameters that the layer has learnt.",
            "png",
        ),
        PictureRow(
            "tree",
            "The activation as a tree",
            "How the activation is put together: values flow from x up through the operators; a letter on "
            "an edge is a parameter that is learnt.",
        ),
        PictureRow(
            "generations",
            "Losses by generation",
            "Every point is a trained network; the red line is the best; where a generation has many, the "
            "blue one their median and the band their middle half. A search that works sinks from left to "
            "right; the final evaluations stand apart.",
            "png",
        ),
        PictureRow(
            "schedule",
            "The schedule",
            "How many networks each round trains, and for how many epochs; evo-dpste begins with many that "
            "are trained briefly and ends with few that are trained for long. What is planned and not "
            "reached yet is dashed.",
        ),
        PictureRow(
            "lineage",
            "Where the best come from",
            "Ancestors of the best genomes by generation and loss; the thick line leads to the best network, "
            "and the mutations on it are named.",
            "png",
        ),
        PictureRow(
            "composition",
            "What the population is made of",
            "The shares of operators in the activations of each generation, and the spread of layers, "
            "neurons and shortcuts: a share that grows was selected for.",
            "png",
        ),
        PictureRow(
            "cost",
            "Loss against cost",
            "Every point is a trained network: right is slower, low is better. What lies to the lower left "
            "is good and cheap.",
            "png",
        ),
        PictureRow(
            "failures",
            "Failures by kind",
            "Trainings that gave no network, by what happened, and attempts after which another was made.",
        ),
    )
}
"""In the order of the page."""


def drawn(subject: Subject, names: Iterable[str]) -> tuple[dict[str, Picture], Undrawn]:
    """Draw figures of a run.

    Args:
        subject: The run.
        names: Which of `ROWS`.

    Returns:
        What could be drawn, and why the others could not.
    """
    pictures: dict[str, Picture] = {}
    undrawn: Undrawn = {}
    for name in names:
        row = ROWS[name]
        try:
            figure = draw(name, subject)
            pictures[name] = picture(row, figure)
        except EvopinnError as reason:
            undrawn[name] = str(reason)
    return pictures, undrawn


def picture(row: PictureRow, figure: Figure) -> Picture:
    """A figure as a picture of the page."""
    kind, data = row.kind, _written(figure, row.kind)
    if kind == "svg" and len(data) > _LARGEST_DRAWING:
        kind, data = "png", _written(figure, "png")
    return Picture(row.name, row.title, row.caption, kind, data, float(figure.get_figwidth()))


@styled()
def _written(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(file, format=kind, dpi=_DOTS, metadata=metadata)
    return file.getvalue()
