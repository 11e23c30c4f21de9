"""The figures of a report: which there are, what each shows, and how it is drawn into the page."""

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

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


@dataclass(frozen=True)
class Scene:
    """What the words below a figure depend on.

    Attributes:
        finals: Whether final evaluations have begun.
        finished: Whether the search has come to its end.
        line: Whether solutions are functions of one coordinate.
        solved: Whether a solution is known to compare with.
    """

    finals: bool = True
    finished: bool = True
    line: bool = False
    solved: bool = True


_APART = "; the final evaluations stand apart"
_READ_COURSES = (
    "Dots are the epochs at which something was measured: nothing is known between them. A line that still "
    "falls at the end would have gained from more epochs."
)

ROWS: Mapping[str, PictureRow] = {
    row.name: row
    for row in (
        PictureRow(
            "solution",
            "The solution",
            "Left the network's solution, in the middle the known one, right their difference: where that is "
            "bright, the network is least exact.",
            "png",
        ),
        PictureRow(
            "convergence",
            "How the finalists were trained",
            "Loss, and error where it is known, over the epochs of the final trainings; a line is the "
            "arithmetic mean of a genome's trials, its band goes from the least to the greatest. "
            f"{_READ_COURSES}",
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
            "The activation and its first two derivatives in each layer, over the range that 99 % of its "
            "arguments are in on the problem's points, with the parameters that the layer has learnt.",
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
            f"right{_APART}.",
            "png",
        ),
        PictureRow(
            "schedule",
            "The schedule",
            "How many networks each round trains, and for how many epochs; evo-dpste begins with many that "
            "are trained briefly and ends with few that are trained for long. What a generation has above a "
            "dotted line are elitists of the one before, which are trained again. The final evaluations "
            "come last.",
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
"""In the order of the page; as they are of a run that is finished and whose solution is a map."""

_UNSOLVED = "The network's solution; none is known to compare it with."
_LINES = (
    "Left the network's solution and, dashed, the known one; right the difference of the two: where that is "
    "high, the network is least exact."
)
_BEST_SO_FAR = (
    "Loss, and error where it is known, over the epochs of the best single trainings so far, one of each "
    f"genome; there are no final evaluations yet. {_READ_COURSES}"
)
_AHEAD = " What is planned is dashed where it was not begun, and hatched in a round that is under way."


def described(row: PictureRow, scene: Scene) -> PictureRow:
    """A figure in the words that fit what is seen in it."""
    if row.name == "solution" and not scene.solved:
        return replace(row, caption=_UNSOLVED)
    if row.name == "solution" and scene.line:
        return replace(row, caption=_LINES)
    if row.name == "convergence" and not scene.finals:
        return replace(row, title="How the best were trained", caption=_BEST_SO_FAR)
    if row.name == "generations" and not scene.finals:
        return replace(row, caption=row.caption.replace(_APART, ""))
    if row.name == "schedule" and not scene.finished:
        return replace(row, caption=row.caption + _AHEAD)
    return row


def drawn(subject: Subject, names: Iterable[str], scene: Scene) -> tuple[dict[str, Picture], Undrawn]:
    """Draw figures of a run.

    Args:
        subject: The run.
        names: Which of `ROWS`.
        scene: What their words depend on.

    Returns:
        What could be drawn, and why the others could not.
    """
    rows = [described(ROWS[name], scene) for name in names]
    pictures, undrawn = drawn_rows([(row, partial(draw, row.name, subject)) for row in rows])
    return {each.name: each for each in pictures}, undrawn


def drawn_rows(rows: Iterable[tuple[PictureRow, Callable[[], Figure]]]) -> tuple[list[Picture], Undrawn]:
    """Draw figures, each by what makes it.

    Returns:
        What could be drawn, and why the others could not.
    """
    pictures: list[Picture] = []
    undrawn: Undrawn = {}
    for row, make in rows:
        try:
            pictures.append(picture(row, make()))
        except EvopinnError as reason:
            undrawn[row.name] = str(reason)
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
