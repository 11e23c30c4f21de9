"""Evolution as methods of `evopinn search`: with DPSTE, without it, and random search.

The plans for a budget give each generation about the same work, and with DPSTE the first one about twice as
much, as in the paper.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, final

from evopinn.errors import SearchError
from evopinn.genome import Space
from evopinn.search.costs import PAPER_FIRST, PAPER_WORK, SpanCosts, scaled_epochs
from evopinn.search.evolution import Evolution, EvolutionSettings
from evopinn.search.method import Method, final_evaluations
from evopinn.search.schedule import Schedule
from evopinn.search.selection import elitist_count
from evopinn.search.workload import Workload

if TYPE_CHECKING:
    from evopinn.search.presets import Preset

MOST_GENERATIONS, MOST_CONSTANT_GENERATIONS = 15, 6
LEAST_POPULATION = 8


@dataclass(frozen=True)
class EvolutionMethod(Method[EvolutionSettings, Schedule]):
    """Evolution by a schedule; its subclasses differ only in the schedules that they plan."""

    workplan: ClassVar = Schedule

    def _searcher(
        self, workplan: Schedule, settings: EvolutionSettings, seed: int, space: Space
    ) -> Evolution:
        return Evolution(workplan, seed, space, settings)

    @final
    def for_budget(
        self, settings: EvolutionSettings, costs: SpanCosts, work: float, last: float
    ) -> Callable[[float], Schedule]:
        """A schedule for a budget, as a function of a factor of its epochs."""
        populations, epochs = self._shape(_GenerationLimits(settings, costs), work, last)
        return lambda factor: Schedule(
            tuple(populations), tuple(scaled_epochs(number, factor) for number in epochs)
        )

    @abstractmethod
    def _shape(self, room: "_GenerationLimits", work: float, last: float) -> tuple[list[int], list[float]]:
        """Populations and epochs by generation."""

    def smallest(self, settings: EvolutionSettings, costs: SpanCosts) -> Schedule:
        """One generation of the least population."""
        return Schedule((_GenerationLimits(settings, costs).least_population,), (1,))

    def describe(self, workplan: Schedule, settings: EvolutionSettings, workload: Workload) -> str:
        """The generations, the elitists retrained in them, and the final evaluations, in words."""
        retrained = "each generation's best once more, and " if settings.retrains_best else ""
        return (
            f"{workplan}{self._elitists(settings, workload)}; then {retrained}"
            f"{final_evaluations(settings, workload)}"
        )

    @staticmethod
    def _elitists(settings: EvolutionSettings, workload: Workload) -> str:
        """The elitists that are retrained, in words; empty without any."""
        counts = [stage.again for stage in workload.stages if stage.kind == "generation"][1:]
        if not any(counts):
            return ""
        chosen = "the best " if settings.pressure else ""
        listed = str(counts[0]) if len(set(counts)) == 1 else ", ".join(map(str, counts))
        since = "in the second" if len(counts) == 1 else "from the second on"
        return f", {since} with {chosen}{listed} of the generation before trained again"

    def coarsest(self, settings: EvolutionSettings) -> float:
        """The coarseness of the first generation."""
        return settings.coarsening

    def continued(self, workplan: Schedule, settings: EvolutionSettings) -> int:
        """The maximum number of trainings of a generation that a later one may continue."""
        if not settings.continue_elitists or workplan.generations == 1:
            return 0
        if not settings.pressure:  # survivors are drawn at random, from all that were trained as long
            return 2 * sum(workplan.populations)
        return elitist_count(workplan.populations[1], settings.elitists)


@final
@dataclass(frozen=True)
class DynamicEvolution(EvolutionMethod):
    """With DPSTE: populations fall and epochs rise."""

    def of_preset(self, preset: "Preset") -> Schedule:
        """The preset's falling populations."""
        return preset.dpste

    def widened(self, workplan: Schedule, trainings: int) -> Schedule:
        """The same with a larger first generation."""
        first, *others = workplan.populations
        return replace(workplan, populations=(first + trainings, *others))

    def _shape(self, room: "_GenerationLimits", work: float, last: float) -> tuple[list[int], list[float]]:
        """Equal work a generation, twice as much in the first."""
        share, beside, least = room.settings.elitists, room.costs.beside, room.least_population
        retrains_best = room.settings.retrains_best
        retrained = last if retrains_best else 0.0
        left = work - room.final_work(last)
        smallest = (least + elitist_count(least, share)) * last + retrained
        generations = max(1, min(MOST_GENERATIONS, int(left / smallest) - 1))
        if retrains_best:  # there are no more candidates than generations
            left = work - room.final_work(last, generations)
        first = min(last, PAPER_FIRST * (work / PAPER_WORK) ** 0.25)
        ratio = (last / first) ** (1 / max(1, generations - 1))
        epochs = [last / ratio**back for back in reversed(range(generations))]
        weighted = [epoch * weight for epoch, weight in zip(epochs, room.weights(generations), strict=True)]
        each = (left - generations * retrained) / (generations + 1)
        populations = [room.population(2 * each / (weighted[0] + beside), 0.0, least)]
        populations += [room.population(each / (epoch + beside), share, least) for epoch in weighted[1:]]
        return [max(populations[g:]) for g in range(generations)], epochs

    def matching(self, reference: Schedule, epochs: int) -> Schedule:
        """The same schedule, reduced if the method trains more beside it.

        First the first generation becomes smaller, then the epochs fewer.
        """
        numbers = list(reference.epochs)
        while True:
            schedule = Schedule(reference.populations, tuple(numbers))
            excess = self.workload(schedule, self.defaults).epochs - epochs
            first, *others = reference.populations
            fewer = first - excess // numbers[0]
            if fewer >= max(others, default=2):
                return Schedule((fewer, *others), tuple(numbers))
            # The long trainings cost most and are many enough for one epoch less to be a small step.
            numbers = [min(each, numbers[-1] - 1) for each in numbers]
            if not numbers[-1]:
                raise SearchError(f"{epochs:,} epochs are too few for {self.name}; give more.")


