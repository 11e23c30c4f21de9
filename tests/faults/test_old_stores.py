"""Finished runs as each released version of the store wrote them, made by the code of that time."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from runs import make_task
from searches import final_state
from simulated import make_evaluation

import evopinn as ep
from evopinn.store import schema
from evopinn.store.store import Store

STORES = {int(path.name.removeprefix("version-")): path for path in Path(__file__).parent.glob("stores/*")}
NEWEST = len(schema.MIGRATIONS)


@pytest.fixture(params=sorted(STORES))
def old(request, tmp_path):
    """A copy of a run, and its version."""
    return Path(shutil.copytree(STORES[request.param], tmp_path / "run")), request.param


def evaluations(directory):
    with closing(sqlite3.connect(directory / "run.sqlite")) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM evaluations ORDER BY id")]


def version(directory):
    with closing(sqlite3.connect(directory / "run.sqlite")) as connection:
        return schema.version_of(connection)


def test_there_is_a_run_of_every_version():
    assert sorted(STORES) == list(range(1, NEWEST + 1))
    assert {number: version(path) for number, path in STORES.items()} == {each: each for each in STORES}


def test_an_old_run_can_be_looked_at(old):
    directory, number = old
    found = ep.load(directory)
    assert found.state == "finished"
    assert len(list(found.evaluations())) == 11
    assert found.hall_of_fame[0].loss == pytest.approx(2.94e-9, rel=1e-2)
    assert found.weights(found.hall_of_fame[0].task).loss == found.hall_of_fame[0].loss
    assert found.best.predict([[0.5]])[0, 0] == pytest.approx(1, abs=1e-4)
    assert len(found.history(0).losses) > 1
    assert version(directory) == number


def test_an_old_run_can_be_written_to(old):
    directory, _ = old
    before, state = evaluations(directory), final_state(directory)
    with Store.open(directory) as store:
        assert len(store.losses()) == 11
    assert version(directory) == NEWEST
    for row, now in zip(before, evaluations(directory), strict=True):
        assert row.items() <= now.items()
    assert final_state(directory) == state
    with Store.open(directory) as store:
        store.add_tasks([make_task(11, generation=4)])
        store.record([make_evaluation(11)])
    assert len(evaluations(directory)) == 12
