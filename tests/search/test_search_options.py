"""Evolution's options beyond the paper: continuing elitists, known scores, coarser points."""

from dataclasses import replace
from math import inf

import pytest
from toy import Driven, drive, exact, noisy

from evopinn.genome import MutationRates
from evopinn.search import Evolution, EvolutionSettings, Schedule

SMALL = Schedule((20, 11, 6, 6), (10, 20, 40, 40))


def searched(settings: EvolutionSettings, schedule: Schedule = SMALL) -> Driven:
    return drive(Evolution(schedule, 0, settings=settings), noisy)


def test_known_genomes_are_not_trained_again() -> None:
    settings = EvolutionSettings(skip_known=True)
    constant = Schedule((12,) * 6, (10,) * 6)
    driven = searched(settings, schedule=constant)
    searching = [task.genome for task in driven.tasks if task.generation <= 6]
    assert len(set(searching)) == len(searching)
    assert len(driven.doing("candidate")) == 12  # those are from scratch, whatever is known
    usual = searched(replace(settings, skip_known=False), schedule=constant)
    assert len(usual.tasks) > len(driven.tasks)


def test_known_genomes_are_trained_again_for_more_epochs() -> None:
    schedule = Schedule((12,) * 6, (10, 20, 30, 40, 50, 60))
    driven = searched(EvolutionSettings(skip_known=True), schedule=schedule)
    for g in range(2, 7):
        genomes = [task.genome for task in driven.of(g)]
        assert len(set(genomes)) == len(genomes)
        # An elitist shares its training with a child of the same genome, but it is trained.
        best = min(driven.of(g - 1), key=lambda task: driven.losses[task.number])
        assert best.genome in genomes


def test_on_a_repeatable_fitness_skipping_changes_nothing() -> None:
    for seed in range(5):
        usual, skipping = (
            Evolution(SMALL, seed),
            Evolution(SMALL, seed, settings=EvolutionSettings(skip_known=True)),
        )
        drive(usual, exact)
        drive(skipping, exact)
        assert [each.genome for each in usual.finalists] == [each.genome for each in skipping.finalists]


def test_elitists_go_on_from_their_training() -> None:
    driven = searched(EvolutionSettings(continue_elitists=True))
    elitists = driven.doing("elitist")
    assert [task.continues for task in elitists] == [task.origin.parents[0] for task in elitists]
    # The fourth generation has the epochs of the third: nothing is left to go on with.
    assert {task.generation for task in elitists} == {2, 3}
    assert all(task.continues is None for task in driven.tasks if task not in elitists)
    failing = drive(Evolution(SMALL, 0, settings=EvolutionSettings(continue_elitists=True)), lambda task: inf)
    assert all(task.continues is None for task in failing.tasks)


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_of_an_elitist_shares_its_progress(seed: int) -> None:
    """Whichever of the genome comes first: what goes on is trained, and never from scratch."""
    settings = EvolutionSettings(
        continue_elitists=True, skip_known=True, crossover_rate=0.5, mutation=MutationRates(0, 0, 0, 0)
    )
    schedule = Schedule((12,) * 4, (5, 10, 15, 20))
    driven = drive(Evolution(schedule, seed, settings=settings), noisy)
    shared = 0
    for g in (2, 3, 4):
        before = {task.number: task for task in driven.of(g - 1)}
        ranked = sorted(before, key=lambda number: driven.losses[number])
        (trained,) = (task for task in driven.of(g) if task.genome == before[ranked[0]].genome)
        assert trained.continues == ranked[0]
        shared += len(driven.of(g)) < 15
    assert shared  # there were copies


def test_on_other_points_elitists_start_anew_unless_epochs_rise() -> None:
    settings = EvolutionSettings(continue_elitists=True, coarsening=4.0)
    schedule = Schedule((6,) * 5, (10, 10, 20, 20, 20))
    driven = drive(Evolution(schedule, 0, settings=settings), noisy)
    went_on = [
        {task.continues is not None for task in driven.doing("elitist") if task in driven.of(g)}
        for g in (2, 3, 4, 5)
    ]
    assert went_on == [{False}, {True}, set(), set()]
    stages = settings.workload(schedule).stages
    assert [stage.saved for stage in stages[1:-1]] == [0, 2 * 10, 2 * 20, 2 * 20]


def test_early_generations_have_coarser_points() -> None:
    driven = searched(EvolutionSettings(coarsening=4.0))
    assert [{task.coarseness for task in driven.of(g)} for g in range(1, 6)] == [
        {4.0},
        {2.0},
        {1.0},
        {1.0},
        {1.0},
    ]
    assert {task.coarseness for task in searched(EvolutionSettings(pressure=False)).tasks} == {1.0}
    one = drive(Evolution(Schedule((4,), (5,)), 0, settings=EvolutionSettings(coarsening=4.0)), exact)
    assert {task.coarseness for task in one.tasks} == {1.0}
