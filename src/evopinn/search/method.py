"""The interface of a search method.

A method is a subclass of `Method` in a module of its own, with its settings, its workplan and its searcher,
and a row in `evopinn.search.methods`. Nothing else refers to it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast, final

import numpy as np

from evopinn.errors import SearchError, UnknownNameError
from evopinn.genome import PAPER, Genome, Space, initial_population
from evopinn.search.costs import SpanCosts
from evopinn.search.means import Mean
from evopinn.search.task import Searcher
from evopinn.search.workload import Workload
from evopinn.search.workplan import Workplan

if TYPE_CHECKING:
    from evopinn.search.presets import Preset
    from evopinn.search.schedule import Schedule


class Settings(Protocol):
    """The settings that every method has; each method's are a frozen dataclass."""

    @property
    def evaluations(self) -> int:
        """Number of trainings of each candidate at the end."""
        ...

    @property
    def mean(self) -> Mean:
        """The mean of their losses that ranks the candidates."""
        ...

    def workload(self, workplan: Any, /) -> Workload:
        """The maximum workload of a workplan."""
        ...


_SAMPLE = 100
"""Genomes of a sample of those that a search begins with."""

S = TypeVar("S", bound=Settings)
W = TypeVar("W", bound=Workplan)


@dataclass(frozen=True)
class Method(ABC, Generic[S, W]):
    """A way to search.

    Attributes:
        workplan: Its workplan.
        takes_budget: Whether it can plan from a budget; otherwise it needs a workplan.
        skips_costly: Whether it may skip a genome whose trainings would cost too much.
        name: Its name.
        summary: Its description in a few words.
        defaults: Its default settings; with `fixed`, they define the method.
        fixed: Names of the settings that define the method and cannot change.
        drift: Mean cost of an epoch over a whole search, in epochs of a genome that it begins with. Selection
            gradually prefers larger networks; trainings that fail at once cost next to nothing. Measured on
            Klein-Gordon for `evo-dpste` and `bo-fcresnet`, from which the others are judged.
        even_drift: The same where epochs are a measure of cost: larger networks are no dearer then.
    """

    workplan: ClassVar[type[Workplan]]
    takes_budget: ClassVar[bool] = True
    skips_costly: ClassVar[bool] = True

    name: str
    summary: str
    defaults: S
    fixed: tuple[str, ...] = ()
    drift: float = 1.0
    even_drift: float = 1.0

    @final
    def mean_cost(self, *, even: bool) -> float:
        """`even_drift` where epochs are a measure of cost, else `drift`."""
        return self.even_drift if even else self.drift

    @final
    @property
    def setting_names(self) -> tuple[str, ...]:
        """The settings that can be changed."""
        rows = fields(cast(Any, self.defaults))
        return tuple(row.name for row in rows if row.name not in self.fixed)

    @final
    def settings(self, **options: Any) -> S:
        """The method's settings with some of them changed; refuse unknown names."""
        for name in options:
            if name not in self.setting_names:
                hint = f"There are {', '.join(self.setting_names)}."
                raise UnknownNameError(f"setting of {self.name}", name, self.setting_names, hint)
        return replace(cast(Any, self.defaults), **options)

    @final
    def workload(self, workplan: Workplan, settings: Settings) -> Workload:
        """The maximum workload of the method."""
        fitting, own = self._fitting(workplan, settings)
        return own.workload(fitting)

    @final
    def make(
        self, workplan: Workplan, seed: int, space: Space = PAPER, settings: Settings | None = None
    ) -> Searcher:
        """A new searcher.

        Args:
            workplan: Its workplan.
            seed: All random choices follow from it and from the scores.
            space: The search space of the genomes.
            settings: From `settings`; the method's own by default.
        """
        fitting = self._fitting(workplan, self.defaults if settings is None else settings)
        return self._searcher(*fitting, seed, space)

    def _fitting(self, workplan: Workplan, settings: Settings) -> tuple[W, S]:
        if not isinstance(workplan, self.workplan) or not isinstance(settings, type(self.defaults)):
            raise SearchError(
                f"{self.name} got {type(workplan).__name__} and {type(settings).__name__}; "
                f"it needs {self.workplan.__name__} and {type(self.defaults).__name__}."
            )
        return cast(W, workplan), settings

    # What each method says.

    @abstractmethod
    def _searcher(self, workplan: W, settings: S, seed: int, space: Space) -> Searcher:
        """A new searcher."""

    def first_genomes(self, workplan: W | None, space: Space) -> Sequence[Genome]:
        """Genomes such as the search begins with, the same for each seed.

        Args:
            workplan: Its workplan, if it is known already.
            space: The search space.
        """
        del workplan
        return initial_population(space, _SAMPLE, np.random.default_rng(0))

    def for_budget(self, settings: S, costs: SpanCosts, work: float, last: float) -> Callable[[float], W]:
        """A plan for a budget: the workplan as a function of a factor by which all its epochs are multiplied.

        Args:
            settings: The method's.
            costs: The costs that count.
            work: Of the budget: its span times the workers.
            last: About how many epochs the longest trainings should have.
        """
        del settings, costs, work, last
        raise self._without("plan for a budget")

    def smallest(self, settings: S, costs: SpanCosts) -> W:
        """The smallest workplan for a budget; its epochs do not matter."""
        del settings, costs
        raise self._without("plan for a budget")

    def widened(self, workplan: W, trainings: int) -> W:
        """The same workplan with more trainings, if possible."""
        del trainings
        return workplan

    def matching(self, reference: "Schedule", epochs: int) -> W:
        """The workplan that spends this many epochs or slightly more, with default settings.

        Args:
            reference: A schedule that spends as many; the last trainings have about as many epochs as in
                that, so that the scores mean the same.
            epochs: How many.
        """
        del reference, epochs
        raise self._without("plan of exactly so many epochs")

    def of_preset(self, preset: "Preset") -> W:
        """The workplan of a preset."""
        del preset
        raise self._without("preset")

    def describe(self, workplan: W, settings: S, workload: Workload) -> str:
        """The stages of the work, in words."""
        return f"{workplan}; then {final_evaluations(settings, workload)}"

    def coarsest(self, settings: S) -> float:
        """The largest factor by which an axis has fewer points than in the problem."""
        del settings
        return 1.0

    def continued(self, workplan: W, settings: S) -> int:
        """The maximum number of trainings of a generation that a later one may continue."""
        del workplan, settings
        return 0

    def _without(self, what: str) -> SearchError:
        return SearchError(f"{self.name} has no {what}; give it {self.workplan.wanted}.")


AnyMethod = Method[Any, Any]


def final_evaluations(settings: Settings, workload: Workload) -> str:
    """The final evaluations in words."""
    last = workload.stages[-1]
    candidates = last.trainings // settings.evaluations
    chosen = "the best is" if candidates == 1 else f"the best {candidates} are"
    return f"{chosen} trained {times(settings.evaluations)} for {last.epochs:,} epochs"


def times(number: int) -> str:
    """A number of times, in words."""
    return "once" if number == 1 else f"{number} times"
