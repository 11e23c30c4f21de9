"""The table of all figures: their words, what they need, where they appear, and how they are drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evopinn.errors import UnknownNameError
from evopinn.training import TrainingResult
from evopinn.view.figures.activations import draw_activation, layer_uses
from evopinn.view.figures.histories import convergence
from evopinn.view.figures.lineages import lineage
from evopinn.view.figures.maps import error, solution
from evopinn.view.figures.outcomes import cost, failures
from evopinn.view.figures.populations import composition
from evopinn.view.figures.searches import generations, schedule
from evopinn.view.figures.structures import structure
from evopinn.view.figures.style import Panel, whole_figure
from evopinn.view.figures.subjects import Subject
from evopinn.view.figures.trees import formula, tree

Need = Literal["genome", "network", "problem", "run"]
"""What a figure requires: a genome; its trained weights; weights and the problem; a search."""

Part = Literal["", "best", "search", "failures"]
"""Parts of a report that have figures."""

Page = Literal["best", "task", "search"]
"""Places of the dashboard that have figures: a run's best network, the page of a task, a run's search."""


@dataclass(frozen=True)
class Scene:
    """The facts that titles and captions depend on.

    Attributes:
        finals: Whether final evaluations have started.
        finished: Whether the search is complete.
        trained: Whether the network's weights are available.
        measured: Whether the problem is available too.
        line: Whether solutions are functions of one coordinate; None if unknown.
        solved: Whether the problem has a reference solution; None if unknown.
    """

    finals: bool = True
    finished: bool = True
    trained: bool = True
    measured: bool = True
    line: bool | None = False
    solved: bool | None = True


Words = str | Callable[[Scene], str]


@dataclass(frozen=True)
class FigureRow:
    """A figure.

    Attributes:
        name: Its name, and its file's.
        shows: What it shows, in a few words.
        title: The heading above it.
        caption: What it shows in detail, and how to read it.
        needs: What it requires.
        make: Draws it.
        kind: Its format in pages: `svg`, or `png` for many points or colours.
        report: The part of a report that has it; empty for none.
        beside: Whether a report of several runs has it for each of them.
        dashboard: The places of the dashboard that have it.
        gains: Whether it shows more if the problem, which it does not require, is available.
    """

    name: str
    shows: str
    title: Words
    caption: Words
    needs: Need
    make: Callable[[Subject], Axes | Panel]
    kind: str = "png"
    report: Part = ""
    beside: bool = False
    dashboard: tuple[Page, ...] = ()
    gains: bool = False

    @property
    def of_run(self) -> bool:
        """Whether it shows a search, not a single network."""
        return self.needs == "run"

    def words(self, scene: Scene) -> tuple[str, str]:
        """Title and caption."""
        title, caption = (
            each if isinstance(each, str) else each(scene) for each in (self.title, self.caption)
        )
        return title, caption


def _activation(subject: Subject) -> Panel:
    model = subject.model
    uses = layer_uses(model, subject.problem_if_known) if isinstance(model, TrainingResult) else ()
    return draw_activation(subject.genome.activation, uses)


def _structure(subject: Subject) -> Axes:
    coordinates, fields = subject.names
    return structure(subject.model, coordinates=coordinates, fields=fields)


def _solution_caption(scene: Scene) -> str:
    if scene.solved is None or scene.line is None:
        return (
            "The network's solution; where a reference solution is known, also this and the absolute error."
        )
    if not scene.solved:
        return "The network's solution. No reference solution is known."
    if scene.line:
        return (
            "Left: the network's solution, and the reference solution as a dashed line. Right: the absolute "
            "error; where it is high, the network is least accurate."
        )
    return (
        "Left: the network's solution. Middle: the reference solution. Right: the absolute error; where it "
        "is bright, the network is least accurate."
    )


def _activation_caption(scene: Scene) -> str:
    if not scene.trained:
        return (
            "The activation and its first two derivatives around zero, with all parameters at 1, because "
            "this network's weights were not kept."
        )
    learnt = "with the parameters that each layer has learnt"
    if not scene.measured:
        return f"The activation and its first two derivatives, {learnt}."
    return (
        f"The activation and its first two derivatives, {learnt}, over the range that contains 99 % of the "
        "layer's inputs on the problem's points."
    )


def _convergence_title(scene: Scene) -> str:
    return "How the finalists were trained" if scene.finals else "How the best were trained"


def _convergence_caption(scene: Scene) -> str:
    trainings = (
        "the final trainings; a line is the arithmetic mean over a genome's trials, and its band reaches "
        "from the lowest to the highest"
        if scene.finals
        else "the best single trainings so far, one for each genome; there are no final evaluations yet"
    )
    return (
        f"Loss, and error where it is known, over the epochs of {trainings}. Dots mark the epochs at which "
        "values were recorded. A line that still falls at the end would have gained from more epochs."
    )


def _generations_caption(scene: Scene) -> str:
    finals = "; the final evaluations stand apart, to the right" if scene.finals else ""
    return (
        "Every point is a trained network; the red line is the best of each generation. In large "
        "generations, the blue line is the median and the band the middle half. In a successful search, "
        f"losses fall from left to right{finals}."
    )


def _schedule_caption(scene: Scene) -> str:
    planned = "" if scene.finished else " Dashed: planned; hatched: the untrained part of the current round."
    return (
        "How many networks each round trains, and for how many epochs; evo-dpste starts with many short "
        "trainings and ends with few long ones. Elitists, trained again from the previous generation, are "
        f"above the dotted line. The final evaluations come last.{planned}"
    )


_ROWS = (
    FigureRow(
        "solution",
        "solution, reference and error over the domain",
        "The solution",
        _solution_caption,
        "problem",
        lambda of: solution(of.network, problem=of.problem),
        report="best",
        beside=True,
        dashboard=("best",),
    ),
    FigureRow(
        "error",
        "the error over the domain",
        "The error",
        "The absolute error of the network's solution.",
        "problem",
        lambda of: error(of.network, problem=of.problem),
    ),
    FigureRow(
        "structure",
        "layers and shortcuts",
        "Structure",
        "The layers from input to output, with their neurons. A line above them is a shortcut: it carries "
        "the input of its first layer past the others and adds it where it arrives.",
        "genome",
        _structure,
        kind="svg",
        report="best",
        beside=True,
        dashboard=("best", "task"),
    ),
    FigureRow(
        "activation",
        "the activation and its derivatives where the network uses it",
        "The activation at work",
        _activation_caption,
        "genome",
        _activation,
        report="best",
        dashboard=("task",),
        gains=True,
    ),
    FigureRow(
        "convergence",
        "loss and error over the epochs",
        _convergence_title,
        _convergence_caption,
        "network",
        lambda of: convergence(of.run if of.is_run else of.network),
        kind="svg",
        report="best",
    ),
    FigureRow(
        "tree",
        "the activation as a tree of operators",
        "The activation as a tree",
        "Values flow from x up through the operators; a letter on an edge is a parameter that is learnt.",
        "genome",
        lambda of: tree(of.genome),
        kind="svg",
        report="best",
    ),
    FigureRow(
        "formula",
        "the activation as a formula",
        "The activation as a formula",
        "Greek letters are parameters that each layer learns.",
        "genome",
        lambda of: formula(of.genome),
        kind="svg",
        dashboard=("best", "task"),
    ),
    FigureRow(
        "generations",
        "losses by generation",
        "Losses by generation",
        _generations_caption,
        "run",
        lambda of: generations(of.run),
        report="search",
        beside=True,
    ),
    FigureRow(
        "schedule",
        "networks and epochs by generation",
        "The schedule",
        _schedule_caption,
        "run",
        lambda of: schedule(of.run),
        kind="svg",
        report="search",
    ),
    FigureRow(
        "lineage",
        "where the best genomes come from",
        "Where the best come from",
        "Ancestors of the best genomes by generation and loss. The thick line leads to the most accurate "
        "network; the mutations along it are named.",
        "run",
        lambda of: lineage(of.run),
        report="search",
        dashboard=("search",),
    ),
    FigureRow(
        "composition",
        "what the population is made of",
        "What the population is made of",
        "The share of each operator in the activations of a generation, and the spread of layers, neurons "
        "and shortcuts. A share that grows was selected for.",
        "run",
        lambda of: composition(of.run),
        report="search",
        dashboard=("search",),
    ),
    FigureRow(
        "cost",
        "loss against the time of a training",
        "Loss against cost",
        "Every point is a trained network: further right is slower, lower is better. The good and cheap ones "
        "are at the lower left.",
        "run",
        lambda of: cost(of.run),
        report="search",
        dashboard=("search",),
    ),
    FigureRow(
        "failures",
        "failed trainings by kind",
        "Failures by kind",
        "Trainings that gave no network, by cause, and attempts that were tried again.",
        "run",
        lambda of: failures(of.run),
        kind="svg",
        report="failures",
    ),
)

FIGURES: Mapping[str, FigureRow] = MappingProxyType({row.name: row for row in _ROWS})
"""All figures that `draw` makes, by name."""

REPORTED = tuple(row.name for row in _ROWS if row.report)
"""Names of the figures of a report."""

BESIDE = tuple(row.name for row in _ROWS if row.beside)
"""Names of those that a report of several runs has for each of them."""


def find_figure(name: str) -> FigureRow:
    """The figure of a name."""
    try:
        return FIGURES[name]
    except KeyError:
        raise UnknownNameError("figure", name, FIGURES, hint=f"There are {', '.join(FIGURES)}.") from None


def draw(name: str, subject: Subject) -> Figure:
    """Draw one of the figures in `FIGURES`.

    Args:
        name: Its name.
        subject: Its subject.

    Raises:
        EvopinnError: It cannot be drawn of this subject; the message says why.
    """
    return whole_figure(find_figure(name).make(subject))
