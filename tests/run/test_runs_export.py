"""The command that takes out what a run found."""

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from runs import add_final_evaluations, add_generations, make_task
from simulated import make_evaluation
from test_runs_commands import make_run, note_finished

from evopinn.run.run_result import RunResult
from evopinn.store.weights import save_weights
from evopinn.training import load, train


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def finished():
    return make_run("done", add_generations, add_final_evaluations, note_finished)


@pytest.fixture(scope="module")
def network(oscillator):
    return train(oscillator, "layers=2 neurons=20 activation=tanh(x)", epochs=3)


def test_evaluations_are_exported_as_csv(run, finished):
    code, out, err = run("export", "done", "tables/all.csv")
    assert (code, out) == (0, "")
    assert re.match(r"15 .*tables/all\.csv\n", err)
    with Path("tables/all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = list(RunResult(finished).evaluations())
    assert [list(row) for row in rows] == [list(row) for row in expected]
    for row, values in zip(rows, expected, strict=True):
        assert float(row["loss"]) == values["loss"]
        assert row["genome"] == values["genome"]
        assert row["operations"] == values["operations"]
    assert (rows[0]["final"], rows[0]["loss"], rows[0]["error"]) == ("False", "inf", "")


def test_evaluations_are_exported_as_lines_of_json(run, finished):
    assert run("export", "runs/done", "all.jsonl")[0] == 0
    rows = [
        json.loads(line, parse_constant=pytest.fail) for line in Path("all.jsonl").read_text().splitlines()
    ]
    expected = list(RunResult(finished).evaluations())
    assert rows[0]["loss"] is None
    assert rows[1:4] == expected[1:4]
    assert len(rows) == len(expected)


def test_an_empty_run_is_exported_as_a_header(run):
    make_run("empty")
    assert re.match(r"0 .*all\.csv\n", run("export", "empty", "all.csv")[2])
    assert Path("all.csv").read_text().startswith("task,attempt,final,generation,genome,layers,")
    assert Path("all.csv").read_text().count("\n") == 1
    code, _, err = run("export", "empty", "best")
    assert code == 2
    assert re.match("error: .*runs/empty .*no network", err)


@pytest.mark.parametrize("name", ["best", "best.safetensors", "models/best.json"])
def test_the_best_network_is_exported(run, finished, network, name):
    for number in (8, 9, 11):
        save_weights(finished, number, replace(network, loss=float(number)))
    code, _, err = run("export", "done", name)
    stem = name.partition(".")[0]
    assert code == 0
    assert err == f"{network.genome} written to {stem}.safetensors and {stem}.json\n"
    assert load(stem).loss == 9
    assert run("export", "done", "other", "--task", "11")[0] == 0
    assert load("other").loss == 11
    code, _, err = run("export", "done", "third", "--task", "2")
    assert code == 2
    assert re.search(r"\btask 2\b.*: 8, 9, 11\.", err)
    assert not list(Path().glob("third*"))


@pytest.mark.parametrize(
    ("existing", "name"),
    [("all.csv", "all.csv"), ("best.json", "best"), ("best.safetensors", "best.json")],
)
def test_nothing_is_overwritten(run, finished, network, existing, name):
    save_weights(finished, 9, network)
    Path(existing).write_text("mine")
    code, _, err = run("export", "done", name)
    assert code == 2
    assert f"{existing} exists already" in err
    assert Path(existing).read_text() == "mine"
    assert [path.name for path in Path().iterdir() if path.is_file()] == [existing]


def test_a_network_has_no_place_in_a_table(run, finished):
    code, _, err = run("export", "done", "all.csv", "--task", "9")
    assert code == 2
    assert re.search(r"--task 9 .*all\.csv", err)
    assert not Path("all.csv").exists()


def test_an_export_that_fails_leaves_nothing_behind(run):
    def damaged(store):
        store.add_tasks([make_task(0)])
        store.record([make_evaluation(0, loss=math.inf)])
        store._connection.execute("UPDATE tasks SET genome = 'nonsense'")

    make_run("odd", damaged)
    code, _, err = run("export", "odd", "all.csv")
    assert code == 2
    assert re.search("runs/odd: .*damaged", err)
    assert not Path("all.csv").exists()
    Path("file").touch()
    assert run("export", "odd", "file/all.csv")[0] == 1
