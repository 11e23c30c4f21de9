"""The small problem, with a residual that misbehaves in a worker where the environment says so.

`EVOPINN_FAULTS` is JSON: a list of objects with the name of a `fault`, the `genome` and the `seed` of the
trainings that it befalls (any if not given), and a `mark`, a file that is there once it has happened; without
one it happens every time.
"""

import ctypes
import json
import os
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

import search_problem

from evopinn.workers.channel import Returned, pack
from evopinn.workers.evaluation import Assignment


def segfault():
    ctypes.string_at(0)


def leave():
    os._exit(3)


def hang():
    time.sleep(1e6)


def eat():
    pieces = []
    while True:
        pieces.append(bytearray(os.urandom(1 << 16)) * 256)
        time.sleep(0.005)


def gulp():
    bytearray(1 << 62)


def raise_it():
    raise ZeroDivisionError("by zero, of course")


def chatter():
    for number in range(1_000_000):
        print(f"line {number} of a residual that prints")  # noqa: T201 - what a user's residual may do


def garbage():
    """Write what is no message over the private connection."""
    _send(b"\xff" * 64)
    hang()


def nonsense():
    """Answer the job with what is no result."""
    _send(pack(Returned(_caller("number", int), "nonsense")))
    hang()


def _send(data):
    with socket.socket(fileno=os.dup(int(sys.argv[1]))) as channel:
        channel.sendall(data)


def _caller(name, kind):
    """The value that a variable of this name and kind has in one of the functions that led here."""
    frame = sys._getframe()
    while frame is not None:
        value = frame.f_locals.get(name)
        if isinstance(value, kind):
            return value
        frame = frame.f_back
    return None


FAULTS = {
    act.__name__: act for act in (segfault, leave, hang, eat, gulp, raise_it, chatter, garbage, nonsense)
}


def _first_time(mark):
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _misbehave():
    """Only a training in a worker has an assignment: neither loading nor checking the problem has."""
    work = _caller("work", Assignment)
    for row in json.loads(os.environ.get("EVOPINN_FAULTS", "[]")) if work else ():
        meant = row.get("genome") in (None, work.genome) and row.get("seed") in (None, work.seed)
        if meant and ("mark" not in row or _first_time(row["mark"])):
            FAULTS[row["fault"]]()


def residual(u, x):
    _misbehave()
    return search_problem.problem.residual(u, x)


problem = replace(search_problem.problem, residual=residual)
