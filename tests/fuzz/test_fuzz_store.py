"""Runs whose files are damaged, foreign or made up: they are shown, or refused with a reason."""

import contextlib
import io
import json
import os
import shutil
import sqlite3

import pytest
from fuzzing import LAW, NUMBERS, TEXT, mutated, mutated_bytes, tries
from hypothesis import given
from hypothesis import strategies as st
from sound_run import SETTINGS, make_run

from evopinn.run.export import export_evaluations
from evopinn.run.record import RunRecord
from evopinn.run.run_result import RunResult
from evopinn.run.wording import is_unseen
from evopinn.store.directory import CONFIG, DATABASE, LOCK, WEIGHTS, find_run, runs_in
from evopinn.store.reader import Reader
from evopinn.store.store import Store
from evopinn.view.dashboard.listing import RunListing
from evopinn.view.dashboard.queries import Queries
from evopinn.view.terminal.console import PipedConsole
from evopinn.view.terminal.run_charts import run_charts
from evopinn.view.terminal.run_summary import run_page, runs_list


def shown(renderable):
    """What a person sees of it: nothing in it acts on a terminal."""
    out = io.StringIO()
    PipedConsole(file=out, width=200, force_terminal=False).print(renderable)
    assert not [character for character in out.getvalue() if is_unseen(character) and character != "\n"]


def show(directory):
    summary = RunRecord.read(directory, 5)
    json.dumps(summary.data(), allow_nan=False)
    shown(run_page(summary, run_charts(summary, 80)))
    shown(runs_list([summary]))


def read_all(directory):
    with Reader(directory) as reader:
        reader.settled_tasks(), reader.genomes(5), reader.efforts(), reader.fields(), reader.latest()
        for entry in reader.page(size=20):
            reader.task(entry.task), reader.history(entry.task)


def take_out(directory):
    result = RunResult(directory)
    repr(result), str(result), result.summary()
    for ending in ("csv", "jsonl"):
        export_evaluations(directory, directory / f"out.{ending}")
        (directory / f"out.{ending}").unlink()


def browse(directory):
    """As the dashboard does, which tells of a run that cannot be read in its answer."""
    queries = Queries(RunListing(directory.parent))
    json.dumps(queries.overview(), allow_nan=False)
    json.dumps(queries.run(directory.name), allow_nan=False)
    json.dumps(queries.individual(directory.name, 2), allow_nan=False)


def write(directory):
    with Store.open(directory) as store:
        store.losses()
        store.note("stopped")


USES = (show, read_all, take_out, browse, write)


class Runs:
    """A sound run, and copies of it to be harmed."""

    def __init__(self, place):
        self.sound, self.harmed = place / "sound", place / "runs" / "harmed"
        make_run(self.sound)
        self.database = (self.sound / DATABASE).read_bytes()
        with contextlib.closing(sqlite3.connect(self.sound / DATABASE)) as connection:
            tables = [
                name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            self.columns = [
                (table, row[1])
                for table in tables
                for row in connection.execute(f"PRAGMA table_info({table})")
            ]

    def fresh(self):
        """A copy that is sound yet."""
        shutil.rmtree(self.harmed, ignore_errors=True)
        shutil.copytree(self.sound, self.harmed)
        return self.harmed


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("store"))


@pytest.mark.parametrize("use", USES)
def test_a_sound_run_is_used(runs, use):
    use(runs.fresh())


def test_a_database_of_any_bytes_is_read_or_refused(runs):
    @tries(60, 1000)
    @given(mutated_bytes(runs.database), st.sampled_from(USES))
    def hold(content, use):
        (runs.fresh() / DATABASE).write_bytes(content)
        LAW.holds(use, runs.harmed)

    hold()


VALUES = st.one_of(
    NUMBERS.filter(lambda number: not isinstance(number, int) or abs(number) < 2**63),
    TEXT.map(lambda text: text.encode("utf-8", "replace").decode()),
    st.none(),
    st.binary(max_size=20),
    st.sampled_from(
        ["[]", "{}", '["a", 1]', '{"u": "x"}', "[[[]]]", '{"u": 1e999}', "[1e400]", "null", "9" * 5000]
    ),
)


@tries(120, 2000)
@given(data=st.data())
def test_rows_with_anything_in_them_are_read_or_refused(runs, data):
    directory = runs.fresh()
    with contextlib.closing(sqlite3.connect(directory / DATABASE)) as connection:
        for _ in range(data.draw(st.integers(1, 2))):
            table, column = data.draw(st.sampled_from(runs.columns))
            rows = data.draw(st.sampled_from(["", " WHERE rowid = 2", " WHERE rowid = 1"]))
            if table in ("tallies", "standings"):
                rows = ""
            with contextlib.suppress(sqlite3.IntegrityError):
                connection.execute(f"UPDATE {table} SET {column} = ?{rows}", (data.draw(VALUES),))
        connection.commit()
    LAW.holds(data.draw(st.sampled_from(USES)), directory)


