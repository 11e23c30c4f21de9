"""Snapshots of a made-up search."""

import time
from pathlib import Path

from evopinn.run.progress import Snapshot
from evopinn.store.reader import Entry

SECONDS = 60
"""After which a test has failed; a process has to load its libraries first."""

WITH_SHORTCUTS = "layers=6 neurons=48 shortcuts=0-1,1-2 activation=asinh(x)*cos(x)"
LONG = "layers=12 neurons=20 shortcuts=none activation=sin(a*x)+(exp(x)-exp(-x))/(exp(x)+exp(-x))"


def make_entry(rank, genome=WITH_SHORTCUTS, **changes):
    settings = {"loss": rank * 1e-5, "errors": {"u": rank * 1e-3}, "generation": 2}
    rest = {"attempt": 1, "final": True, "status": "finished", "epochs": 100, "seconds": 0.5, "worker": 1}
    times = {"started": 0.0, "ended": 0.5, "note": "", "key": str(rank), "coarseness": 1.0}
    return Entry(task=rank, genome=genome, **(settings | rest | times | changes))


def make_snapshot(**changes):
    """In the middle of the third generation of eight."""
    settings = {
        "directory": Path("runs/kg-1"),
        "problem": "klein-gordon",
        "method": "evo-dpste",
        "phase": "searching",
        "generation": 3,
        "generations": 8,
        "done": 12,
        "asked": 40,
        "trained": 92,
        "failed": 2,
        "trainings": 320,
        "epochs": 50_000,
        "epochs_planned": 200_000,
        "seconds": 130.0,
        "epochs_per_second": 1234.5,
        "seconds_left": 400.0,
        "workers": 2,
        "hall_of_fame": (make_entry(1), make_entry(2, LONG)),
    }
    return Snapshot(**(settings | changes))


def eventually(condition):
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
