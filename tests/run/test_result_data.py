"""What a search gives as plain data: rows for tables, a summary for JSON."""

import json
import math
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest
import runs
from runs import CANDIDATES, add_final_evaluations, add_generations, make_task
from simulated import make_evaluation

from evopinn.errors import RunError
from evopinn.genome import Genome
from evopinn.run.run_result import RunResult
from evopinn.store.store import Store
from evopinn.view.run_facts import best_facts
from evopinn.view.run_tables import hall_of_fame_table


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "one"


@pytest.fixture
def store(directory):
    with Store.create(directory, runs.CONFIG, runs.VERSIONS) as store:
        yield store


@pytest.mark.parametrize("page", [1, 3, 1000])
def test_evaluations_are_flat_rows_one_per_attempt(store, directory, monkeypatch, page):
    monkeypatch.setattr("evopinn.run.export._PAGE", page)
    add_generations(store)
    add_final_evaluations(store)
    rows = list(RunResult(directory).evaluations())
    assert [(row["task"], row["attempt"]) for row in rows] == [(0, 1), (0, 2)] + [
        (number, 1) for number in range(1, 14)
    ]
    assert len({tuple(row) for row in rows}) == 1  # the same columns in all
    task, evaluation = make_task(5, 2), make_evaluation(5)
    assert rows[6] == {
        "task": 5,
        "attempt": 1,
        "final": True,
        "generation": 2,
        "genome": task.genome.text,
        "layers": task.genome.structure.layers,
        "neurons": task.genome.structure.neurons,
        "activation": task.genome.activation.text,
        "operations": "crossover, change node",
        "parents": "2, 1",
        "epochs": 100,
        "seed": 2**64 - 6,
        "loss": evaluation.loss,
        "error": evaluation.errors["u"],
        "error_u": evaluation.errors["u"],
        "seconds": 0.5,
        "status": "finished",
        "worker": 2,
        "started": evaluation.started,
        "ended": evaluation.ended,
        "note": "",
    }
    assert (rows[0]["final"], rows[0]["loss"], rows[0]["error"], rows[0]["error_u"]) == (
        False,
        math.inf,
        None,
        None,
    )
    assert rows[-1]["error"] == 3 * 0.3  # the largest of the fields'


def test_the_summary_names_a_start_other_than_the_papers(store, directory):
    genome = Genome.parse(f"{CANDIDATES[0].text} start=unit(0.5)")
    store.add_tasks([replace(make_task(0, 1), genome=genome)])
    store.record([make_evaluation(0)])
    record = RunResult(directory).record
    assert record.data()["best"]["start"] == "unit(0.5)"
    assert record.data()["best"]["activation"] == "tanh(x)"
    (row,) = hall_of_fame_table(record).data()
    assert row["activation"] == "tanh(x) start=unit(0.5)"
    assert best_facts(record).data()["start"] == "unit(0.5)"


def test_each_field_has_a_column_of_its_errors(store, directory):
    add_final_evaluations(store, (math.inf, 0.25))
    (_, second) = RunResult(directory).evaluations()
    assert (second["error"], second["error_u"], second["error_v"]) == (0.75, 0.5, 0.75)


def test_pandas_gets_the_rows_and_is_asked_for_if_missing(store, directory, monkeypatch):
    add_generations(store)
    result = RunResult(directory)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    assert result.to_pandas() == list(result.evaluations())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RunError, match="`pip install pandas`"):
        result.to_pandas()


def test_the_summary_is_plain_data(store, directory):
    add_generations(store)
    result = RunResult(directory)
    early = result.summary()
    assert early["best"]["evaluations"] == 0
    assert early["best"]["mean_loss"] is None
    assert early["best"]["task"] == early["hall_of_fame"][0]["task"] == result.hall_of_fame[0].task
    add_final_evaluations(store)
    summary = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert summary["best"] == {
        "task": 9,
        "generation": 3,
        "genome": CANDIDATES[0].text,
        "activation": "tanh(x)",
        "latex": Genome.parse(CANDIDATES[0].text).activation.latex(),
        "loss": 0.01,
        "error": 0.03,
        "errors": {"u": 0.02, "v": 0.03},
        "epochs": 500,
        "seconds": 0.5,
        "status": "finished",
        "mean": "arithmetic",
        "mean_loss": pytest.approx(0.02),
        "mean_error": pytest.approx(0.06),
        "evaluations": 3,
        "residuals": {},  # its network is not kept here
        "overfitted": False,
    }
    assert summary["run"] == str(directory)
    assert (summary["problem"], summary["method"], summary["seed"]) == ("klein-gordon", "evo-dpste", 7)
    assert (summary["state"], summary["trained"], summary["failed"]) == ("running", 14, 1)
    assert summary["counts"] == {"finished": 13, "not-finite": 1}
    assert summary["failures"] == [
        {"status": "not-finite", "failed": 1, "retried": 0, "task": 3, "note": ""},
        {"status": "crashed", "failed": 0, "retried": 1, "task": 0, "note": ""},
    ]
    assert [each["kind"] for each in summary["generations"]] == ["generation", "generation", "final"]
    assert [each["settled"] for each in summary["generations"]] == [4, 4, 6]
    assert summary["epochs"] == 9 * 100 + 6 * 500
    assert [each["tasks"] for each in summary["finalists"]] == [[8, 9, 10], [11, 12, 13]]
    assert len(summary["hall_of_fame"]) == 7


def test_what_is_no_number_is_null(store, directory):
    store.add_tasks([make_task(0)])
    store.record([make_evaluation(0, errors={"u": math.nan, "v": 1.0})])
    store.add_tasks([make_task(1, 2)])
    store.record([make_evaluation(1, loss=math.nan, errors={"u": math.inf})])
    summary = RunResult(directory).summary()
    assert json.dumps(summary, allow_nan=False)
    assert summary["best"]["error"] is None
    assert summary["best"]["errors"] == {"u": None, "v": 1.0}
    assert summary["generations"][1]["best"] is None


@pytest.mark.parametrize("change", ["genome = 'nonsense'", "operations = '[('"])
def test_a_damaged_row_is_told_in_a_sentence(directory, change):
    with Store.create(directory, runs.CONFIG, runs.VERSIONS) as store:
        add_generations(store)
    with closing(sqlite3.connect(directory / "run.sqlite")) as connection, connection:
        connection.execute(f"UPDATE tasks SET {change}")
    with pytest.raises(RunError, match=rf"{directory}: .*damaged"):
        list(RunResult(directory).evaluations())
