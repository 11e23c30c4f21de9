"""A process that writes to a run is killed at random moments, for real."""

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import runs
from killed_writer import written_until_killed
from runs import make_history, make_task

from evopinn.store.reader import Reader
from evopinn.store.store import Store

KILLS = 10


def test_nothing_reported_is_lost_when_the_writer_is_killed(tmp_path):
    directory = tmp_path / "run"
    with Store.create(directory, runs.CONFIG, runs.VERSIONS) as store:
        store.add_tasks(make_task(number) for number in range(2000))
    seed = random.SystemRandom().randrange(2**32)
    moments = random.Random(seed)
    reported = []
    for _ in range(KILLS):
        reported += written_until_killed(directory, moments.uniform(0, 0.3))
        with closing(sqlite3.connect(directory / "run.sqlite")) as connection:
            assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)], f"seed {seed}"
    assert len(reported) > KILLS, f"seed {seed}"
    with Store.open(directory) as store, Reader(directory) as reader:
        recorded = list(store.losses())
        # In order and without gaps or repetitions; beyond what was reported, one per kill at the most.
        assert recorded == list(range(len(recorded))), f"seed {seed}"
        assert set(reported) <= set(recorded), f"seed {seed}"
        assert len(recorded) <= len(reported) + KILLS, f"seed {seed}"
        for number in (reported[0], reported[-1], recorded[-1]):
            assert reader.history(number) == make_history(number, epochs=200)


def test_a_run_that_is_being_made_when_its_driver_is_killed_is_not_there(tmp_path):
    program = f"""
import os, pathlib
from evopinn.store.store import Store
pathlib.Path.rename = lambda *_: os.kill(os.getpid(), {int(signal.SIGKILL)})
Store.create({str(tmp_path / "run")!r}, "", {{}})
"""
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "run").exists()
    Store.create(tmp_path / "run", runs.CONFIG, runs.VERSIONS).close()
    assert list((tmp_path / "run" / "weights").iterdir()) == []
