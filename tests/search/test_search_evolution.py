"""Evolution and random search on a toy: counts, lineage, order of telling, replay, options."""

from itertools import pairwise
from math import inf, isinf, nan
from typing import Any

import numpy as np
import pytest
from scipy.stats import wilcoxon
from toy import Driven, deceptive_loss, drive, exact, noisy

from evopinn.errors import GenomeError, SearchError
from evopinn.genome import PAPER, Genome, MutationRates, Space, crossover
from evopinn.search import Evolution, EvolutionSettings, Schedule, Score, Task

SMALL = Schedule((20, 11, 6, 6), (10, 20, 40, 40))
RANDOM = EvolutionSettings(pressure=False)
SETTINGS = {
    "paper": EvolutionSettings(),
    "random": RANDOM,
    "options": EvolutionSettings(continue_elitists=True, skip_known=True, coarsening=2.0),
    "only crossover": EvolutionSettings(crossover_share=1.0, skip_known=True),
}


def searched(
    settings: EvolutionSettings, seed: int = 0, schedule: Schedule = SMALL
) -> tuple[Driven, Evolution]:
    search = Evolution(schedule, seed, settings=settings)
    return drive(search, noisy), search


@pytest.mark.parametrize("name", ["paper", "random"])
def test_the_trainings_are_those_of_the_workload(name: str) -> None:
    driven, search = searched(SETTINGS[name])
    stages = SETTINGS[name].workload(SMALL).stages
    counts = [(len(driven.of(g)), driven.of(g)[0].epochs) for g in range(1, len(stages) + 1)]
    if name == "random":  # the same genome may be the best of two generations
        assert counts[-2][0] <= 4
        counts[-2] = (4, counts[-2][1])
    assert counts == [(stage.trainings, stage.epochs) for stage in stages]
    assert [task.number for task in driven.tasks] == list(range(len(driven.tasks)))
    assert len(search.finalists) == 3


@pytest.mark.parametrize("name", SETTINGS)
def test_every_genome_lies_in_the_space(name: str) -> None:
    space = Space(2, 5, (10, 14, 2), max_operators=3, max_parameters=1)
    search = Evolution(SMALL, 3, space, SETTINGS[name])
    for task in drive(search, noisy).tasks:
        space.check(task.genome)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_order_of_telling_does_not_matter(name: str) -> None:
    usual, search = searched(SETTINGS[name])
    for shuffle in range(3):
        other = Evolution(SMALL, 0, settings=SETTINGS[name])
        assert drive(other, noisy, np.random.default_rng(shuffle)).tasks == usual.tasks
        assert other.finalists == search.finalists


def test_the_seed_decides() -> None:
    assert searched(SETTINGS["paper"], 1)[0].tasks == searched(SETTINGS["paper"], 1)[0].tasks
    assert searched(SETTINGS["paper"], 1)[0].tasks != searched(SETTINGS["paper"], 2)[0].tasks


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("told", [0, 1, 19, 20, 21, 33, 40])
def test_a_recorded_search_is_taken_up_where_it_was(name: str, told: int) -> None:
    usual, search = searched(SETTINGS[name])
    again = Evolution(SMALL, 0, settings=SETTINGS[name])
    records = usual.tasks[:told]
    for task in records:
        again.tell(task.number, Score(noisy(task)))
    asked = again.ask()
    # What is asked now is the rest of the round that was under way.
    assert list(asked) == usual.tasks[told : told + len(asked)]
    assert again.ask() == ()
    for task in asked:
        again.tell(task.number, Score(noisy(task)))
    rest = drive(again, noisy)
    assert [*records, *asked, *rest.tasks] == usual.tasks
    assert again.finalists == search.finalists


