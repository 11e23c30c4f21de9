"""The rounds that a schedule has, planned and begun."""

import pytest

from evopinn.run.config import Config
from evopinn.run.listed import GenerationSummary
from evopinn.run.rounds import planned_rounds, schedule_steps
from evopinn.run.summary import Intent


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
    workload = config.find_method().workload(config.layout(), config.method_settings())
    rounds = Intent.of(config.toml(), tmp_path).rounds
    assert [(each.trainings, each.epochs) for each in rounds] == [
        (stage.trainings, stage.epochs) for stage in workload.stages
    ]
    assert [each.generation for each in rounds] == list(range(1, len(rounds) + 1))
    after = ["bests", "final"] if method == "random" else ["final"]
    assert [each.kind for each in rounds] == ["generation"] * len(populations) + after


@pytest.mark.parametrize("settings", [None, 3, {"elitists": "x", "candidates": None, "evaluations": []}])
def test_without_settings_only_the_populations_are_known(settings):
    rounds = planned_rounds([(6, 10), (4, 20)], settings, "evo-dpste")
    assert [(each.trainings, each.again, each.kind) for each in rounds] == [
        (6, 0, "generation"),
        (4, 0, "generation"),
    ]
    assert planned_rounds([], {"candidates": 3, "evaluations": 4}, "evo-dpste") == ()


def begun(generation, kind, asked, settled):
    return GenerationSummary(generation, kind, asked, settled, 0, 1.0, 10, 1.0)


def test_what_is_ahead_follows_what_has_begun_until_the_finals():
    settings = {"elitists": 0.25, "candidates": 3, "evaluations": 4}
    planned = planned_rounds([(16, 10), (8, 20)], settings, "evo-dpste")
    first, second, final = (
        begun(1, "generation", 16, 16),
        begun(2, "generation", 10, 3),
        begun(2, "final", 12, 0),
    )
    efforts = {1: 10, 2: 20}
    steps = schedule_steps([first, second], efforts, planned)
    assert [(step.trainings, step.again, step.settled, step.begun) for step in steps] == [
        (16, 0, 16, True),
        (10, 2, 3, True),
        (12, 0, 0, False),
    ]
    assert [step.kind for step in schedule_steps([first, final], efforts, planned)] == ["generation", "final"]
    assert len(schedule_steps([first], efforts, planned, finished=True)) == 1
