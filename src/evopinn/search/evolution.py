"""Evolution of networks, and random search as evolution without any pressure."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any, cast, final

import numpy as np

from evopinn.checks import shown
from evopinn.errors import SearchError, UnknownNameError
from evopinn.genome import PAPER, Genome, MutationRates, Space, crossover, initial_population, mutate
from evopinn.search.means import Mean, check_mean
from evopinn.search.round_search import Rounds, RoundSearch, draw_seed
from evopinn.search.schedule import Schedule
from evopinn.search.selection import (
    Individual,
    distinct,
    elitist_count,
    random_members,
    random_pair,
    ranked,
    ranked_pair,
)
from evopinn.search.task import RETRAINED, Origin, Score, Task
from evopinn.search.validation import check_at_least, check_flag, check_share, check_whole
from evopinn.search.workload import Workload


@dataclass(frozen=True)
class EvolutionSettings:
    """Settings of evolution, by default the paper's.

    Attributes:
        crossover_share: R_cm, the share of pairs that is crossed; the others are mutated.
        crossover_rate: R_c, how likely a crossed pair exchanges its genes.
        mutation: R_l, R_n, R_s and R_a, how likely a mutation touches each part of a genome, and the same for
            its start, in a space with several starts; also as a table.
        elitists: R_e, elitists in proportion to the population.
        candidates: N_c, the number of the best that are evaluated at the end.
        evaluations: N_e, the number of trainings from scratch of each.
        mean: The mean of their losses that ranks them; the paper's is arithmetic.
        pressure: Whether fitness decides about parents and survivors. Without it the search is random, and
            its candidates come from every generation.
        continue_elitists: Continue the training of elitists instead of training them from scratch, where a
            generation has more epochs than the one before.
        skip_known: Do not train a genome again for the same number of epochs on the same points; reuse its
            score.
        coarsening: Factor by which each axis has fewer points in the first generation; it shrinks to 1 within
            the first half of the generations.
    """

    crossover_share: float = 0.5
    crossover_rate: float = 1.0
    mutation: MutationRates = field(default_factory=MutationRates)
    elitists: float = 0.25
    candidates: int = 3
    evaluations: int = 4
    mean: Mean = "arithmetic"
    pressure: bool = True
    continue_elitists: bool = False
    skip_known: bool = False
    coarsening: float = 1.0

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        object.__setattr__(self, "mutation", _mutation_rates(self.mutation))
        for name in ("crossover_share", "crossover_rate", "elitists"):
            check_share(name, getattr(self, name))
        for name in ("pressure", "continue_elitists", "skip_known"):
            check_flag(name, getattr(self, name))
        check_whole("candidates", self.candidates, 1)
        check_whole("evaluations", self.evaluations, 1)
        check_mean(self.mean)
        check_at_least("coarsening", self.coarsening, 1.0)

    def workload(self, schedule: Schedule) -> Workload:
        """The maximum workload of a schedule: known scores and fewer candidates reduce it."""
        return schedule.workload(
            self.elitists,
            self.candidates,
            self.evaluations,
            retrains_best=self.retrains_best,
            continues=self.continue_elitists,
            coarseness=self.coarsenesses(schedule.generations),
        )

    @property
    def retrains_best(self) -> bool:
        """Whether each generation's best is trained once more, to have candidates from all of them."""
        return not self.pressure

    def coarsenesses(self, generations: int) -> tuple[float, ...]:
        """The coarseness of each generation's points."""
        return tuple(self.coarseness(generation, generations) for generation in range(1, generations + 1))

    def coarseness(self, generation: int, generations: int) -> float:
        """The coarseness of a generation's points: falls in equal ratios, 1 from the middle on.

        Examples:
            >>> [EvolutionSettings(coarsening=4).coarseness(g, 4) for g in (1, 2, 3, 4)]
            [4.0, 2.0, 1.0, 1.0]
        """
        coarse = generations // 2
        return float(self.coarsening ** max(0.0, 1 - (generation - 1) / coarse)) if coarse else 1.0


@dataclass(frozen=True)
class _Member:
    """A genome to train in a generation, and the individual whose training it continues."""

    genome: Genome
    origin: Origin
    continued: Individual | None = None


_Training = Generator[Sequence[Task], Sequence[Score], list[Individual]]


