"""Whole searches: the same seed gives the same end, whatever the number of workers."""

import os
import re
from contextlib import nullcontext

import pytest
from searches import PATIENCE, assert_same_end, attempts, command, evopinn, searched

import evopinn as ep
from evopinn.store.reader import Reader
from evopinn.store.store import Store


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


def test_a_run_remembers_its_plan_and_tells_it_again(undisturbed, run, tmp_path, monkeypatch):
    directory = undisturbed("random")
    summary = ep.load(directory).summary()
    assert summary["problem"] == ep.load(directory).problem == "poisson"
    assert re.match(r"random: 3 generations .*\b10, 6, 4\b.*\b5, 10, 15\b", summary["plan"])
    assert f" {summary['trained']} trainings with " in summary["plan"]
    Store.create(tmp_path / "again", (directory / "config.toml").read_text(), {}).close()
    monkeypatch.setattr("evopinn.run.session.LocalPool", lambda *_, **__: nullcontext())
    monkeypatch.setattr("evopinn.run.session._drive", lambda *_: False)
    code, _, err = run("resume", str(tmp_path / "again"), "--no-report", "--workers", "1")
    assert code == 130
    head, plan, *_ = err.splitlines()
    assert all(fact in head for fact in ("poisson", "random", "1 worker", str(tmp_path / "again")))
    assert plan == summary["plan"]


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
    assert_same_end(tmp_path / "run", undisturbed("evo-dpste"))


def test_compiled_kernels_give_the_same_bits_in_every_process(tmp_path):
    """Two searches that share nothing, not even what was compiled for the first, with one worker and two."""
    for workers in (1, 2):
        place = tmp_path / str(workers)
        words = [*command(place / "run", "evo-dpste, shorter", workers), "--engine", "fused"]
        with evopinn(*words, env=os.environ | {"EVOPINN_CACHE": str(place / "kernels")}) as driver:
            _, err = driver.communicate(timeout=PATIENCE)
        assert driver.returncode == 0, err
        assert any((place / "kernels").iterdir())
    first, second = (tmp_path / str(workers) / "run" for workers in (1, 2))
    assert ep.load(first).best.settings["engine"] == "fused"
    assert_same_end(first, second)


def test_workers_that_take_long_to_load_the_problem_are_told_of(run, monkeypatch, tmp_path):
    monkeypatch.setattr("evopinn.workers.pool._LONG", 0.0)  # so that the start of any worker takes long
    code, _, err = run(*map(str, command(tmp_path / "run", "evo-dpste", workers=2)))
    assert code == 0
    notes = re.findall(r"note: workers 1, 2 are still loading the problem poisson after \d+ s; ", err)
    assert len(notes) == 1
