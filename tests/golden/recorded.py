"""What a run has recorded, read from its files without evopinn, and where two such records differ."""

import json
import math
import shutil
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

from safetensors.numpy import load_file

WORDS = ("plan", "note", "text", "words", "deceit", "warning", "warnings")
"""Entries that are sentences for people; they may be worded anew."""

TIMES = ("seconds", "started", "ended", "time", "created", "worker")
"""Entries that luck decides."""

FAILURES = {"status", "failed", "retried"}
"""Entries of a kind of failure; which task is told as its first depended on the speed of workers."""

_TASKS = """
    SELECT number, generation, genome, key, epochs, seed, operations, parents, continues, coarseness
    FROM tasks ORDER BY number
"""
_EVALUATIONS = """
    SELECT task, status, loss, errors, epochs, note, generation, key, coarseness, error
    FROM evaluations WHERE final ORDER BY task
"""
_HISTORIES = """
    SELECT task, histories.epochs, fields, numbers
    FROM histories JOIN evaluations ON evaluation = evaluations.id WHERE final ORDER BY task
"""
_STANDINGS = "SELECT key, coarseness, loss, task FROM standings ORDER BY key"
_TALLIES = """
    SELECT generation, status, number, failed, best, epochs
    FROM tallies WHERE final ORDER BY generation, status
"""


def recorded(directory):
    """All of a run that luck must not change, to the last bit."""
    directory = Path(directory)
    with closing(sqlite3.connect(f"file:{directory}/run.sqlite?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row

        def rows(query):
            return [dict(row) for row in connection.execute(query)]

        return {
            "schema": rows("SELECT type, name, sql FROM sqlite_master ORDER BY name"),
            "configuration": tomllib.loads(rows("SELECT config FROM run")[0]["config"]),
            "file": tomllib.loads((directory / "config.toml").read_text()),
            "tasks": rows(_TASKS),
            "evaluations": rows(_EVALUATIONS),
            "histories": rows(_HISTORIES),
            "standings": rows(_STANDINGS),
            "tallies": rows(_TALLIES),
            "weights": {path.name: tensors(path) for path in sorted(directory.glob("weights/*.safetensors"))},
            "about weights": {
                path.name: timeless(json.loads(path.read_text()))
                for path in sorted(directory.glob("weights/*.json"))
            },
        }


def settled_count(directory):
    """How many tasks of a run are settled; none if there is no run yet."""
    path = Path(directory) / "run.sqlite"
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM evaluations WHERE final").fetchone()[0]
    except sqlite3.OperationalError:  # it is just being made
        return 0


def copied(directory, to):
    """A copy of a run that nobody writes to."""
    return Path(shutil.copytree(directory, to))


def tensors(path):
    """The tensors in a file, as their bytes."""
    return {name: (str(array.dtype), array.shape, array.tobytes()) for name, array in load_file(path).items()}


def timeless(value):
    """Plain data without what luck decides."""
    match value:
        case dict():
            lucky = (*TIMES, "task") if value.keys() >= FAILURES else TIMES
            return {name: timeless(each) for name, each in value.items() if name not in lucky}
        case list():
            return [timeless(each) for each in value]
        case _:
            return value


def differences(one, other, path=()):
    """The places at which two values differ, each with what stands there; numbers by their bits."""
    match one, other:
        case dict(), dict():
            for name in one | other:
                yield from differences(one.get(name, MISSING), other.get(name, MISSING), (*path, str(name)))
        case list() | tuple(), list() | tuple():
            for number in range(max(len(one), len(other))):
                pair = (sequence[number] if number < len(sequence) else MISSING for sequence in (one, other))
                yield from differences(*pair, (*path, str(number)))
        case set(), set():  # the other may say more
            for each in sorted(one - other):
                yield (*path, str(each)), each, MISSING
        case float(), float():
            if one.hex() != other.hex() and not (math.isnan(one) and math.isnan(other)):
                yield path, one, other
        case _:
            if type(one) is not type(other) or one != other:
                yield path, one, other


class Missing:
    """Stands where only the other has something."""

    def __repr__(self):
        return "nothing"


MISSING = Missing()
