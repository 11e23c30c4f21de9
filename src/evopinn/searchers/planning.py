"""From a budget to a plan: how many generations, how large, how many epochs."""

import math
from dataclasses import dataclass, replace
from typing import cast

from evopinn.errors import SearchError
from evopinn.searchers.bayes import BayesSettings
from evopinn.searchers.budget import Budget, spoken_time
from evopinn.searchers.evolution import EvolutionSettings
from evopinn.searchers.listed import ListedSettings
from evopinn.searchers.methods import Method, Settings, find_method
from evopinn.searchers.schedule import Layout, Schedule, Trials, Workload
from evopinn.searchers.selection import elitist_count

# The paper's search on Klein-Gordon: so much work, and epochs from the first generation to the last.
PAPER_WORK, PAPER_FIRST, PAPER_LAST = 1.04e6, 100, 5000
MOST_GENERATIONS, MOST_CONSTANT_GENERATIONS = 15, 6
LEAST_POPULATION = 8
LEAST_LAST_EPOCHS = 20
"""A plan whose last generation would be trained for less is refused: such scores say nothing."""
LEAST_LENGTH = 6
"""Many workers make a search wide, not long: so many of the last trainings fit one after another."""
SPREAD, EVEN_SPREAD = 0.7, 0.2
"""Of the times of trainings in one generation: standard deviation of their logarithm, and where epochs count
cost. In one search each on two workers it was 0.5 to 0.8 and 0.1 to 0.3."""
_NOTHING_EVOLVES = (
    " There is a single generation, so nothing evolves: it is a choice among random networks. Give more for "
    "a second one."
)


@dataclass(frozen=True)
class Plan:
    """What a method will do within a budget.

    Attributes:
        method: Its name.
        layout: The schedule or the trials.
        settings: The method's settings.
        workload: What they add up to.
        budget: What was given.
    """

    method: str
    layout: Layout
    settings: Settings
    workload: Workload
    budget: Budget

    @property
    def pace(self) -> float | None:
        """Seconds of an epoch, the mean over the search, if it is known how long a typical one takes."""
        typical = self.budget.seconds_per_epoch
        return (
            None if typical is None else typical * find_method(self.method).mean_cost(even=self.budget.even)
        )

    @property
    def seconds(self) -> float | None:
        """The time that is predicted, if it is known how long an epoch takes."""
        pace = self.pace
        return None if pace is None else pace * _Costs.of_time(self.budget, pace).span(self.workload)

    def describe(self) -> str:
        """What will be done, in words."""
        text = (
            f"{self.method}: {self._course}. That is {self.workload.trainings:,} "
            f"trainings with {self.workload.epochs:,} epochs in all"
        )
        if self.seconds is not None and self.pace is not None:
            workers = "1 worker" if self.budget.workers == 1 else f"{self.budget.workers} workers"
            coarse = any(stage.coarseness > 1 for stage in self.workload.stages)
            pace = f"{1000 * self.pace:.3g} ms an epoch{' on all points' if coarse else ''}"
            text += f": about {spoken_time(self.seconds)} on {workers} at a mean of {pace}"
        return f"{text}.{_NOTHING_EVOLVES if self._is_single_generation else ''}"

    @property
    def _course(self) -> str:
        """What is done one after another."""
        settings, last = self.settings, self.workload.stages[-1]
        times = "once" if settings.evaluations == 1 else f"{settings.evaluations} times"
        if isinstance(settings, ListedSettings):
            return f"{self.layout}, each trained {times}"
        retrained = "each generation's best once more, and " if settings.retrains_best else ""
        candidates = last.trainings // settings.evaluations
        chosen = "the best is" if candidates == 1 else f"the best {candidates} are"
        return (
            f"{self.layout}{self._elitists}; then {retrained}{chosen} trained {times} "
            f"for {last.epochs:,} epochs"
        )

    @property
    def _elitists(self) -> str:
        """How many are trained beyond the populations; nothing if none are."""
        if not isinstance(self.layout, Schedule) or not isinstance(self.settings, EvolutionSettings):
            return ""
        counts = [elitist_count(size, self.settings.elitists) for size in self.layout.populations[1:]]
        if not any(counts):
            return ""
        chosen = "the best " if self.settings.pressure else ""
        listed = str(counts[0]) if len(set(counts)) == 1 else ", ".join(map(str, counts))
        since = "in the second" if len(counts) == 1 else "from the second on"
        return f", {since} with {chosen}{listed} of the generation before trained again"

    @property
    def _is_single_generation(self) -> bool:
        return isinstance(self.layout, Schedule) and self.layout.generations == 1


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
    if isinstance(chosen, ListedSettings):
        raise SearchError(
            f"a budget of {budget} is given to {method}, which trains what is listed; give it a table "
            "[roster] of genomes and epochs instead."
        )
    if budget.seconds is not None:
        pace = cast(float, budget.seconds_per_epoch) * row.mean_cost(even=budget.even)
        planner = _Planner(row, chosen, _Costs.of_time(budget, pace))
        layout = planner.for_span((budget.seconds - budget.spent) / pace)
    else:
        planner = _Planner(row, chosen, _Costs())
        layout = (
            planner.for_trainings(budget.trainings)
            if budget.trainings is not None
            else planner.for_span(cast(int, budget.epochs))
        )
    if layout is None:
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
    return Plan(method, layout, chosen, row.workload(layout, chosen), budget)


