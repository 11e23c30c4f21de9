"""The planner: within the budget, nearly all of it, and said in words."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import SearchError, UnknownNameError
from evopinn.search import METHODS, Budget, EvolutionSettings, Plan, Schedule, costs, planned
from evopinn.search.budget import spoken_time

METHOD_NAMES = st.sampled_from(sorted(METHODS))


def assert_falls_and_rises(plan: Plan) -> None:
    workplan = plan.workplan
    if isinstance(workplan, Schedule):
        assert isinstance(plan.settings, EvolutionSettings)
        assert workplan.populations[-1] >= plan.settings.candidates
        if plan.method == "evolution":
            assert len(set(workplan.populations)) == len(set(workplan.epochs)) == 1


@given(epochs=st.floats(2.7, 9).map(lambda power: int(10**power)), method=METHOD_NAMES)
@settings(max_examples=200, deadline=None)
def test_a_budget_in_epochs_is_spent(epochs: int, method: str) -> None:
    plan = planned(Budget(epochs=epochs), method)
    assert 0.93 * epochs <= plan.workload.epochs <= epochs
    assert_falls_and_rises(plan)


@given(
    epochs=st.floats(3, 6).map(lambda power: 10**power),
    pace=st.floats(1e-4, 2.0),
    workers=st.integers(1, 32),
    candidates=st.integers(1, 5),
    evaluations=st.integers(1, 6),
    elitists=st.floats(0, 1),
    coarsening=st.sampled_from([1.0, 1.5, 4.0]),
    method=st.sampled_from(["evo-dpste", "evolution", "random"]),
)
@settings(max_examples=300, deadline=None)
def test_a_budget_of_time_is_spent(
    epochs: float,
    pace: float,
    workers: int,
    candidates: int,
    evaluations: int,
    elitists: float,
    coarsening: float,
    method: str,
) -> None:
    seconds = epochs * pace
    row = METHODS[method]
    chosen = row.settings(
        candidates=candidates, evaluations=evaluations, elitists=elitists, coarsening=coarsening
    )
    plan = planned(Budget(seconds=seconds, seconds_per_epoch=pace, workers=workers), method, chosen)
    assert plan.seconds is not None
    assert 0.93 * seconds <= plan.seconds <= seconds * (1 + 1e-9)
    assert_falls_and_rises(plan)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("workers", [1, 2])
def test_one_or_two_workers_wait_for_no_longest_training(
    workers: int, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets = [
        Budget(seconds=seconds, seconds_per_epoch=0.04, workers=workers, even=even)
        for seconds in (60, 7200)
        for even in (False, True)
    ]
    plans = [planned(budget, method) for budget in budgets]
    monkeypatch.setattr(costs, "SPREAD", 0.0)
    monkeypatch.setattr(costs, "EVEN_SPREAD", 0.0)
    assert [plan.workplan for plan in plans] == [planned(budget, method).workplan for budget in budgets]


def test_many_workers_wait_for_the_longest_training() -> None:
    budget = Budget(seconds=600, seconds_per_epoch=0.04, workers=64)
    plan = planned(budget)
    generations = plan.workload.stages[:-1]
    assert any(stage.trainings <= 2 * budget.workers for stage in generations)
    assert plan.pace is not None
    assert plan.seconds is not None
    assert plan.pace * plan.workload.span(64) < 0.8 * plan.seconds
    even = planned(Budget(seconds=600, seconds_per_epoch=0.04, workers=64, even=True))
    assert even.workload.epochs > plan.workload.epochs


@given(trainings=st.integers(30, 5000), method=METHOD_NAMES)
@settings(max_examples=25, deadline=None)
def test_a_budget_of_trainings_is_spent(trainings: int, method: str) -> None:
    plan = planned(Budget(trainings=trainings), method)
    if method == "evolution":  # one individual more or less is one in every generation
        assert trainings - 20 <= plan.workload.trainings <= trainings
    else:
        assert plan.workload.trainings == trainings


def test_generations_cost_about_the_same() -> None:
    plan = planned(Budget(epochs=200_000))
    costs = [stage.trainings * stage.epochs for stage in plan.workload.stages[1:-1]]
    assert len(costs) > 8
    assert max(costs) <= 1.35 * min(costs)
    assert isinstance(plan.workplan, Schedule)
    assert len(set(plan.workplan.populations)) > 8
    assert len(set(plan.workplan.epochs)) == plan.workplan.generations


def test_the_papers_budget_gives_about_the_papers_schedule() -> None:
    workplan = planned(Budget(epochs=1_048_500)).workplan
    assert isinstance(workplan, Schedule)
    assert workplan.generations == 15
    assert workplan.epochs[0] == pytest.approx(100, rel=0.1)
    assert workplan.epochs[-1] == pytest.approx(5000, rel=0.1)
    assert workplan.populations[0] == pytest.approx(1000, rel=0.3)
    assert workplan.populations[-1] == pytest.approx(10, abs=2)


def test_a_plan_says_what_it_will_do() -> None:
    plan = planned(Budget(seconds=60, seconds_per_epoch=0.04, workers=2))
    assert isinstance(plan.workplan, Schedule)
    text = plan.describe()
    assert text.startswith("evo-dpste: 4 generations ")
    assert ", ".join(map(str, plan.workplan.populations)) in text
    assert re.search(rf"\b3 .*\b4 times .*\b{plan.workplan.epochs[-1]} epochs", text)
    assert re.search(rf"\b{plan.workload.trainings} trainings .*\b{plan.workload.epochs:,} epochs", text)
    assert re.search(r"\b2 workers .*\b48 ms\b", text)
    coarse = Budget(seconds=60, seconds_per_epoch=0.04), "evo-dpste", EvolutionSettings(coarsening=2.0)
    assert re.search(r"\b48 ms .*\bpoints\b", planned(*coarse).describe())
    assert re.search(r"\bgeneration's best\b", planned(Budget(epochs=5000), "random").describe())
    assert re.search(r"\b\d+ proposals\b", planned(Budget(epochs=5000), "bo-fcnet").describe())
    assert planned(Budget(epochs=5000)).seconds is None
    assert "nothing evolves" not in text


@pytest.mark.parametrize(
    ("populations", "settings", "words"),
    [
        ((26, 8, 8), EvolutionSettings(), r"second .*\bbest 2\b"),
        ((26, 16, 8), EvolutionSettings(), r"second .*\bbest 4, 2\b"),
        ((26, 8), EvolutionSettings(pressure=False), r"second .*\b2 of\b"),
    ],
)
def test_a_plan_says_that_elitists_are_trained_again(
    populations: tuple[int, ...], settings: EvolutionSettings, words: str
) -> None:
    schedule = Schedule(populations, (10,) * len(populations))
    plan = Plan("evo-dpste", schedule, settings, settings.workload(schedule), Budget(epochs=1))
    assert re.search(words, plan.describe())
    assert "trained again" in plan.describe()
    none = EvolutionSettings(elitists=0.0)
    plan = Plan("evo-dpste", schedule, none, none.workload(schedule), Budget(epochs=1))
    assert "trained again" not in plan.describe()


def test_a_single_final_training_is_trained_once() -> None:
    schedule, settings = Schedule((8,), (10,)), EvolutionSettings(candidates=1, evaluations=1)
    plan = Plan("evo-dpste", schedule, settings, settings.workload(schedule), Budget(epochs=1))
    assert re.search(r"\bbest .*\bonce .*\b10 epochs", plan.describe())


@pytest.mark.parametrize("method", ["evo-dpste", "evolution", "random"])
def test_a_single_generation_is_said_to_evolve_nothing(method: str) -> None:
    plan = planned(Budget(epochs=500), method)
    assert isinstance(plan.workplan, Schedule)
    assert plan.workplan.generations == 1
    assert "nothing evolves" in plan.describe()


@pytest.mark.parametrize(("epochs", "generations"), [(600, 1), (1000, 2), (2000, 3)])
def test_random_search_promises_no_more_candidates_than_it_has_generations(
    epochs: int, generations: int
) -> None:
    plan = planned(Budget(epochs=epochs), "random")
    assert isinstance(plan.workplan, Schedule)
    assert plan.workplan.generations == generations
    candidates = min(3, generations)
    promised = "" if candidates == 1 else f"{candidates} "
    assert re.search(rf"generation's best .*\bbest {promised}.*\b4 times", plan.describe())
    assert plan.workload.stages[-1].trainings == 4 * candidates


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"\bnothing\b.*\bseconds\b.*\bepochs\b.*\btrainings\b"),
        ({"epochs": 1000, "trainings": 50}, r"\bepochs and trainings\b.*\bone\b"),
        ({"epochs": 0}, r"\bepochs is 0\b.*\babove 0\b"),
        ({"seconds": -1.0, "seconds_per_epoch": 1.0}, r"\bseconds is -1\.0\b.*\babove 0\b"),
        ({"seconds": float("inf"), "seconds_per_epoch": 1.0}, r"\bseconds is inf\b.*\babove 0\b"),
        ({"seconds": 10.0, "seconds_per_epoch": 0.0}, r"\bseconds_per_epoch is 0\.0\b.*\babove 0\b"),
        ({"seconds": 10.0}, r"\bseconds\b.*\bseconds_per_epoch\b"),
        ({"epochs": 1000, "spent": -1.0}, r"\bspent is -1\.0\b.*\bat least 0\b"),
        ({"epochs": 1000, "coarse_exponent": float("nan")}, r"\bcoarse_exponent is nan\b.*\bat least 0\b"),
        ({"epochs": 1000, "workers": 0}, r"\bworkers is 0\b.*\bat least 1\b"),
    ],
)
def test_what_is_no_budget_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SearchError, match=message):
        Budget(**arguments)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("budget", "given"),
    [
        (Budget(epochs=100), "100 epochs"),
        (Budget(seconds=90, seconds_per_epoch=1.0), "1 min 30 s"),
        (
            Budget(seconds=1800, seconds_per_epoch=1.0, spent=1750),
            "30 min, .*29 min 10 s",
        ),
        (Budget(seconds=60, seconds_per_epoch=0.01, spent=70), "1 min, .*1 min 10 s"),
    ],
    ids=str,
)
def test_a_budget_that_is_too_small_is_refused(method: str, budget: Budget, given: str) -> None:
    message = rf"{given} .*\b{method}: .*\b20 epochs"
    with pytest.raises(SearchError, match=message):
        planned(budget, method)


@pytest.mark.parametrize("options", [{}, {"candidates": 1, "evaluations": 1}, {"candidates": 9}], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_too_few_trainings_are_told_how_many_it_takes(method: str, options: dict[str, Any]) -> None:
    row = METHODS[method]
    chosen = row.settings(**{name: each for name, each in options.items() if name in row.setting_names})
    final = row.workload(row.smallest(chosen, costs.SpanCosts()), chosen).stages[-1].trainings
    with pytest.raises(SearchError, match=rf"\b4 trainings .*\b{final} .*final") as refused:
        planned(Budget(trainings=4), method, chosen)
    (least,) = map(int, re.findall(r"\b(\d+) or more", str(refused.value)))
    assert planned(Budget(trainings=least), method, chosen).workload.trainings == least
    with pytest.raises(SearchError, match=rf"\b{least} or more"):
        planned(Budget(trainings=least - 1), method, chosen)


def test_what_is_spent_is_not_planned_with() -> None:
    pace = {"seconds_per_epoch": 0.04, "workers": 2}
    assert (
        planned(Budget(seconds=700, spent=100, **pace)).workplan
        == planned(Budget(seconds=600, **pace)).workplan
    )


def test_only_budgets_of_time_count_what_takes_time() -> None:
    costs = {"seconds_per_epoch": 0.1, "seconds_per_training": 5.0, "workers": 4}
    coarse = EvolutionSettings(coarsening=4.0)
    plan = planned(Budget(epochs=20_000, **costs), settings=coarse)
    assert plan.workplan == planned(Budget(epochs=20_000), settings=coarse).workplan
    assert plan.seconds == pytest.approx(0.12 * plan.workload.span(4, 5.0 / 0.12, 1.5))


def test_coarser_points_leave_time_for_more() -> None:
    budget = Budget(seconds=600, seconds_per_epoch=0.04)
    usual, coarse = (planned(budget, settings=EvolutionSettings(coarsening=c)).workload for c in (1.0, 4.0))
    assert coarse.epochs > 1.5 * usual.epochs
    assert coarse.stages[-1].epochs == pytest.approx(usual.stages[-1].epochs, rel=0.2)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'evo'"):
        planned(Budget(epochs=1000), "evo")


def test_fewer_final_trainings_leave_more_for_the_search() -> None:
    few = planned(Budget(epochs=3000), settings=EvolutionSettings(candidates=1, evaluations=1))
    assert isinstance(few.workplan, Schedule)
    many = planned(Budget(epochs=3000))
    assert isinstance(many.workplan, Schedule)
    assert sum(few.workplan.populations) > sum(many.workplan.populations)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.25 s"), (59.6, "1 min"), (90, "1 min 30 s"), (3599.8, "1 h"), (7499, "2 h 5 min")],
)
def test_times_are_spoken(seconds: float, text: str) -> None:
    assert spoken_time(seconds) == text
