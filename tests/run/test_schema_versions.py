"""Runs of each version of the schema: read as they are, and brought up to date when they go on."""

import math
import sqlite3
from contextlib import closing

import pytest
import runs
from runs import make_task
from simulated import make_evaluation

from evopinn.store import schema
from evopinn.store.browser import Browser, Selection
from evopinn.store.database import connect_for_reading
from evopinn.store.store import Store

ERRORS = (
    {"u": 0.5},
    {},
    {"u": 0.1, "v": 0.7},
    {"u": math.nan, "v": 0.2},
    {"u": 0.6, "v": math.inf},
    {"u": 0.0},
    {"u": 1e-300, "v": 2},
)
BY_ERROR = [5, 0, 2, 6, 1, 3, 4]
"""Tasks by their largest error; what is not a number, or not known, is behind all numbers."""


@pytest.fixture(params=range(schema.OLDEST_READABLE, len(schema.MIGRATIONS) + 1))
def directory(request, tmp_path, monkeypatch):
    """A run of a version."""
    with monkeypatch.context() as earlier:
        earlier.setattr(schema.migrate, "__defaults__", (schema.MIGRATIONS[: request.param],))
        with Store.create(tmp_path / "run", runs.CONFIG, runs.VERSIONS) as store:
            store.add_tasks(make_task(number) for number in range(len(ERRORS)))
            store.record([make_evaluation(number, errors=errors) for number, errors in enumerate(ERRORS)])
    assert version(tmp_path / "run") == request.param
    return tmp_path / "run"


def version(directory):
    with closing(connect_for_reading(directory)) as connection:
        return schema.version_of(connection)


def by_error(directory, **more):
    with Browser(directory) as browser:
        return [line.task for line in browser.evaluations(Selection("error", **more)).lines]


def test_a_run_of_each_version_is_sorted_by_error(directory):
    assert by_error(directory) == BY_ERROR
    assert by_error(directory, descending=True) == BY_ERROR[::-1]
    with Browser(directory) as browser:
        first = browser.evaluations(Selection("error"), size=3)
        second = browser.evaluations(Selection("error", after=first.following), size=9)
    assert [line.task for line in (*first.lines, *second.lines)] == BY_ERROR


def test_a_run_of_each_version_goes_on(directory):
    with Store.open(directory) as store:
        store.add_tasks([make_task(len(ERRORS))])
        store.record([make_evaluation(len(ERRORS), errors={"u": 0.6, "v": 0.55})])
    assert version(directory) == len(schema.MIGRATIONS)
    assert by_error(directory) == [5, 0, len(ERRORS), 2, 6, 1, 3, 4]


def test_errors_that_cannot_be_read_do_not_keep_a_run_from_going_on(directory):
    with closing(sqlite3.connect(directory / "run.sqlite")) as connection:
        connection.execute("UPDATE evaluations SET errors = 'not json' WHERE task = 2")
        connection.commit()
    Store.open(directory).close()
    assert version(directory) == len(schema.MIGRATIONS)