@final
@dataclass(frozen=True)
class ConstantEvolution(EvolutionMethod):
    """Without DPSTE: all generations have the same population and epochs."""

    def of_preset(self, preset: "Preset") -> Schedule:
        """The preset's constant populations."""
        return preset.constant

    def _shape(self, room: "_GenerationLimits", work: float, last: float) -> tuple[list[int], list[float]]:
        """The same population in every generation: fewer generations where it would be too small."""
        share, least = room.settings.elitists, room.least_population
        left = (work - room.final_work(last)) / last
        generations, population = 1, least
        for generations in range(MOST_CONSTANT_GENERATIONS, 0, -1):
            first, *others = room.weights(generations)
            population = room.population(left * (1 + share) / (first + sum(others) * (1 + share)), share, 2)
            if population >= least:
                break
        return [max(population, least)] * generations, [last] * generations

    def matching(self, reference: Schedule, epochs: int) -> Schedule:
        """Six generations of one size, or fewer if they would be tiny, with epochs near to the last ones."""
        last = reference.longest
        found: list[tuple[int, int, Schedule]] = []
        for generations in range(MOST_CONSTANT_GENERATIONS, 0, -1):
            for population in range(4, max(5, epochs // last), 2):
                single = Schedule((population,) * generations, (1,) * generations)
                each = -(-epochs // self.workload(single, self.defaults).epochs)
                schedule = Schedule((population,) * generations, (each,) * generations)
                found.append((abs(each - last), -generations, schedule))
            if min(distance for distance, _, _ in found) <= last / 4:
                break
        return min(found, key=lambda each: each[:2])[2]


@dataclass(frozen=True)
class _GenerationLimits:
    """The limits that a plan of generations must respect."""

    settings: EvolutionSettings
    costs: SpanCosts

    @property
    def least_population(self) -> int:
        """Large enough to choose candidates from, and to keep all workers busy."""
        candidates = self.settings.candidates
        enough = max(LEAST_POPULATION, candidates + candidates % 2)
        return max(enough, self.population(self.costs.workers, self.settings.elitists, 2))

    def population(self, trainings: float, share: float, least: int) -> int:
        """The largest even population that, with its elitists, fills the workers whole times."""
        room = math.floor(trainings)
        if room >= self.costs.workers:
            room -= room % self.costs.workers
        population = int(room / (1 + share)) // 2 * 2 + 2
        while population > least and population + elitist_count(population, share) > room:
            population -= 2
        return max(population, least)

    def final_work(self, last: float, most: int | None = None) -> float:
        """The work of the final evaluations, for a maximum number of candidates."""
        candidates = self.settings.candidates if most is None else min(self.settings.candidates, most)
        return self.costs.work(candidates * self.settings.evaluations, last)

    def weights(self, generations: int) -> list[float]:
        """The cost of an epoch in each generation."""
        return [factor**-self.costs.coarse_exponent for factor in self.settings.coarsenesses(generations)]
