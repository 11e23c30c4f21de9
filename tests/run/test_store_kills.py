"""A process that writes to a run is killed at random moments, for real."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import runs
from runs import make_history, make_task

from evopinn.run.reading import Reader
from evopinn.run.store import Store

WRITER = """
import sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[2])
from simulated import course, make_evaluation
from evopinn.run.store import Store
store = Store.open(sys.argv[1])
first = len(store.losses())
print("open", flush=True)
for number in range(first, 2000):
    store.record([make_evaluation(number, history=SimpleNamespace(**course(number, epochs=200)))])
    print(number, flush=True)
"""
KILLS = 10


def written_until_killed(directory, seconds):
    """The numbers that a writer reported as recorded before it was killed, some seconds after it opened."""
    command = [sys.executable, "-c", WRITER, str(directory), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "open\n"
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        lines = writer.stdout.read()
    complete = lines[: lines.rfind("\n") + 1]  # the last line may be cut
    return [int(line) for line in complete.splitlines()]


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
from evopinn.run.store import Store
pathlib.Path.rename = lambda *_: os.kill(os.getpid(), {int(signal.SIGKILL)})
Store.create({str(tmp_path / "run")!r}, "", {{}})
"""
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "run").exists()
    Store.create(tmp_path / "run", runs.CONFIG, runs.VERSIONS).close()
    assert list((tmp_path / "run" / "weights").iterdir()) == []
