"""Plans for a budget: the number of generations, their sizes and their epochs."""

import math
from dataclasses import dataclass
from typing import cast

from evopinn.errors import SearchError
from evopinn.search.budget import Budget, spoken_time
from evopinn.search.costs import LEAST_LENGTH, PAPER_LAST, PAPER_WORK, SpanCosts
from evopinn.search.method import AnyMethod, Settings
from evopinn.search.methods import find_method
from evopinn.search.workload import Workload
from evopinn.search.workplan import Workplan

LEAST_LAST_EPOCHS = 20
"""A plan whose last generation would be trained for less is refused: such scores say nothing."""
_NOTHING_EVOLVES = (
    " There is a single generation, so nothing evolves: it is a choice among random networks. Give more for "
    "a second one."
)


@dataclass(frozen=True)
class Plan:
    """The work of a method within a budget.

    Attributes:
        method: Its name.
        workplan: How much the method does.
        settings: The method's settings.
        workload: The sum of the work.
        budget: The budget.
    """

    method: str
    workplan: Workplan
    settings: Settings
    workload: Workload
    budget: Budget

    @property
    def pace(self) -> float | None:
        """Seconds of an epoch, the mean over the search, if it is known how long a typical one takes."""
        typical = self.budget.seconds_per_epoch
        if typical is None:
            return None
        return typical * find_method(self.method).mean_cost(even=self.budget.even)

    @property
    def seconds(self) -> float | None:
        """The time that is predicted, if it is known how long an epoch takes."""
        pace = self.pace
        return None if pace is None else pace * SpanCosts.of_time(self.budget, pace).span(self.workload)

    def describe(self) -> str:
        """The plan in words."""
        steps = find_method(self.method).describe(self.workplan, self.settings, self.workload)
        text = (
            f"{self.method}: {steps}. That is {self.workload.trainings:,} "
            f"trainings with {self.workload.epochs:,} epochs in all"
        )
        if self.seconds is not None and self.pace is not None:
            workers = "1 worker" if self.budget.workers == 1 else f"{self.budget.workers} workers"
            coarse = any(stage.coarseness > 1 for stage in self.workload.stages)
            pace = f"{1000 * self.pace:.3g} ms an epoch{' on all points' if coarse else ''}"
            text += f": about {spoken_time(self.seconds)} on {workers} at a mean of {pace}"
        return f"{text}.{_NOTHING_EVOLVES if self.workplan.generations == 1 else ''}"


def planned(budget: Budget, method: str = "evo-dpste", settings: Settings | None = None) -> Plan:
    """A plan that spends a budget but for a few percent at most, and never more.

    Every generation costs about the same, the first one about twice as much, as in the paper. How many epochs
    the last generation gets follows from the budget too: a larger budget goes into more individuals, more
    generations and longer trainings alike, up to the paper's 5,000 epochs and 15 generations.

    Args:
        budget: In seconds, epochs or trainings.
        method: By name; each has another shape of plan.
        settings: The method's settings, which say how many elitists, candidates and evaluations there are.
    """
    row = find_method(method)
    chosen = settings or row.defaults
    if not row.takes_budget:
        raise SearchError(
            f"a budget of {budget} is given to {method}, which searches nothing by itself; give it "
            f"{row.workplan.wanted} instead."
        )
    if budget.seconds is not None:
        pace = cast(float, budget.seconds_per_epoch) * row.mean_cost(even=budget.even)
        planner = _Planner(row, chosen, SpanCosts.of_time(budget, pace))
        workplan = planner.for_span((budget.seconds - budget.spent) / pace)
    else:
        planner = _Planner(row, chosen, SpanCosts())
        workplan = (
            planner.for_trainings(budget.trainings)
            if budget.trainings is not None
            else planner.for_span(cast(int, budget.epochs))
        )
    if workplan is None:
        least = planner.least()
        reason = (
            f"the last trainings would have less than {LEAST_LAST_EPOCHS} epochs"
            if budget.trainings is None
            else f"it takes {least.trainings} or more, {least.stages[-1].trainings} of them final ones"
        )
        raise SearchError(
            f"a budget of {budget} is too small for {method}: {reason}; "
            "give more, or fewer candidates and evaluations."
        )
    return Plan(method, workplan, chosen, row.workload(workplan, chosen), budget)


@dataclass(frozen=True)
class _Planner:
    """Lays out plans of one method; work is span times workers."""

    method: AnyMethod
    settings: Settings
    costs: SpanCosts

    def for_span(self, span: float) -> Workplan | None:
        """A plan of this span, or None if it would be too short to be of use."""
        if span < LEAST_LENGTH:
            return None
        work = span * self.costs.workers
        last = min(PAPER_LAST, PAPER_LAST * (work / PAPER_WORK) ** 0.8)
        last = min(max(last, LEAST_LAST_EPOCHS), span / LEAST_LENGTH)
        workplan_for = self.method.for_budget(self.settings, self.costs, work, last)
        low, high = 0.0, 4.0  # the largest factor that fits into the span
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self._span(workplan_for(middle)) <= span else (low, middle)
        workplan = workplan_for(low)
        return None if workplan.longest < LEAST_LAST_EPOCHS or self._span(workplan) > span else workplan

    def for_trainings(self, trainings: int) -> Workplan | None:
        """The longest plan with no more trainings; the rest makes it wider, if the method can do that."""
        low, high = math.log(LEAST_LAST_EPOCHS), math.log(trainings * 2.0 * PAPER_LAST)
        for _ in range(30):
            middle = (low + high) / 2
            workplan = self.for_span(math.exp(middle))
            fits = workplan is None or self._load(workplan).trainings <= trainings
            low, high = (middle, high) if fits else (low, middle)
        workplan = self.for_span(math.exp(low))
        if workplan is None:
            return None
        return self.method.widened(workplan, trainings - self._load(workplan).trainings)

    def least(self) -> Workload:
        """The smallest plan."""
        return self._load(self.method.smallest(self.settings, self.costs))

    def _load(self, workplan: Workplan) -> Workload:
        return self.method.workload(workplan, self.settings)

    def _span(self, workplan: Workplan) -> float:
        return self.costs.span(self._load(workplan))
