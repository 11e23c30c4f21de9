"""Evolution of networks, and random search as evolution without any pressure."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import final

import numpy as np

from evopinn.genome import PAPER, Genome, MutationRates, Space, crossover, initial_population, mutate
from evopinn.lineage import RETRAINED
from evopinn.means import Mean, known_mean
from evopinn.searchers.checking import finite_from, flag, share, whole
from evopinn.searchers.rounds import Course, RoundSearch, draw_seed
from evopinn.searchers.schedule import Schedule, Workload
from evopinn.searchers.selection import (
    Individual,
    distinct,
    elitist_count,
    random_members,
    random_pair,
    ranked,
    ranked_pair,
)
from evopinn.searchers.task import Origin, Score, Task


@dataclass(frozen=True)
class EvolutionSettings:
    """Settings of evolution; the defaults are those of the paper.

    Attributes:
        crossover_share: R_cm, the share of pairs that is crossed; the others are mutated.
        crossover_rate: R_c, how likely a crossed pair exchanges its genes.
        mutation: R_l, R_n, R_s and R_a, how likely a mutation touches each part of a genome.
        elitists: R_e, elitists in proportion to the population.
        candidates: N_c, how many of the best are evaluated at the end.
        evaluations: N_e, how often each of them is trained from scratch.
        mean: Of their losses, what decides who wins; the paper's is the arithmetic one.
        pressure: Whether fitness decides about parents and survivors. Without it the search is random, and
            its candidates come from every generation.
        continue_elitists: Elitists go on from where their training ended instead of starting anew, where a
            generation has more epochs than the one before.
        skip_known: A genome is not trained again for the same number of epochs on the same points; its score
            is known.
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
        """Refuse what makes no sense."""
        for name in ("crossover_share", "crossover_rate", "elitists"):
            share(name, getattr(self, name))
        for name in ("pressure", "continue_elitists", "skip_known"):
            flag(name, getattr(self, name))
        whole("candidates", self.candidates, 1)
        whole("evaluations", self.evaluations, 1)
        known_mean(self.mean)
        finite_from("coarsening", self.coarsening, 1.0)

    def workload(self, schedule: Schedule) -> Workload:
        """What a search by a schedule does, at most: known scores and fewer candidates make it less."""
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
    """A genome that is to be trained in a generation, and the individual whose training it continues."""

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
        settings: How they vary and how they are selected.
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

    def _course(self) -> Course:
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
        """Who is trained in a generation: at first the initial population, then children and elitists."""
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
        """Children without end, two of each pair of parents."""
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
        """Have members trained; gives the individuals in the same order.

        Args:
            members: Whom to train.
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
        """The individual whose training a member may go on with; a failed one is not gone on with."""
        individual = member.continued if self._settings.continue_elitists else None
        return individual if individual and np.isfinite(individual.score.fitness) else None

    def _leaders(self, members: Sequence[_Member], going_on: Sequence[Individual | None]) -> dict[str, int]:
        """Which member is trained for all of its genome; one that goes on, lest its progress be lost."""
        if not self._settings.skip_known:
            return {}
        leaders: dict[str, int] = {}
        for place in sorted(range(len(members)), key=lambda place: going_on[place] is None):
            leaders.setdefault(members[place].genome.key, place)
        return leaders
