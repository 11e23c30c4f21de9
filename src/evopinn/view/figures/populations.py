"""The composition of a search's population, generation by generation."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from evopinn.errors import FigureError
from evopinn.genome import Genome
from evopinn.genome.tree import walk
from evopinn.store.reader import Reader
from evopinn.view.figures.style import (
    AREAS,
    BLUE,
    GREY,
    PAGE,
    Panel,
    grid_of_axes,
    math,
    panel_on,
    styled,
)
from evopinn.view.figures.subjects import Run, run_of
from evopinn.view.figures.trees import operator_sign

_SAMPLE = 300
"""The maximum number of genomes of a generation that are read: enough for shares, and fast."""

_BINS = 30
_TRAITS: Sequence[tuple[str, Callable[[Genome], int]]] = (
    ("hidden layers", lambda genome: genome.structure.layers - 1),
    ("neurons per layer", lambda genome: genome.structure.neurons),
    ("shortcuts", lambda genome: len(genome.structure.shortcuts)),
)


@dataclass(frozen=True)
class _Bin:
    """Neighbouring generations that are shown as one; usually a single one."""

    first: int
    last: int
    genomes: tuple[Genome, ...]

    @property
    def middle(self) -> float:
        return (self.first + self.last) / 2

    @property
    def width(self) -> float:
        return self.last - self.first + 1


@styled()
def composition(run: Run, *, figure: Panel | None = None) -> Panel:
    """Plot the composition of the genomes of each generation: operators, layers, neurons, shortcuts.

    Operators are counted in all activations of a generation; for the others there is the median, with a band
    from quartile to quartile and one from the least to the greatest. At most 300 genomes of a generation are
    read.

    Args:
        run: The result of a search, or the directory or name of its run.
        figure: Where to draw.
    """
    found = run_of(run)
    with Reader(found.directory) as reader:
        kinds = {each.generation: each.kind for each in reader.generations()}
        sample = reader.genomes(_SAMPLE)
    grown = [(number, text) for number, text in sample if kinds[number] in {"generation", "batch"}]
    if not grown:
        raise FigureError(f"the run {found.directory} has not started any training yet.")
    bins = _bins(grown)
    figure = panel_on(figure, (PAGE, 4.6))
    (operators, layers), (neurons, shortcuts) = grid_of_axes(figure, 2, 2, sharex=True)
    _plot_operators(operators, bins)
    for ax, (name, trait) in zip((layers, neurons, shortcuts), _TRAITS, strict=True):
        _plot_trait(ax, bins, [[float(trait(genome)) for genome in each.genomes] for each in bins])
        ax.set_ylabel(name)
        ax.yaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    layers.legend(loc="best")
    for ax in (neurons, shortcuts):
        ax.set_xlabel("batch of proposals" if "batch" in kinds.values() else "generation")
        ax.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    operators.set_xlim(bins[0].first - 0.5, bins[-1].last + 0.5)
    return figure


def _bins(grown: Sequence[tuple[int, str]]) -> list[_Bin]:
    last = max(number for number, _ in grown)
    width = -(-last // _BINS)
    texts: dict[int, list[str]] = {}
    for number, text in grown:
        texts.setdefault((number - 1) // width, []).append(text)
    known = {text: Genome.parse(text) for text in {text for _, text in grown}}
    return [
        _Bin(1 + place * width, min((place + 1) * width, last), tuple(known[text] for text in texts[place]))
        for place in sorted(texts)
    ]


def operator_shares(genomes: Sequence[Genome]) -> Counter[str]:
    """How often each operator occurs in the activations of genomes."""
    return Counter(node.operator for genome in genomes for _, node in walk(genome.activation.root))


def _plot_operators(ax: Axes, bins: Sequence[_Bin]) -> None:
    counts = [operator_shares(each.genomes) for each in bins]
    often = [name for name, _ in sum(counts, Counter[str]()).most_common(len(AREAS))]
    totals = np.array([each.total() for each in counts], dtype=float)
    places, widths = [each.middle for each in bins], [0.9 * each.width for each in bins]
    bottom = np.zeros(len(bins))
    for name, colour in zip(often, AREAS, strict=False):
        share = np.array([each[name] for each in counts]) / totals
        bars = ax.bar(places, share, widths, bottom=bottom, color=colour, label=math(operator_sign(name)))
        bars[0].set_gid(name)
        bottom += share
    if (bottom < 1 - 1e-9).any():
        ax.bar(places, 1 - bottom, widths, bottom=bottom, color=GREY, alpha=0.4, label="others")
    ax.set_ylim(0, 1)
    ax.set_ylabel("share of operators")
    handles, labels = ax.get_legend_handles_labels()
    # From the top down, as they are stacked.
    ax.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.0)


def _plot_trait(ax: Axes, bins: Sequence[_Bin], values: Sequence[Sequence[float]]) -> None:
    x = [each.middle for each in bins]
    least, low, middle, high, most = np.array(
        [np.quantile(each, (0, 0.25, 0.5, 0.75, 1)) for each in values]
    ).T
    if len(x) == 1:  # a band needs a width
        wide = [x[0] - 0.45, x[0] + 0.45]
        least, low, high, most = (np.repeat(each, 2) for each in (least, low, high, most))
    else:
        wide = x
    ax.fill_between(wide, least, most, color=BLUE, alpha=0.12, linewidth=0, label="all")
    ax.fill_between(wide, low, high, color=BLUE, alpha=0.3, linewidth=0, label="quartiles")
    (line,) = ax.plot(x, middle, color=BLUE, marker=".", label="median")
    line.set_gid("median")
    ax.set_ylim(least.min() - 0.5, most.max() + 0.5)