@final
class Evolution(RoundSearch):
    """Evolution by a schedule, with or without DPSTE: that is only a matter of the schedule.

    A generation's tasks are its children and the elitists of the generation before, trained for as many
    epochs as the children; the best of both are its population.

    Args:
        schedule: Populations and epochs by generation.
        seed: All random choices follow from it and from the scores.
        space: Where the genomes lie.
        settings: How genomes vary and how they are selected.
    """

    def __init__(
        self,
        schedule: Schedule,
        seed: int,
        space: Space = PAPER,
        settings: EvolutionSettings | None = None,
    ) -> None:
        super().__init__(seed)
        self._schedule = schedule
        self._space = space
        self._settings = settings or EvolutionSettings()
        self._effort = (0, 0.0)
        self._known: dict[str, Individual] = {}

    def _rounds(self) -> Rounds:
        schedule, settings = self._schedule, self._settings
        population: list[Individual] = []
        merged: list[Individual] = []
        bests: dict[str, Individual] = {}
        efforts = zip(schedule.epochs, settings.coarsenesses(schedule.generations), strict=True)
        for generation, (size, effort) in enumerate(zip(schedule.populations, efforts, strict=True), start=1):
            rng = self._generator(generation)
            members = self._members(population, size, rng)
            trained = yield from self._train(members, generation, effort, rng)
            merged = ranked(trained)
            # One a generation, which is what the workload counts; most often it is the best of all.
            fresh = (each for each in merged if each.genome.key not in bests)
            bests |= {each.genome.key: each for each in islice(fresh, 1)}
            # Not drawn from the ranked: random search must not see any order.
            population = merged[:size] if settings.pressure else random_members(trained, size, rng)
        generation, epochs = schedule.generations + 1, schedule.epochs[-1]
        if settings.retrains_best:
            rng = self._generator(generation)
            members = [_Member(best.genome, Origin((RETRAINED,), (best.task,))) for best in bests.values()]
            merged = ranked((yield from self._train(members, generation, (epochs, 1.0), rng)))
            generation += 1
        candidates = [(each.genome, each.task) for each in islice(distinct(merged), settings.candidates)]
        return (
            yield from self._evaluate(candidates, settings.evaluations, epochs, generation, settings.mean)
        )

    def _members(
        self, population: Sequence[Individual], size: int, rng: np.random.Generator
    ) -> list[_Member]:
        """The members of a generation: first the initial population, later children and elitists."""
        if not population:
            genomes = initial_population(self._space, size, rng)
            return [_Member(genome, Origin(("initial",))) for genome in genomes]
        children = list(islice(self._children(population, rng), size))
        number = elitist_count(size, self._settings.elitists)
        if self._settings.pressure:
            kept, operation = population[:number], "elitist"
        else:
            kept, operation = random_members(population, number, rng), "survivor"
        return children + [_Member(each.genome, Origin((operation,), (each.task,)), each) for each in kept]

    def _children(self, population: Sequence[Individual], rng: np.random.Generator) -> Iterator[_Member]:
        """Endless children, two from each pair of parents."""
        settings = self._settings
        draw = ranked_pair if settings.pressure else random_pair
        while True:
            parents = draw(population, rng)
            tasks = (parents[0].task, parents[1].task)
            if rng.random() < settings.crossover_share:
                crossed = rng.random() < settings.crossover_rate
                genomes = (parents[0].genome, parents[1].genome)
                for genome in crossover(*genomes) if crossed else genomes:
                    yield _Member(genome, Origin(("crossover",) if crossed else ("copy",), tasks))
            else:
                for parent in parents:
                    child, operations = mutate(parent.genome, self._space, settings.mutation, rng)
                    yield _Member(child, Origin(operations or ("copy",), (parent.task,)))

    def _train(
        self,
        members: Sequence[_Member],
        generation: int,
        effort: tuple[int, float],
        rng: np.random.Generator,
    ) -> _Training:
        """Train members; return the individuals in the same order.

        Args:
            members: The members to train.
            generation: The generation they belong to.
            effort: Epochs and coarseness.
            rng: The generation's random numbers.
        """
        repeated, longer = effort == self._effort, effort[0] > self._effort[0]
        if not repeated:
            self._effort, self._known = effort, {}  # efforts only rise: the scores before are of no more use
        starts = [self._resumable(member) for member in members]
        going_on = [start if longer else None for start in starts]
        leaders = self._leaders(members, going_on)
        asked: dict[int, Task] = {}
        sources: list[Individual | int] = []
        for place, (member, start) in enumerate(zip(members, starts, strict=True)):
            seed = draw_seed(rng)  # needed or not, so that what is skipped does not shift what others get
            settled = self._known.get(member.genome.key) or (start if repeated else None)
            sources.append(settled or leaders.get(member.genome.key, place))
            if sources[-1] == place:
                before = going_on[place]
                asked[place] = Task(
                    self._number(),
                    generation,
                    member.genome,
                    effort[0],
                    seed,
                    member.origin,
                    continues=before.task if before else None,
                    coarseness=effort[1],
                )
        scores = yield list(asked.values())
        trained = {
            place: Individual(task.genome, task.number, score)
            for (place, task), score in zip(asked.items(), scores, strict=True)
        }
        if self._settings.skip_known:
            self._known |= {individual.genome.key: individual for individual in trained.values()}
        return [trained[source] if isinstance(source, int) else source for source in sources]

    def _resumable(self, member: _Member) -> Individual | None:
        """The individual whose training a member may continue; failed trainings are never continued."""
        individual = member.continued if self._settings.continue_elitists else None
        return individual if individual and np.isfinite(individual.score.ranked_loss) else None

    def _leaders(self, members: Sequence[_Member], going_on: Sequence[Individual | None]) -> dict[str, int]:
        """The member that is trained for all with its genome, preferably one that continues a training."""
        if not self._settings.skip_known:
            return {}
        leaders: dict[str, int] = {}
        for place in sorted(range(len(members)), key=lambda place: going_on[place] is None):
            leaders.setdefault(members[place].genome.key, place)
        return leaders


def _mutation_rates(rates: object) -> MutationRates:
    """Mutation rates from rates or a table, which may leave some out."""
    if isinstance(rates, MutationRates):
        return rates
    known = [row.name for row in fields(MutationRates)]
    if not isinstance(rates, Mapping):
        parts = ", ".join(known)
        raise SearchError(f"mutation is {shown(rates)}; it has the parts {parts}, each a probability.")
    given = cast(Mapping[str, Any], rates)
    for name, rate in given.items():
        if name not in known:
            raise UnknownNameError("part of mutation", name, known, f"There are {', '.join(known)}.")
        check_share(f"mutation.{name}", rate)
    return MutationRates(**given)
