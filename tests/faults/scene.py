"""A search in a process of its own that faults befall, and what must hold after each of them."""

import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import searches
from searches import FAULTY, attempts, settled_count, wait_until, workers_of

import evopinn as ep

HERE = Path(__file__).parent
SEARCH = "evo-dpste, for faults"
searches.SEARCHES[SEARCH] = ("evo-dpste", ep.Schedule((16, 12, 8, 6), (5, 8, 12, 16)), searches.OPTIONS)
ACTS = ("segfault", "hang", "eat")
"""What a residual may be told to do in a worker."""

_LIMITS = ("--deadline", "10s", "--memory", "1000")
_TOKEN = "EVOPINN_TEST_SCENE"
_MOST_STEPS = 60
_STOPPED, _DONE = 130, 0
_PATIENCE = 600  # seconds; machines may have a lot else to do


_FINISHED = "\nfinished: "


class Over(Exception):  # noqa: N818 - no error
    """The search is finished: nothing can befall it any more."""


class Scene:
    """One search, whatever becomes of the processes that carry it out.

    Args:
        directory: Where the run will be.
        rng: Draws the moments.
        which: One of `searches.SEARCHES`.
        workers: How many.
        more: What else to tell the command line.
    """

    def __init__(self, directory, rng, which=SEARCH, workers=1, more=()):
        self.directory = directory
        self.rng = rng
        self.driver = None
        self.seen = {}
        self._which = which
        self._workers = workers
        self._more = more
        self._token = secrets.token_hex(8)
        self._marks = directory.with_name(f"{directory.name}-marks")
        self._said = directory.with_name(f"{directory.name}-said")

    def __enter__(self):
        self._marks.mkdir()
        for act in ACTS:
            self.mark(act).touch()
        return self

    def __exit__(self, *_):
        if self.driver is not None:
            self.driver.kill()
            self.driver.wait()

    def mark(self, act):
        """The file that a residual makes when it misbehaves, and does not if it is there."""
        return self._marks / act

    def start(self):
        """Begin the search or go on with it."""
        words = ["resume", self.directory, "--no-report"]
        if not self.directory.exists():
            command = searches.command(self.directory, self._which, self._workers, FAULTY)
            words = [*command, *_LIMITS, *self._more]
        faults = [{"fault": act, "mark": str(self.mark(act))} for act in ACTS]
        program = [sys.executable, HERE / "mortal.py", self.rng.randint(1, _MOST_STEPS), *words]
        with self._said.open("w") as said:
            self.driver = subprocess.Popen(
                [*_bound_by_modes(), *map(str, program)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=os.environ | {"EVOPINN_FAULTS": json.dumps(faults), _TOKEN: self._token},
                start_new_session=True,
            )

    def await_moment(self):
        """Have the search go on for a while that is drawn.

        Raises:
            Over: It came to its end.
        """
        before = settled_count(self.directory)
        if self.driver is None:
            self.start()
        more, pause = self.rng.randint(1, 2), self.rng.uniform(0, 0.4)
        self.wait_until(lambda: settled_count(self.directory) >= before + more, "progress")
        time.sleep(pause)
        if self.has_ended:
            self.await_end(_DONE)
            raise Over
        self.look()

    def wait_until(self, condition, what, interval=0.05):
        """Wait for something to come true, or for the driver's end."""
        wait_until(lambda: self.has_ended or condition(), what, _PATIENCE, interval)

    def await_start(self):
        """Start anew, and go on for a while that is drawn, in which modules and the problem are loaded."""
        self.stop()
        self.start()
        time.sleep(self.rng.uniform(0, 8))

    def await_rest(self):
        """Have a run and no driver."""
        if self.driver is not None or not self.directory.exists():
            self.await_moment()
            self.stop()

    def await_end(self, *codes):
        """Wait until the driver has ended, with one of these codes, and nothing of it is left running.

        Returns:
            What it said.

        Raises:
            Over: It was to end otherwise, but the search was finished first.
        """
        driver, self.driver = self.driver, None
        try:
            driver.wait(_PATIENCE)
        finally:
            driver.kill()
            driver.wait()
        said = self.said()
        # A signal may also come when all is done and only the result is still to be printed.
        is_over = driver.returncode == _DONE or _FINISHED in said
        if is_over and (_DONE not in codes or driver.returncode not in codes):
            raise Over
        assert driver.returncode in codes, f"exit code {driver.returncode}: {said}"
        assert "Traceback" not in said
        wait_until(lambda: not self.left_running(), "all processes to end", seconds=10)
        return said

    def said(self):
        """What the latest driver has said so far."""
        return self._said.read_text()

    def stop(self):
        """Have no driver running."""
        if self.driver is not None:
            self.driver.send_signal(signal.SIGTERM)
            self.await_end(_STOPPED, _DONE)

    def finish(self):
        """Go on to the end."""
        if self.driver is None:
            self.start()
        self.await_end(_DONE)
        self.look()

    def look(self):
        """Remember what is recorded, and make sure that all that was seen before still is."""
        if not self.directory.exists():
            return
        with closing(sqlite3.connect(f"file:{self.directory}/run.sqlite?mode=ro", uri=True)) as connection:
            rows = {row[0]: row for row in connection.execute("SELECT * FROM evaluations")}
        lost = [row for number, row in self.seen.items() if rows.get(number) != row]
        assert not lost, f"recorded before and not now: {lost}"
        self.seen |= rows

    def failed_attempts(self):
        """The attempts that were tried again, in the order of their tasks."""
        return [each for each in attempts(self.directory) if not each.final]

    def worker(self):
        """One of the workers.

        Raises:
            Over: There is none any more: the search came to its end.
        """
        found = []
        while not found:
            self.wait_until(lambda: workers_of(self.driver.pid), "a worker")
            if self.has_ended:
                self.await_end(_DONE)
                raise Over
            found = workers_of(self.driver.pid)
        return self.rng.choice(found)

    def left_running(self):
        """The processes that stem from a driver of this search."""
        token = f"{_TOKEN}={self._token}".encode()
        return [pid for pid in searches.processes() if token in _environment(pid)]

    @property
    def has_ended(self):
        """Whether the driver has."""
        return self.driver.poll() is not None


def _environment(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _bound_by_modes():
    """What to put before a command so that the modes of files bind it even if it is the superuser's."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        return []
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
