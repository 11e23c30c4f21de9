"""The rounds that a schedule has, planned and begun."""

import pytest

from evopinn.run.config import Config
from evopinn.run.goal import Goal
from evopinn.run.planned_rounds import planned_rounds, scheduled_rounds
from evopinn.store.records import GenerationSummary


@pytest.mark.parametrize("method", ["evo-dpste", "evolution", "random"])
@pytest.mark.parametrize(
    ("populations", "settings"),
    [
        ((30, 10, 8), {"elitists": 0.1}),
        ((8, 8), {"elitists": 0.25, "candidates": 2, "evaluations": 5}),
        ((4,), {"candidates": 9, "evaluations": 1}),
    ],
)
def test_the_rounds_of_a_configuration_are_the_stages_of_its_workload(
    method, populations, settings, tmp_path
):
    epochs = tuple(10 if method == "evolution" else 10 * (1 + g) for g in range(len(populations)))
    if method == "evolution":
        populations = (populations[0],) * len(populations)
    config = Config.of(
        {
            "problem": "heat",
            "method": method,
            "settings": settings,
            "schedule": {"populations": list(populations), "epochs": list(epochs)},
        },
        "a test",
    ).spelled_out()
    workload = config.find_method().workload(config.workplan(), config.method_settings())
    rounds = Goal.of(config.toml(), tmp_path).rounds
    assert [(each.trainings, each.epochs) for each in rounds] == [
        (stage.trainings, stage.epochs) for stage in workload.stages
    ]
    assert [each.generation for each in rounds] == list(range(1, len(rounds) + 1))
    after = ["bests", "final"] if method == "random" else ["final"]
    assert [each.kind for each in rounds] == ["generation"] * len(populations) + after


def planned(populations, epochs, method="evo-dpste", **entries):
    schedule = {"populations": populations, "epochs": epochs}
    return planned_rounds({"method": method, "schedule": schedule, **entries})


def test_settings_that_are_not_given_are_those_of_the_method():
    rounds = planned([16, 8], [10, 20])
    assert [(each.trainings, each.again, each.kind) for each in rounds] == [
        (16, 0, "generation"),
        (10, 2, "generation"),
        (12, 0, "final"),
    ]


@pytest.mark.parametrize(
    "damaged",
    [
        {"settings": 3},
        {"settings": {"elitists": "x"}},
        {"settings": {"magic": 1}},
        {"schedule": [1, 2]},
        {"schedule": {"populations": [4, 8], "epochs": [1, 2]}},
        {"schedule": {"populations": 3, "epochs": None}},
        {"method": "magic"},
        {"method": []},
    ],
)
def test_a_damaged_configuration_plans_no_rounds(damaged):
    assert planned([6, 4], [10, 20])
    assert planned_rounds({"method": "evo-dpste", "schedule": {}, **damaged}) == ()


def test_methods_without_generations_plan_no_rounds():
    assert planned_rounds({"method": "bo-fcnet", "trials": {"evaluations": 20, "epochs": 5}}) == ()
    assert planned_rounds({"method": "evo-dpste"}) == ()


def begun(generation, kind, asked, settled):
    return GenerationSummary(generation, kind, asked, settled, 0, 1.0, 10, 1.0)


def test_what_is_ahead_follows_what_has_begun_until_the_finals():
    settings = {"elitists": 0.25, "candidates": 3, "evaluations": 4}
    ahead = planned([16, 8], [10, 20], settings=settings)
    first, second, final = (
        begun(1, "generation", 16, 16),
        begun(2, "generation", 10, 3),
        begun(2, "final", 12, 0),
    )
    efforts = {1: 10, 2: 20}
    steps = scheduled_rounds([first, second], efforts, ahead)
    assert [(step.trainings, step.again, step.settled, step.started) for step in steps] == [
        (16, 0, 16, True),
        (10, 2, 3, True),
        (12, 0, 0, False),
    ]
    assert [step.kind for step in scheduled_rounds([first, final], efforts, ahead)] == ["generation", "final"]
    assert len(scheduled_rounds([first], efforts, ahead, finished=True)) == 1
