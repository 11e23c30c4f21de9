import math
import os
import re
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
import runs
from runs import make_closed_run, make_task
from simulated import make_evaluation

from evopinn.errors import RunError
from evopinn.search.task import Origin
from evopinn.store.directory import holder_of
from evopinn.store.reader import Reader
from evopinn.store.store import Store
from evopinn.training import History


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "runs" / "one"


@pytest.fixture
def store(directory):
    with Store.create(directory, runs.CONFIG, runs.VERSIONS, clock=lambda: 1.5e9) as store:
        yield store


def test_a_run_remembers_what_it_is(store, directory):
    assert store.config == runs.CONFIG
    assert (directory / "config.toml").read_text() == runs.CONFIG
    with Reader(directory) as reader:
        about = reader.about()
    assert (about.config, about.versions, about.created) == (runs.CONFIG, runs.VERSIONS, 1.5e9)
    assert about.writer == os.getpid()


def test_tasks_are_read_back_as_they_were(store, directory):
    tasks = [
        make_task(0, origin=Origin(("initial",)), seed=2**64 - 1),
        make_task(1, generation=2, continues=0, coarseness=1 / 3),
    ]
    store.add_tasks(tasks)
    with Reader(directory) as reader:
        assert [reader.task(0), reader.task(1)] == tasks
        with pytest.raises(RunError, match="no task 2"):
            reader.task(2)


def test_evaluations_and_histories_are_read_back_to_the_last_bit(store, directory):
    store.add_tasks(make_task(number) for number in range(3))
    rng = np.random.default_rng(5)
    losses = tuple(np.exp(rng.normal(size=500, scale=50)).tolist())
    history = History((*losses, math.inf), (0, 250), {"u": losses[:2], "v": losses[2:4]})
    errors = {"u": losses[7], "v": math.inf}
    evaluation = make_evaluation(1, loss=losses[3], errors=errors, history=history, note="cut by wall clock")
    store.record([evaluation])
    with Reader(directory) as reader:
        (entry,) = reader.page()
        assert reader.history(1) == history
        assert reader.history(0) is None
    for name in (
        "task",
        "status",
        "loss",
        "errors",
        "epochs",
        "seconds",
        "worker",
        "started",
        "ended",
        "note",
    ):
        assert getattr(entry, name) == getattr(evaluation, name)
    task = make_task(1)
    assert (entry.genome, entry.key, entry.generation) == (task.genome.text, task.genome.key, 1)
    assert store.losses() == {1: losses[3]}


@pytest.mark.parametrize(
    "history",
    [
        History((), (), {}),
        History((1.0, 0.5), (), {}),
        History((1.0,), (0,), {"u": (0.25,)}),
        History((3.0, 2.0, 1.0), (), {"u": (), "v": ()}),
    ],
)
def test_histories_may_have_little_in_them(store, directory, history):
    store.add_tasks([make_task(0)])
    store.record([make_evaluation(0, history=history)])
    with Reader(directory) as reader:
        assert reader.history(0) == history


def test_a_loss_that_is_no_number_is_kept_and_ranks_nowhere(store, directory):
    store.add_tasks(make_task(number) for number in range(3))
    for number, loss in enumerate([math.nan, math.inf, 0.5]):
        store.record([make_evaluation(number, loss=loss, errors={"u": loss})])
    first, second, third = store.losses().values()
    assert math.isnan(first)
    assert (second, third) == (math.inf, 0.5)
    with Reader(directory) as reader:
        assert [entry.task for entry in reader.hall_of_fame()] == [2]
        assert math.isnan(reader.page()[0].errors["u"])
        (generation,) = reader.generations()
    assert (generation.asked, generation.settled, generation.failed, generation.best) == (3, 3, 2, 0.5)


def test_attempts_are_numbered_and_one_is_final(store, directory):
    store.add_tasks([make_task(0), make_task(1)])
    failed = make_evaluation(0, status="crashed", loss=math.inf, final=False)
    store.record([failed, failed])
    assert store.losses() == {}
    store.record([make_evaluation(0)])
    with Reader(directory) as reader:
        assert [(each.attempt, each.final) for each in reader.page()] == [(1, False), (2, False), (3, True)]
        assert len(reader.page(size=2)) == 3  # a task is not torn apart
        assert reader.page(after=0) == []
        assert reader.counts() == {"finished": 1}
    with pytest.raises(sqlite3.IntegrityError):
        store.record([make_evaluation(1), make_evaluation(0)])
    assert list(store.losses()) == [0]  # all of a transaction or nothing
    with pytest.raises(ValueError, match=r"^task 7 "):
        store.record([make_evaluation(7)])