STATEMENTS = (
    *(
        f"DELETE FROM {table}"
        for table in ("run", "tasks", "evaluations", "tallies", "standings", "histories")
    ),
    *(f"DROP TABLE {table}" for table in ("run", "tasks", "evaluations", "tallies", "migrations", "events")),
    *("ALTER TABLE tasks DROP COLUMN parents", "ALTER TABLE run RENAME COLUMN config TO text"),
    *("PRAGMA user_version = -1", "PRAGMA user_version = 0", "PRAGMA user_version = 2147483647"),
    "PRAGMA application_id = 1",
    "UPDATE tasks SET number = number + 9000000000",
    "UPDATE tasks SET genome = replace(hex(zeroblob(50000)), '00', '((')",
    "UPDATE tasks SET operations = replace(hex(zeroblob(50000)), '00', '[')",
    "UPDATE evaluations SET errors = replace(hex(zeroblob(50000)), '00', '[')",
    "UPDATE run SET config = replace(hex(zeroblob(50000)), '00', '[')",
    "UPDATE run SET config = replace(hex(zeroblob(5000000)), '00', 'a=')",
    "UPDATE run SET config = 'seed = 0x' || replace(hex(zeroblob(50000)), '00', 'ff')",
    "UPDATE run SET versions = replace(hex(zeroblob(50000)), '00', '[')",
    "UPDATE histories SET fields = replace(hex(zeroblob(50000)), '00', '[')",
    "UPDATE evaluations SET note = hex(zeroblob(5000000))",
    "UPDATE evaluations SET started = 9e999, ended = -9e999",
    "UPDATE evaluations SET seconds = 9e999, epochs = 9223372036854775807",
)
ENDLESS = "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)"
PROGRAMS = (
    f"DROP TABLE events; CREATE VIEW events AS SELECT x AS id, x AS time, 'a' AS kind FROM {ENDLESS}",
    f"CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM run WHERE id IN {ENDLESS}; END",
    "DROP TABLE events; CREATE VIRTUAL TABLE events USING fts5(id, time, kind, text)",
)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_database_that_somebody_has_changed_is_read_or_refused(runs, statement, use):
    with contextlib.closing(sqlite3.connect(runs.fresh() / DATABASE)) as connection:
        connection.executescript(statement)
    LAW.holds(use, runs.harmed)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("statement", PROGRAMS)
def test_a_database_with_a_program_in_it_is_refused(runs, statement, use):
    with contextlib.closing(sqlite3.connect(runs.fresh() / DATABASE)) as connection:
        connection.executescript(statement)
    refused = LAW.refused
    if use is browse:
        (row,) = Queries(RunListing(runs.harmed.parent)).overview()["table"]["rows"]
        assert row["more"]["state"] == "unreadable"
    else:
        LAW.holds(use, runs.harmed)
        assert LAW.refused == refused + 1


@tries(40, 500)
@given(mutated((SETTINGS,)), st.sampled_from(USES[:-1]))
def test_a_configuration_with_anything_in_it_is_shown_or_refused(runs, text, use):
    with contextlib.closing(sqlite3.connect(runs.fresh() / DATABASE)) as connection:
        connection.execute("UPDATE run SET config = ?", (text.encode("utf-8", "replace").decode(),))
        connection.commit()
    LAW.holds(use, runs.harmed)


def make_directory(path):
    path.mkdir()


def make_loop(path):
    path.symlink_to(path)


def make_pipe(path):
    os.mkfifo(path)


def make_device(path):
    path.symlink_to("/dev/zero")


def make_rubbish(path):
    path.write_bytes(b"\xff\x00" * 5000)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("make", [make_directory, make_loop, make_pipe, make_device, make_rubbish])
@pytest.mark.parametrize("part", [DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", CONFIG, LOCK, WEIGHTS])
def test_a_part_that_is_something_else_is_told(runs, part, make, use):
    path = runs.fresh() / part
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    make(path)
    LAW.holds(use, runs.harmed)


@tries(50, 500)
@given(TEXT)
def test_a_name_of_a_run_is_found_or_not(tmp_path_factory, name):
    place = tmp_path_factory.getbasetemp() / "nowhere"
    LAW.holds(find_run, place / name)
    LAW.holds(runs_in, place / name)
