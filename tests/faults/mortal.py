"""The command line in a process that can meet with accidents: `mortal.py STEPS WORDS...`.

After SIGUSR1 it is killed at its STEPS-th step from then on that touches the run's files: a statement to the
database, or a file that is opened, renamed or removed. After SIGUSR2 its clock is ten hours behind.
"""

import atexit
import os
import signal
import sqlite3
import sys
import time
from functools import partial

SET_BACK = 36_000.0
TOUCHING = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "shutil.rmtree"}


class Accidents:
    """What is to happen to this process."""

    def __init__(self, steps):
        self._armed = False
        self._steps_left = steps
        self._true_time = time.time
        self._seconds_behind = 0.0

    def arm(self, *_):
        self._armed = True

    def set_clock_back(self, *_):
        self._seconds_behind = SET_BACK

    def time(self):
        return self._true_time() - self._seconds_behind

    def step(self):
        self._steps_left -= self._armed
        if self._steps_left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def expose(accidents):
    """Have them happen to whatever is imported from now on."""

    class Connection(sqlite3.Connection):
        def execute(self, *arguments):
            accidents.step()
            return super().execute(*arguments)

    signal.signal(signal.SIGUSR1, accidents.arm)
    signal.signal(signal.SIGUSR2, accidents.set_clock_back)
    for number in (signal.SIGUSR1, signal.SIGUSR2):  # too late for accidents: Python takes its handlers back
        atexit.register(signal.signal, number, signal.SIG_IGN)
    sys.addaudithook(lambda event, _: accidents.step() if event in TOUCHING else None)
    sqlite3.connect = partial(sqlite3.connect, factory=Connection)
    time.time = accidents.time


if __name__ == "__main__":
    expose(Accidents(int(sys.argv.pop(1))))
    from evopinn.cli import main

    main()