def test_the_first_failure_of_a_kind_is_first_by_number_whichever_worker_was_faster(store, directory):
    store.add_tasks(make_task(number) for number in range(4))
    for number, status in ((3, "not-finite"), (1, "not-finite"), (0, "finished"), (2, "finished")):
        store.record([make_evaluation(number, status=status, loss=math.inf, note=str(number))])
    store.record([make_evaluation(0, status="crashed", loss=math.inf, final=False)])
    with Reader(directory) as reader:
        found = {each.status: (each.failed, each.task) for each in reader.failures()}
    assert found["not-finite"] == (2, 1)
    assert found["crashed"] == (0, 0)  # which only had to be tried again


def asked(directory):
    with Reader(directory) as reader:
        return sum(generation.asked for generation in reader.generations())


def test_a_resumed_search_must_ask_for_the_same_tasks(store, directory):
    store.add_tasks([make_task(0), make_task(1)])
    store.add_tasks([make_task(0), make_task(1), make_task(2)])
    assert asked(directory) == 3
    with pytest.raises(RunError, match=rf"^task 1 .*{directory} "):
        store.add_tasks([make_task(3), make_task(1, epochs=101)])
    assert asked(directory) == 3


def test_the_hall_of_fame_has_each_genome_once_and_full_points_first(store, directory):
    genome = runs.GENOMES[0]
    store.add_tasks(
        [
            make_task(0, genome=genome),
            make_task(1, genome=genome, generation=2),
            make_task(2, generation=2),
            make_task(3, coarseness=2.0),
        ]
    )
    for number, loss in enumerate([0.3, 0.2, 0.25, 0.001]):
        store.record([make_evaluation(number, loss=math.inf, status="crashed", final=False)])
        store.record([make_evaluation(number, loss=loss)])
    with Reader(directory) as reader:
        assert [entry.task for entry in reader.hall_of_fame()] == [1, 2, 3]
        assert [entry.task for entry in reader.hall_of_fame(size=1)] == [1]
        assert [entry.task for entry in reader.latest(2)] == [3, 3]


def test_events_are_kept_in_order(store, directory):
    store.note("resumed", "other versions")
    store.note("stopped")
    with Reader(directory) as reader:
        first, second = reader.events()
    assert (first.kind, first.text, first.time) == ("resumed", "other versions", 1.5e9)
    assert (second.kind, second.text) == ("stopped", "")


def test_a_run_is_never_overwritten(store, directory):
    with pytest.raises(RunError, match=f"^{directory} exists"):
        Store.create(directory, "", {})
    file = directory.parent / "file"
    file.write_text("mine")
    with pytest.raises(RunError, match="exists already"):
        Store.create(file, "", {})
    assert file.read_text() == "mine"
    assert sorted(path.name for path in directory.parent.iterdir()) == ["file", "one"]


def test_a_second_writer_is_refused_and_told_who_is_first(store, directory):
    with pytest.raises(RunError, match=rf"{directory} .*\bprocess {os.getpid()} on "):
        Store.open(directory)
    program = f"from evopinn.store.store import Store; Store.open({str(directory)!r})"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert other.returncode == 1
    assert re.search(rf"RunError: .*{directory} .*\bprocess {os.getpid()} on ", other.stderr)


def test_a_closed_run_can_be_opened_again_and_has_one_file(directory):
    with Store.create(directory, runs.CONFIG, runs.VERSIONS) as store:
        store.add_tasks([make_task(0)])
        store.record([make_evaluation(0)])
        assert holder_of(directory) == os.getpid()
    assert holder_of(directory) is None
    assert not (directory / "run.sqlite-wal").exists()
    with Store.open(directory) as store:
        assert len(store.losses()) == 1


def test_a_resumed_run_is_written_as_durably_as_a_new_one(directory):
    make_closed_run(directory)
    with Store.open(directory) as store:
        pragmas = ("journal_mode", "synchronous", "foreign_keys")
        values = [store._connection.execute(f"PRAGMA {pragma}").fetchone()[0] for pragma in pragmas]
    assert values == ["wal", 2, 1]


def test_a_reader_sees_what_is_recorded_and_cannot_write(store, directory):
    with Reader(directory) as reader:
        store.add_tasks([make_task(0)])
        assert reader.counts() == {}
        store.record([make_evaluation(0)])
        assert reader.counts() == {"finished": 1}
        with pytest.raises(RunError, match="read-only"):
            reader._each(tuple, "DELETE FROM evaluations")
