"""Schedules: the paper's tables, what they add up to, what is refused."""

from typing import Any

import pytest

from evopinn.errors import SearchError, UnknownNameError
from evopinn.search import (
    PRESETS,
    Schedule,
    Trials,
    Workload,
    WorkloadStage,
    find_method,
    find_preset,
)

# The paper's tables of population size and training epochs, row by row, and its numbers for Bayesian
# optimisation.
PUBLISHED = {
    "paper:klein-gordon": (
        "1000 250 125 85 65 50 40 30 25 20 15 15 15 10 10",
        "100 200 400 600 800 1000 1200 1600 2000 2500 3000 3500 4000 4500 5000",
        "30 30 30 30 30 30",
        "5000 5000 5000 5000 5000 5000",
        (200, 5000),
    ),
    "paper:burgers": (
        "1000 200 100 65 50 40 35 30 25 20 20 20 15 15 15",
        "100 200 400 600 800 1000 1200 1400 1600 1800 2000 2200 2400 2700 3000",
        "40 40 40 40 40 40",
        "3000 3000 3000 3000 3000 3000",
        (300, 3000),
    ),
}
PUBLISHED["paper:lame"] = PUBLISHED["paper:klein-gordon"]
OF_THE_PAPER = ("evo-dpste", "evolution", "random", "bo-fcnet", "bo-fcresnet")
"""The methods that have presets."""


def numbers(row: str) -> tuple[int, ...]:
    return tuple(int(word) for word in row.split())


def workload(preset: str, method: str) -> Workload:
    row = find_method(method)
    return row.workload(row.of_preset(PRESETS[preset]), row.defaults)


@pytest.mark.parametrize("name", PUBLISHED)
def test_presets_are_the_papers_tables(name: str) -> None:
    falling, rising, populations, epochs, trials = PUBLISHED[name]
    preset = PRESETS[name]
    assert preset.dpste == Schedule(numbers(falling), numbers(rising))
    assert preset.constant == Schedule(numbers(populations), numbers(epochs))
    assert (preset.trials.evaluations, preset.trials.epochs) == trials


@pytest.mark.parametrize("name", PUBLISHED)
def test_evolution_with_dpste_has_no_more_epochs_than_the_others(name: str) -> None:
    """The paper says that it kept the total so; it holds if elitists and final evaluations are counted."""
    total = workload(name, "evo-dpste").epochs
    assert all(total <= workload(name, method).epochs for method in OF_THE_PAPER)


def test_the_counts_of_klein_gordon() -> None:
    load = workload("paper:klein-gordon", "evo-dpste")
    assert load.stages[0] == WorkloadStage(1000, 100)
    assert load.stages[1] == WorkloadStage(250 + 63, 200, again=63)
    assert load.stages[-2:] == (WorkloadStage(10 + 3, 5000, again=3), WorkloadStage(12, 5000, kind="final"))
    assert workload("paper:klein-gordon", "evolution").trainings == 30 + 5 * (30 + 8) + 12
    assert workload("paper:klein-gordon", "bo-fcnet").trainings == 200 + 12
    assert workload("paper:klein-gordon", "random").trainings == load.trainings + 15


def test_the_quick_preset_costs_about_the_same_with_every_method() -> None:
    costs = [workload("quick", method).epochs for method in OF_THE_PAPER]
    assert max(costs) <= 1.25 * min(costs)


def test_the_span_counts_idle_workers() -> None:
    load = Schedule((4, 4), (10, 100)).workload(elitists=0.25, candidates=1, evaluations=2)
    assert load.epochs == 4 * 10 + 5 * 100 + 2 * 100
    assert load.span(1) == load.epochs
    assert load.span(2) == 2 * 10 + 3 * 100 + 100
    assert load.span(100) == 10 + 100 + 100


def test_coarser_points_shorten_the_span_but_are_as_many_epochs() -> None:
    load = Schedule((4, 4, 4), (10, 30, 30)).workload(0.5, 1, 2, continues=True, coarseness=(4.0, 4.0, 1.0))
    assert load.epochs == 4 * 10 + (6 * 30 - 2 * 10) + 6 * 30 + 2 * 30  # other points: the third starts anew
    assert load.span(1) == load.epochs
    assert load.span(1, coarse_exponent=1.5) == (40 + 160) / 8 + 180 + 60
    assert load.span(2, 1.0, 0.5) == 2 * (5 + 1) + 3 * (15 + 1) - 20 / 4 + 3 * 31 + 31


def test_trials_come_in_batches() -> None:
    load = Trials(10, 7).workload(batch=4, candidates=2, evaluations=3)
    assert (load.trainings, load.epochs) == (16, 112)
    assert load.span(4) == 7 * (3 + 2)
    assert load.span(2) == 7 * (2 + 2 + 1 + 3)


def test_presets_by_problem() -> None:
    assert find_preset("paper", "burgers:II") is PRESETS["paper:burgers"]
    assert find_preset("quick", "heat") is PRESETS["quick"]
    with pytest.raises(UnknownNameError, match=r"'paper:heat'.*paper:klein-gordon"):
        find_preset("paper:heat", "heat")


@pytest.mark.parametrize("problem", ["heat", "/home/me/klein_gordon.py:mine"])
def test_the_paper_has_no_schedule_for_other_problems(problem: str) -> None:
    with pytest.raises(SearchError) as refused:
        find_preset("paper", problem)
    for name in (problem, *PRESETS):
        assert name in str(refused.value)


def test_there_are_no_more_candidates_than_networks_to_choose_from() -> None:
    schedule = Schedule((4, 2), (10, 20))
    assert schedule.workload(0.5, 9, 4).stages[-1] == WorkloadStage(4 * (2 + 1), 20, kind="final")
    random = schedule.workload(0.5, 9, 4, retrains_best=True)
    assert random.stages[-2:] == (WorkloadStage(2, 20, kind="bests"), WorkloadStage(4 * 2, 20, kind="final"))
    assert Trials(2, 7).workload(batch=1, candidates=3, evaluations=4).stages[-1] == WorkloadStage(
        4 * 2, 7, kind="final"
    )


def test_generations_are_told_from_what_follows_them() -> None:
    schedule = Schedule((4, 2, 2), (10, 20, 30))
    assert schedule.workload(0.5, 1, 1).generations == 3
    assert schedule.workload(0.5, 1, 1, retrains_best=True).generations == 3
    assert Trials(10, 7).workload(batch=4, candidates=2, evaluations=3).generations == 3


@pytest.mark.parametrize(
    ("populations", "epochs", "message"),
    [
        ((4, 4), (10,), "2 populations .*1 .*epochs"),
        ((), (), "0 populations"),
        ((4, 1), (10, 20), "population is 1"),
        ((4.0,), (10,), "population is 4.0"),
        ((4,), (0,), "epochs is 0"),
        ((4, 6), (10, 20), "populations are 4, 6"),
        ((4, 4), (20, 10), "epochs are 20, 10"),
    ],
)
def test_schedules_that_cannot_be_are_refused(populations: Any, epochs: Any, message: str) -> None:
    with pytest.raises(SearchError, match=message):
        Schedule(populations, epochs)


def test_trials_that_cannot_be_are_refused() -> None:
    with pytest.raises(SearchError, match=r"^evaluations is 0"):
        Trials(0, 10)
    with pytest.raises(SearchError, match=r"^epochs is '5'"):
        Trials(5, "5")  # pyright: ignore[reportArgumentType]
