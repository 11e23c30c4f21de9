"""From a budget to a plan: how many generations, how large, how many epochs."""

import math
from dataclasses import dataclass, replace
from typing import cast

from evopinn.errors import SearchError
from evopinn.searchers.checking import finite_from, positive, whole
from evopinn.searchers.methods import Method, Settings, find_method
from evopinn.searchers.schedule import Layout, Schedule, Trials, Workload
from evopinn.searchers.selection import elitist_count

# The paper's search on Klein-Gordon: so much work, and epochs from the first generation to the last.
PAPER_WORK, PAPER_FIRST, PAPER_LAST = 1.04e6, 100, 5000
MOST_GENERATIONS, MOST_CONSTANT_GENERATIONS = 15, 6
LEAST_POPULATION = 8
LEAST_LAST_EPOCHS = 20
"""A plan whose last generation would be trained for less is refused: such scores say nothing."""


@dataclass(frozen=True)
class Budget:
    """What a search may cost: one of seconds, epochs (of all trainings) or trainings.

    Attributes:
        seconds: Predicted time; needs `seconds_per_epoch`.
        epochs: Epochs of all trainings together.
        trainings: Number of trainings, those of elitists and of the final evaluations included.
        seconds_per_epoch: What an epoch of a typical genome takes on one worker.
        seconds_per_training: What a training takes beside its epochs.
        workers: How many trainings run side by side.
    """

    seconds: float | None = None
    epochs: int | None = None
    trainings: int | None = None
    seconds_per_epoch: float | None = None
    seconds_per_training: float = 0.0
    workers: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no budget."""
        given = [name for name in ("seconds", "epochs", "trainings") if getattr(self, name) is not None]
        if len(given) != 1:
            raise SearchError(
                f"a budget was given in {' and '.join(given) or 'nothing'}; "
                "give exactly one of seconds, epochs and trainings."
            )
        for name in (given[0], "seconds_per_epoch"):
            if getattr(self, name) is not None:
                positive(f"the budget's {name}", getattr(self, name))
        finite_from("the budget's seconds_per_training", self.seconds_per_training, 0.0)
        whole("workers", self.workers, 1)
        if self.seconds is not None and self.seconds_per_epoch is None:
            raise SearchError("a budget in seconds needs seconds_per_epoch; measure it, or give epochs.")

    @property
    def beside(self) -> float:
        """What a training costs beside its epochs, in epochs."""
        return self.seconds_per_training / self.seconds_per_epoch if self.seconds_per_epoch else 0.0

    def __str__(self) -> str:
        if self.seconds is not None:
            return spoken_time(self.seconds)
        return f"{self.epochs:,} epochs" if self.epochs is not None else f"{self.trainings:,} trainings"


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
    def seconds(self) -> float | None:
        """The time that is predicted, if it is known how long an epoch takes."""
        pace = self.budget.seconds_per_epoch
        return None if pace is None else pace * self.workload.span(self.budget.workers, self.budget.beside)

    def describe(self) -> str:
        """What will be done, in words."""
        settings, last = self.settings, self.workload.stages[-1]
        retrained = "" if getattr(settings, "pressure", True) else "each generation's best once more, and "
        text = (
            f"{self.method}: {self.layout}; then {retrained}the best {settings.candidates} are trained "
            f"{settings.evaluations} times for {last.epochs:,} epochs. That is {self.workload.trainings:,} "
            f"trainings with {self.workload.epochs:,} epochs in all"
        )
        if self.seconds is not None and self.budget.seconds_per_epoch is not None:
            workers = "1 worker" if self.budget.workers == 1 else f"{self.budget.workers} workers"
            pace = self.budget.seconds_per_epoch * 1000
            text += f": about {spoken_time(self.seconds)} on {workers} at {pace:.3g} ms an epoch"
        return f"{text}."


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
    workers = budget.workers if budget.seconds is not None else 1
    planner = _Planner(row, chosen, workers, budget.beside)
    if budget.trainings is not None:
        layout = planner.for_trainings(budget.trainings)
    elif budget.seconds is not None:
        layout = planner.for_span(budget.seconds / cast(float, budget.seconds_per_epoch))
    else:
        layout = planner.for_span(cast(int, budget.epochs))
    if layout is None:
        raise SearchError(
            f"a budget of {budget} is too small for {method}: the last trainings would have less than "
            f"{LEAST_LAST_EPOCHS} epochs; give more, or fewer candidates and evaluations."
        )
    return Plan(method, layout, chosen, row.workload(layout, chosen), budget)


@dataclass(frozen=True)
class _Planner:
    """Lays out plans of one method.

    A span is epochs one after another, work is span times workers, and `beside` is what a training costs
    beside its epochs, in epochs.
    """

    method: Method
    settings: Settings
    workers: int
    beside: float

    def for_span(self, span: float) -> Layout | None:
        """A plan that takes so long, or None if it would be too short to be of use."""
        work = span * self.workers
        # Many workers make a search wide, not long: a few stages have to fit one after another.
        last = min(PAPER_LAST, PAPER_LAST * (work / PAPER_WORK) ** 0.8)
        last = min(max(last, LEAST_LAST_EPOCHS), span / 6)
        if last < 1:
            return None
        shaped = {"dpste": self._falling, "constant": self._constant, "trials": self._trials}
        layout = self._stretched(*shaped[self.method.layout](work, last), span)
        longest = layout.epochs[-1] if isinstance(layout, Schedule) else layout.epochs
        return None if longest < LEAST_LAST_EPOCHS or self._span(layout) > span else layout

    def for_trainings(self, trainings: int) -> Layout | None:
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

    def _falling(self, work: float, last: float) -> tuple[list[int], list[float]]:
        """Populations and epochs of DPSTE: equal work a generation, twice as much in the first."""
        share = getattr(self.settings, "elitists", 0.0)
        least = self._least_population(share)
        retrained = 0.0 if getattr(self.settings, "pressure", True) else last
        left = work - self._final_work(last)
        smallest = (least + elitist_count(least, share)) * last + retrained
        generations = max(1, min(MOST_GENERATIONS, int(left / smallest) - 1))
        first = min(last, PAPER_FIRST * (work / PAPER_WORK) ** 0.25)
        ratio = (last / first) ** (1 / max(1, generations - 1))
        epochs = [last / ratio**back for back in reversed(range(generations))]
        each = (left - generations * retrained) / (generations + 1)
        populations = [self._population(2 * each / (epochs[0] + self.beside), 0.0, least)]
        populations += [self._population(each / (epoch + self.beside), share, least) for epoch in epochs[1:]]
        return [max(populations[g:]) for g in range(generations)], epochs

    def _constant(self, work: float, last: float) -> tuple[list[int], list[float]]:
        """The same population in every generation: fewer generations where it would be too small."""
        share = getattr(self.settings, "elitists", 0.0)
        least = self._least_population(share)
        left = (work - self._final_work(last)) / last
        generations, population = 1, least
        for generations in range(MOST_CONSTANT_GENERATIONS, 0, -1):
            population = self._population(
                left * (1 + share) / (1 + (generations - 1) * (1 + share)), share, 2
            )
            if population >= least:
                break
        return [max(population, least)] * generations, [last] * generations

    def _trials(self, work: float, last: float) -> tuple[list[int], list[float]]:
        """As many proposals as there is work for; workers beyond the batch have nothing to do."""
        batch = getattr(self.settings, "batch", 1)
        busy = min(self.workers, batch) / self.workers
        return [max(1, int((work - self._final_work(last)) * busy / last))], [last]

    def _stretched(self, populations: list[int], epochs: list[float], span: float) -> Layout:
        """The layout with all epochs multiplied by the largest factor that fits into the span."""

        def layout(factor: float) -> Layout:
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
        return self._load(layout).span(self.workers, self.beside)

    def _final_work(self, last: float) -> float:
        trainings = self.settings.candidates * self.settings.evaluations
        return -(-trainings // self.workers) * self.workers * last

    def _least_population(self, share: float) -> int:
        """Large enough to choose candidates from, and to keep all workers busy."""
        enough = max(LEAST_POPULATION, self.settings.candidates + self.settings.candidates % 2)
        return max(enough, self._population(self.workers, share, 2))

    def _population(self, trainings: float, share: float, least: int) -> int:
        """The largest even population that, with its elitists, fills the workers whole times."""
        room = math.floor(trainings)
        if room >= self.workers:
            room -= room % self.workers
        population = int(room / (1 + share)) // 2 * 2 + 2
        while population > least and population + elitist_count(population, share) > room:
            population -= 2
        return max(population, least)


def spoken_time(seconds: float) -> str:
    """A duration as a person says it: two units at most.

    Examples:
        >>> spoken_time(42), spoken_time(599.6), spoken_time(7500)
        ('42 s', '10 min', '2 h 5 min')
    """
    if seconds < 9.5:
        return f"{seconds:.2g} s"
    whole_seconds = round(seconds)
    minutes, rest = divmod(whole_seconds, 60)
    hours, minutes_left = divmod(round(seconds / 60), 60)
    parts = ((hours, "h"), (minutes_left, "min")) if minutes >= 60 else ((minutes, "min"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
