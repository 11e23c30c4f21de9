"""The ancestors of the best genomes of a search, and the steps between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from evopinn.errors import FigureError
from evopinn.run.record import find_best
from evopinn.search.task import CANDIDATE, RETRAINED
from evopinn.store.reader import Reader
from evopinn.store.records import Entry
from evopinn.view.figures.points import ABOVE
from evopinn.view.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    PAGE,
    PURPLE,
    SKY,
    SMALL,
    VERMILION,
    axes_on,
    plain,
    styled,
)
from evopinn.view.figures.subjects import Run, run_of

_MOST = 300
"""The maximum number of ancestors; more would be indistinguishable."""


@dataclass(frozen=True)
class StepKind:
    """A kind of step from parents to a child.

    Attributes:
        name: Its name.
        colour: Of its lines.
        words: The endings of the names of its operations.
    """

    name: str
    colour: str
    words: tuple[str, ...]


_ACTIVATION = StepKind("activation mutated", PURPLE, ("node", "nodes", "parameter"))

# The first that fits counts. A mutation may change structure, activation and start at once.
_KINDS = (
    StepKind("crossover", BLUE, ("crossover",)),
    StepKind("structure mutated", GREEN, ("layer", "neurons", "shortcut", "shortcuts")),
    StepKind("trained again", GREY, ("elitist", "survivor", "copy", RETRAINED, CANDIDATE)),
    _ACTIVATION,
    StepKind("start mutated", SKY, ("start",)),
)


@styled()
def lineage(run: Run, *, size: int = 3, ax: Axes | None = None) -> Axes:
    """Draw the ancestors of the best genomes by generation and loss, and how each came from its parents.

    A thick line leads to the most accurate network, from each network to the better of its parents, with
    the mutations written beside it.

    Args:
        run: The result of a search, or the directory or name of its run.
        size: The number of genomes of the hall of fame to show as well.
        ax: Where to draw.
    """
    found = run_of(run)
    with Reader(found.directory) as reader:
        best = find_best(reader)
        if best is None:
            raise FigureError(f"no training of the run {found.directory} has a finite loss.")
        famous = [best.entry, *reader.hall_of_fame(size)]
        trunk = main_line(reader, best.entry)
        family = ancestors(reader, [*trunk, *famous])
    if not any(entry.parents for entry in family.values()):
        raise FigureError(f"the best genomes of the run {found.directory} have no parents.")
    ax = axes_on(ax, (PAGE, 3.6))
    for entry in family.values():
        for parent in entry.parents:
            if parent in family:
                _draw_step(ax, family[parent], entry)
    for parent, child in pairwise(trunk):
        _draw_step(ax, parent, child, trunk=True)
        _name_step(ax, parent, child)
    places = [(entry.generation, entry.loss) for entry in family.values()]
    ax.scatter(*zip(*places, strict=True), s=9, color=BLACK, zorder=3).set_gid("ancestors")
    others = [(entry.generation, entry.loss) for entry in famous[1:] if entry.task != best.entry.task]
    winner = ax.scatter(
        [best.entry.generation], [best.entry.loss], marker="*", s=90, color=VERMILION, zorder=5
    )
    winner.set_gid("winner")
    if others:
        look = {"marker": "*", "s": 60, "facecolors": "white", "edgecolors": VERMILION, "zorder": 4}
        ax.scatter(*zip(*others, strict=True), **look).set_gid("hall of fame")
    ax.set_yscale("log")
    ax.margins(x=0.08, y=0.12)
    ax.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    ax.set_xlabel("generation")
    ax.set_ylabel("loss")
    shown = {kind_of(entry.operations) for entry in family.values() if entry.parents}
    handles = [Line2D([], [], color=kind.colour, label=kind.name) for kind in _KINDS if kind in shown]
    stars = [
        Line2D([], [], marker="*", linestyle="", color=VERMILION, markerfacecolor=fill, label=name)
        for name, fill in (("most accurate network", VERMILION), ("hall of fame", "white"))
    ]
    ax.legend(handles=[*handles, *stars[: 1 + bool(others)]], **ABOVE, ncols=6)
    return ax


def ancestors(reader: Reader, entries: Sequence[Entry]) -> dict[int, Entry]:
    """Evaluations and their ancestors with finite losses, by task."""
    family: dict[int, Entry] = {}
    ahead = list(entries)
    while ahead and len(family) < _MOST:
        entry = ahead.pop(0)
        if entry.task in family or not math.isfinite(entry.loss):
            continue
        family[entry.task] = entry
        ahead += [reader.final_evaluation(parent) for parent in entry.parents if parent not in family]
    return family


def main_line(reader: Reader, last: Entry) -> list[Entry]:
    """The line from the first ancestor to an evaluation that follows the better parent at each step."""
    line = [last]
    # A parent comes before its children: in a damaged record one that does not could lead round for ever.
    while parents := [reader.final_evaluation(each) for each in line[0].parents if each < line[0].task]:
        best = min(parents, key=lambda entry: entry.rank)
        if not math.isfinite(best.loss):
            break
        line.insert(0, best)
    return line


def kind_of(operations: Sequence[str]) -> StepKind:
    """The kind of step of some operations."""
    for kind in _KINDS:
        if any(operation.endswith(kind.words) for operation in operations):
            return kind
    return _ACTIVATION


def _draw_step(ax: Axes, parent: Entry, child: Entry, trunk: bool = False) -> None:
    (line,) = ax.plot(
        [parent.generation, child.generation],
        [parent.loss, child.loss],
        color=kind_of(child.operations).colour,
        linewidth=2.4 if trunk else 0.7,
        alpha=1.0 if trunk else 0.55,
        zorder=2 if trunk else 1,
    )
    line.set_gid(f"{'trunk' if trunk else 'step'} {parent.task}-{child.task}")


def _name_step(ax: Axes, parent: Entry, child: Entry) -> None:
    """Write the names of mutations; for other steps the colour is enough."""
    if kind_of(child.operations).name.endswith("mutated"):
        ax.annotate(
            plain("\n".join(child.operations)),
            ((parent.generation + child.generation) / 2, math.sqrt(parent.loss * child.loss)),
            xytext=(-4, -4),
            textcoords="offset points",
            ha="right",
            va="top",
            size=SMALL - 1,
        )