def test_a_generation_depends_on_the_scores_before_it_only() -> None:
    """Two searches whose scores differ from the third generation on have the first three in common."""
    usual, _ = searched(SETTINGS["paper"])
    other = drive(Evolution(SMALL, 0), lambda task: noisy(task) if task.generation < 3 else -noisy(task))
    assert [usual.of(g) == other.of(g) for g in (1, 2, 3, 4)] == [True, True, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_elitism_never_loses_the_best(seed: int) -> None:
    driven = drive(Evolution(Schedule((30, 12, 8, 6, 6, 4), (1, 2, 3, 4, 4, 4)), seed), exact)
    bests = [min(exact(task) for task in driven.of(g)) for g in range(1, 7)]
    assert all(later <= earlier for earlier, later in pairwise(bests))


def test_elitists_are_the_best_of_the_population_before() -> None:
    driven, _ = searched(SETTINGS["paper"])
    for g, count in ((2, 3), (3, 2), (4, 2)):
        elitists = [task for task in driven.of(g) if task.origin.operations == ("elitist",)]
        before = {task.number: task for task in driven.of(g - 1)}
        best = sorted(before, key=lambda number: driven.losses[number])[:count]
        assert [task.origin.parents for task in elitists] == [(number,) for number in best]
        assert [task.genome for task in elitists] == [before[number].genome for number in best]
        assert all(task.seed != before[task.origin.parents[0]].seed for task in elitists)


def test_children_descend_from_survivors_by_what_their_origin_says() -> None:
    driven, _ = searched(SETTINGS["paper"])
    by_number = {task.number: task for task in driven.tasks}
    for g in (2, 3, 4):
        survivors = sorted((task.number for task in driven.of(g - 1)), key=lambda n: driven.losses[n])
        survivors = survivors[: SMALL.populations[g - 2]]
        for task in driven.of(g):
            assert set(task.origin.parents) <= set(survivors)
            if task.origin.operations == ("crossover",):
                first, second = (by_number[n].genome for n in task.origin.parents)
                assert task.genome in crossover(first, second)


def test_rates_of_crossover_and_mutation() -> None:
    wide = Schedule((2000, 2000), (1, 1))
    crossed = drive(Evolution(wide, 0), exact).of(2)
    share = sum(task.origin.operations == ("crossover",) for task in crossed) / 2000
    assert share == pytest.approx(0.5, abs=0.05)  # 1,000 pairs: three standard deviations
    still = EvolutionSettings(crossover_rate=0.0, mutation=MutationRates(0, 0, 0, 0), elitists=0.0)
    copies = drive(Evolution(SMALL, 0, settings=still), exact)
    assert all(task.origin.operations == ("copy",) for g in (2, 3, 4) for task in copies.of(g))
    assert {task.genome for task in copies.of(4)} <= {task.genome for task in copies.of(1)}


def test_candidates_are_the_best_distinct_genomes_and_the_best_mean_wins() -> None:
    driven, search = searched(SETTINGS["paper"])
    last = sorted(driven.of(4), key=lambda task: driven.losses[task.number])
    best = list(dict.fromkeys(task.genome for task in last))[:3]
    assert {finalist.genome for finalist in search.finalists} == set(best)
    finals = driven.of(5)
    assert len(finals) == 12
    assert len({task.seed for task in finals}) == 12
    means = [finalist.mean_loss for finalist in search.finalists]
    assert means == sorted(means)
    for finalist in search.finalists:
        assert len(finalist.tasks) == 4
        assert finalist.losses == tuple(driven.losses[number] for number in finalist.tasks)
        assert all(driven.tasks[number].genome == finalist.genome for number in finalist.tasks)


def test_random_search_retrains_the_best_of_each_generation_that_no_earlier_one_has_given() -> None:
    driven, search = searched(RANDOM)
    bests: list[Genome] = []
    for g in (1, 2, 3, 4):
        by_loss = sorted(driven.of(g), key=lambda task: driven.losses[task.number])
        bests.append(next(task.genome for task in by_loss if task.genome not in bests))
    retrained = driven.of(5)
    assert [task.genome for task in retrained] == bests
    assert {task.epochs for task in retrained} == {40}
    top = sorted(retrained, key=lambda task: driven.losses[task.number])[:3]
    assert {finalist.genome for finalist in search.finalists} == {task.genome for task in top}
    assert len(driven.of(6)) == 12


def test_random_search_has_no_pressure() -> None:
    """Scores decide about nothing but the candidates: without them the generations are the same."""
    usual, _ = searched(RANDOM)
    upside_down = drive(Evolution(SMALL, 0, settings=RANDOM), lambda task: -noisy(task))
    for g in (1, 2, 3, 4):
        assert usual.of(g) == upside_down.of(g)


@pytest.mark.parametrize("failure", [inf, nan])
def test_failures_become_neither_elitists_nor_candidates(failure: float) -> None:
    def fails(task: Task) -> bool:
        return task.genome.structure.neurons > 34

    schedule = Schedule((40, 8, 8), (1, 1, 1))
    search = Evolution(schedule, 0)
    driven = drive(search, lambda task: failure if fails(task) else exact(task))
    elitists = driven.doing("elitist")
    assert elitists
    assert not any(fails(task) for task in elitists)
    assert not any(fails(task) for task in driven.of(4))


def test_a_search_in_which_all_fails_ends() -> None:
    search = Evolution(SMALL, 0)
    drive(search, lambda task: nan)
    assert all(isinf(loss) for finalist in search.finalists for loss in finalist.losses)


def test_evolution_beats_random_search_on_a_deceptive_landscape() -> None:
    schedule = Schedule((60, 30, 20, 14, 10, 8, 8, 8), (5, 10, 15, 21, 30, 40, 40, 40))

    def best(settings: EvolutionSettings, seed: int) -> float:
        search = Evolution(schedule, seed, settings=settings)
        drive(search, noisy)
        return deceptive_loss(search.finalists[0].genome)

    evolved = [best(EvolutionSettings(), seed) for seed in range(30)]
    at_random = [best(RANDOM, seed) for seed in range(30)]
    assert wilcoxon(evolved, at_random, alternative="less").pvalue < 0.01


def test_the_landscape_is_deceptive() -> None:
    """From the middle, fewer layers are better all the way, and yet the best are the deepest."""
    losses = [
        deceptive_loss(Genome.parse(f"layers={layers} neurons=42 activation=tanh(x)"))
        for layers in range(3, 12)
    ]
    assert losses[:7] == sorted(losses[:7])
    assert max(losses[7:]) < min(losses[:7])


def test_telling_what_was_not_asked_is_refused() -> None:
    search = Evolution(SMALL, 0)
    tasks = search.ask()
    assert search.ask() == ()
    search.tell(tasks[0].number, Score(1.0))
    for number in (tasks[0].number, 99, -1):
        with pytest.raises(SearchError, match=rf"^task {number} "):
            search.tell(number, Score(1.0))
    assert not search.finished
    assert search.finalists == ()
    done, finished = searched(SETTINGS["paper"])
    assert finished.ask() == ()
    with pytest.raises(SearchError, match=r"\b0 tasks\b"):
        finished.tell(done.tasks[-1].number, Score(1.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"crossover_share": 1.5}, r"\bcrossover_share is 1\.5\b.*\b0 to 1\b"),
        ({"crossover_rate": nan}, r"\bcrossover_rate is nan\b.*\b0 to 1\b"),
        ({"elitists": -0.1}, r"\belitists is -0\.1\b.*\b0 to 1\b"),
        ({"candidates": 0}, r"\bcandidates is 0\b.*\bat least 1\b"),
        ({"evaluations": 2.0}, r"\bevaluations is 2\.0\b.*\bwhole number\b"),
        ({"coarsening": 0.5}, r"\bcoarsening is 0\.5\b.*\bat least 1\b"),
        ({"coarsening": inf}, r"\bcoarsening is inf\b.*\bat least 1\b"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SearchError, match=message):
        EvolutionSettings(**options)


def test_bad_seeds_and_rates_are_refused() -> None:
    with pytest.raises(SearchError, match=r"^seed .*-1"):
        Evolution(SMALL, -1)
    with pytest.raises(SearchError, match=r"seed is 0\.5"):
        Evolution(SMALL, 0.5, PAPER)  # pyright: ignore[reportArgumentType]
    with pytest.raises(GenomeError, match=r"\blayers\b"):
        EvolutionSettings(mutation=MutationRates(layers=2.0))