@dataclass(frozen=True)
class _Costs:
    """What counts in a span, which is epochs one after another; by default nothing but epochs.

    Attributes:
        workers: How many trainings run side by side.
        beside: What a training costs beside its epochs, in epochs.
        coarse_exponent: How much less an epoch costs on coarser points.
        spread: Of the times of trainings, the longest of which a generation may have to wait for.
    """

    workers: int = 1
    beside: float = 0.0
    coarse_exponent: float = 0.0
    spread: float = 0.0

    @classmethod
    def of_time(cls, budget: Budget, pace: float) -> "_Costs":
        """What takes time, if an epoch on all points takes `pace` seconds."""
        spread = EVEN_SPREAD if budget.even else SPREAD
        return cls(budget.workers, budget.seconds_per_training / pace, budget.coarse_exponent, spread)

    def span(self, workload: Workload) -> float:
        """The span of a workload."""
        return workload.span(self.workers, self.beside, self.coarse_exponent, self.spread)


@dataclass(frozen=True)
class _Planner:
    """Lays out plans of one method; work is span times workers."""

    method: Method
    settings: EvolutionSettings | BayesSettings
    costs: _Costs

    def for_span(self, span: float) -> Schedule | Trials | None:
        """A plan that takes so long, or None if it would be too short to be of use."""
        if span < LEAST_LENGTH:
            return None
        work = span * self.costs.workers
        last = min(PAPER_LAST, PAPER_LAST * (work / PAPER_WORK) ** 0.8)
        last = min(max(last, LEAST_LAST_EPOCHS), span / LEAST_LENGTH)
        match self.settings:
            case BayesSettings() as settings:
                shape = self._trials(settings, work, last)
            case EvolutionSettings() as settings:
                shaped = self._constant if self.method.layout == "constant" else self._falling
                shape = shaped(settings, work, last)
        layout = self._stretched(*shape, span)
        longest = layout.epochs[-1] if isinstance(layout, Schedule) else layout.epochs
        return None if longest < LEAST_LAST_EPOCHS or self._span(layout) > span else layout

    def for_trainings(self, trainings: int) -> Schedule | Trials | None:
        """The longest plan with no more trainings; its first population, or its trials, take up the rest."""
        low, high = math.log(LEAST_LAST_EPOCHS), math.log(trainings * 2.0 * PAPER_LAST)
        for _ in range(30):
            middle = (low + high) / 2
            layout = self.for_span(math.exp(middle))
            fits = layout is None or self._load(layout).trainings <= trainings
            low, high = (middle, high) if fits else (low, middle)
        layout = self.for_span(math.exp(low))
        if layout is None:
            return None
        missing = trainings - self._load(layout).trainings
        if isinstance(layout, Trials):
            return replace(layout, evaluations=layout.evaluations + missing)
        if self.method.layout == "constant":
            return layout  # one individual more would be one more in every generation
        first, *others = layout.populations
        return replace(layout, populations=(first + missing, *others))

    def least(self) -> Workload:
        """The smallest plan."""
        match self.settings:
            case BayesSettings() as settings:
                smallest = Trials(max(settings.candidates, LEAST_LENGTH - self._final_trainings()), 1)
            case EvolutionSettings() as settings:
                smallest = Schedule((self._least_population(settings.elitists),), (1,))
        return self._load(smallest)

    def _falling(
        self, settings: EvolutionSettings, work: float, last: float
    ) -> tuple[list[int], list[float]]:
        """Populations and epochs of DPSTE: equal work a generation, twice as much in the first."""
        share, beside = settings.elitists, self.costs.beside
        least = self._least_population(share)
        retrained = last if settings.retrains_best else 0.0
        left = work - self._final_work(last)
        smallest = (least + elitist_count(least, share)) * last + retrained
        generations = max(1, min(MOST_GENERATIONS, int(left / smallest) - 1))
        if settings.retrains_best:  # there are no more candidates than generations
            left = work - self._final_work(last, generations)
        first = min(last, PAPER_FIRST * (work / PAPER_WORK) ** 0.25)
        ratio = (last / first) ** (1 / max(1, generations - 1))
        epochs = [last / ratio**back for back in reversed(range(generations))]
        weighted = [
            epoch * weight for epoch, weight in zip(epochs, self._weights(settings, generations), strict=True)
        ]
        each = (left - generations * retrained) / (generations + 1)
        populations = [self._population(2 * each / (weighted[0] + beside), 0.0, least)]
        populations += [self._population(each / (epoch + beside), share, least) for epoch in weighted[1:]]
        return [max(populations[g:]) for g in range(generations)], epochs

    def _constant(
        self, settings: EvolutionSettings, work: float, last: float
    ) -> tuple[list[int], list[float]]:
        """The same population in every generation: fewer generations where it would be too small."""
        share = settings.elitists
        least = self._least_population(share)
        left = (work - self._final_work(last)) / last
        generations, population = 1, least
        for generations in range(MOST_CONSTANT_GENERATIONS, 0, -1):
            first, *others = self._weights(settings, generations)
            population = self._population(left * (1 + share) / (first + sum(others) * (1 + share)), share, 2)
            if population >= least:
                break
        return [max(population, least)] * generations, [last] * generations

    def _trials(self, settings: BayesSettings, work: float, last: float) -> tuple[list[int], list[float]]:
        """As many proposals as there is work for; workers beyond the batch have nothing to do."""
        busy = min(self.costs.workers, settings.side_by_side) / self.costs.workers
        trials = int((work - self._final_work(last)) * busy / last)
        return [max(settings.candidates, trials)], [last]

    def _weights(self, settings: EvolutionSettings, generations: int) -> list[float]:
        """What an epoch costs in each generation."""
        return [factor**-self.costs.coarse_exponent for factor in settings.coarsenesses(generations)]

    def _stretched(self, populations: list[int], epochs: list[float], span: float) -> Schedule | Trials:
        """The layout with all epochs multiplied by the largest factor that fits into the span."""

        def layout(factor: float) -> Schedule | Trials:
            numbers = [max(1, round(factor * epoch)) for epoch in epochs]
            if self.method.layout == "trials":
                return Trials(populations[0], numbers[0])
            return Schedule(tuple(populations), tuple(numbers))

        low, high = 0.0, 4.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self._span(layout(middle)) <= span else (low, middle)
        return layout(low)

    def _load(self, layout: Layout) -> Workload:
        return self.method.workload(layout, self.settings)

    def _span(self, layout: Layout) -> float:
        return self.costs.span(self._load(layout))

    def _final_trainings(self, most: int | None = None) -> int:
        """How many evaluate the candidates, of which there may be no more than so many."""
        candidates = self.settings.candidates if most is None else min(self.settings.candidates, most)
        return candidates * self.settings.evaluations

    def _final_work(self, last: float, most: int | None = None) -> float:
        workers = self.costs.workers
        return -(-self._final_trainings(most) // workers) * workers * last

    def _least_population(self, share: float) -> int:
        """Large enough to choose candidates from, and to keep all workers busy."""
        enough = max(LEAST_POPULATION, self.settings.candidates + self.settings.candidates % 2)
        return max(enough, self._population(self.costs.workers, share, 2))

    def _population(self, trainings: float, share: float, least: int) -> int:
        """The largest even population that, with its elitists, fills the workers whole times."""
        room = math.floor(trainings)
        if room >= self.costs.workers:
            room -= room % self.costs.workers
        population = int(room / (1 + share)) // 2 * 2 + 2
        while population > least and population + elitist_count(population, share) > room:
            population -= 2
        return max(population, least)
