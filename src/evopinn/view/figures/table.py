"""All figures in one table, and what they are made of: a run, or a trained network, with its problem."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evopinn.errors import EvopinnError, FigureError, UnknownNameError
from evopinn.genome import Genome
from evopinn.problem import Problem
from evopinn.run.reading import Reader
from evopinn.run.result import SearchResult
from evopinn.run.summary import find_best
from evopinn.training import TrainingResult
from evopinn.view.figures.activations import draw_activation, layer_uses
from evopinn.view.figures.courses import convergence
from evopinn.view.figures.lineages import lineage
from evopinn.view.figures.maps import error, solution
from evopinn.view.figures.outcomes import cost, failures
from evopinn.view.figures.populations import composition
from evopinn.view.figures.searches import generations, schedule
from evopinn.view.figures.structures import structure
from evopinn.view.figures.style import Panel, whole_figure
from evopinn.view.figures.subjects import intent_of, named_problem, problem_again, problem_of
from evopinn.view.figures.trees import formula, tree


class Subject:
    """What figures are made of; each part is looked up when the first figure needs it.

    Args:
        source: What a search found, or a trained network.
        problem: Its problem, or what that is called, if the source's own record does not do.

    Attributes:
        source: As given.
    """

    def __init__(self, source: SearchResult | TrainingResult, problem: Problem | str | None = None) -> None:
        self.source = source
        self._problem = problem

    @property
    def is_run(self) -> bool:
        """Whether there is a search to make figures of."""
        return isinstance(self.source, SearchResult)

    @property
    def run(self) -> SearchResult:
        """The search."""
        if isinstance(self.source, SearchResult):
            return self.source
        raise FigureError("this figure is of a search, and what was given is a single network.")

    @cached_property
    def network(self) -> TrainingResult:
        """The network, of a search the best."""
        return self.source.best if isinstance(self.source, SearchResult) else self.source

    @cached_property
    def genome(self) -> TrainingResult | Genome:
        """The network; if its weights are lost, what a search has recorded of it."""
        try:
            return self.network
        except EvopinnError:
            with Reader(self.run.directory) as reader:
                best = find_best(reader)
            if best is None:
                raise
            return Genome.parse(best.entry.genome)

    @cached_property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """What coordinates and fields are called; without weights, as the problem has it; else nothing."""
        given = self.genome
        if isinstance(given, TrainingResult):
            return given.coordinates, given.fields
        try:
            known = intent_of(self.run).source if self._problem is None else self._problem
            problem = known if isinstance(known, Problem) else named_problem(known)
        except FigureError:
            return (), ()
        return problem.axes, tuple(problem.fields)

    @cached_property
    def problem(self) -> Problem:
        """The problem that the network was trained on; a run's must still be what it was."""
        given = self._problem
        if isinstance(self.source, SearchResult):
            given = problem_again(intent_of(self.source), given)
        return problem_of(self.network, given)

    @cached_property
    def problem_if_known(self) -> Problem | None:
        """The same, or None if it cannot be had."""
        try:
            return self.problem
        except EvopinnError:
            return None


@dataclass(frozen=True)
class FigureRow:
    """A figure by name.

    Attributes:
        name: What it is called, and its file.
        shows: What there is to see, in a few words.
        make: Makes it.
        of_run: Whether it is of a search and not of a single network.
    """

    name: str
    shows: str
    make: Callable[[Subject], Axes | Panel]
    of_run: bool = False


def _activation(subject: Subject) -> Panel:
    network = subject.network
    return draw_activation(network.genome.activation, layer_uses(network, subject.problem_if_known))


def _structure(subject: Subject) -> Axes:
    coordinates, fields = subject.names
    return structure(subject.genome, coordinates=coordinates, fields=fields)


_ROWS = (
    FigureRow("structure", "layers and shortcuts", _structure),
    FigureRow("activation", "the activation and its derivatives where the network uses it", _activation),
    FigureRow("tree", "the activation as a tree of operators", lambda of: tree(of.genome)),
    FigureRow("formula", "the activation as a formula", lambda of: formula(of.genome)),
    FigureRow(
        "convergence",
        "loss and error over the epochs",
        lambda of: convergence(of.run if of.is_run else of.network),
    ),
    FigureRow(
        "solution",
        "solution, reference and error over the domain",
        lambda of: solution(of.network, problem=of.problem),
    ),
    FigureRow("error", "the error over the domain", lambda of: error(of.network, problem=of.problem)),
    FigureRow("generations", "losses by generation", lambda of: generations(of.run), of_run=True),
    FigureRow("schedule", "networks and epochs by generation", lambda of: schedule(of.run), of_run=True),
    FigureRow("lineage", "where the best genomes come from", lambda of: lineage(of.run), of_run=True),
    FigureRow("composition", "what the population is made of", lambda of: composition(of.run), of_run=True),
    FigureRow("failures", "failed trainings by kind", lambda of: failures(of.run), of_run=True),
    FigureRow("cost", "loss against the time of a training", lambda of: cost(of.run), of_run=True),
)

FIGURES: Mapping[str, FigureRow] = MappingProxyType({row.name: row for row in _ROWS})
"""All figures that `draw` makes, by name."""


def find_figure(name: str) -> FigureRow:
    """The figure of a name."""
    try:
        return FIGURES[name]
    except KeyError:
        raise UnknownNameError("figure", name, FIGURES, hint=f"There are {', '.join(FIGURES)}.") from None


def draw(name: str, subject: Subject) -> Figure:
    """Make one of the figures in `FIGURES`.

    Args:
        name: Which.
        subject: Of what.

    Raises:
        EvopinnError: It cannot be made of this; the message says why.
    """
    return whole_figure(find_figure(name).make(subject))
