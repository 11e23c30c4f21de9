"""Whole searches: the same seed gives the same end, whatever the number of workers."""

import pytest
from searches import attempts, final_state, searched

import evopinn as ep
from evopinn.run.reading import Reader


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("evo-dpste", [10, 6 + 2, 4 + 1, 2 * 2]),
        ("random", [10, 6 + 2, 4 + 1, 3, 2 * 2]),
        ("evolution", [6, 6 + 2, 6 + 2, 2 * 2]),
        ("bo-fcnet", [2] * 7 + [2 * 2]),
        ("bo-fcresnet", [1] * 14 + [2 * 2]),
    ],
)
def test_a_search_does_what_is_planned(undisturbed, which, expected):
    directory = undisturbed(which)
    result = ep.load(directory)
    assert result.state == "finished"
    with Reader(directory) as reader:
        generations = reader.generations()
    assert [generation.asked for generation in generations] == expected
    assert [generation.settled for generation in generations] == expected
    finalists = result.finalists
    assert [len(finalist.losses) for finalist in finalists] == [2, 2]
    assert finalists[0].mean_loss <= finalists[1].mean_loss
    assert result.best.genome.text == finalists[0].genome
    losses = [entry.loss for entry in attempts(directory) if entry.genome == finalists[0].genome]
    assert result.best.loss == min(losses)


def test_options_save_trainings_and_points(undisturbed):
    """Elitists go on from their states; the first generation of three has half the points."""
    directory = undisturbed("evo-dpste with options")
    with Reader(directory) as reader:
        generations = reader.generations()
        tasks = [reader.task(number) for number in range(sum(each.asked for each in generations))]
    assert [tasks[0].coarseness, tasks[10].coarseness] == [2.0, 1.0]
    assert all(each.asked <= most for each, most in zip(generations, [10, 8, 5, 4], strict=True))
    elitists = [task for task in tasks if task.origin.operations == ("elitist",)]
    assert len(elitists) == 3
    assert all((task.continues,) == task.origin.parents for task in elitists)
    keys = [(task.genome.key, task.generation) for task in tasks if "candidate" not in task.origin.operations]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_workers_does_not_matter(undisturbed, tmp_path, workers):
    searched(tmp_path / "run", "evo-dpste", workers)
    assert final_state(tmp_path / "run") == final_state(undisturbed("evo-dpste"))
