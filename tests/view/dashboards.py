"""Dashboards to test: in this process, asked without a browser; and as a process of their own."""

import os
import subprocess
import sys
from contextlib import contextmanager

from figured import NETWORK, make_run
from starlette.testclient import TestClient

import evopinn as ep
from evopinn.store.records import Evaluation
from evopinn.view.dashboard.security import Access
from evopinn.view.dashboard.web_app import make_app

TOKEN = "the-right-token"
ACCESS = Access(TOKEN)
ORIGIN = {"Origin": "http://127.0.0.1"}


def make_client(root, *, admitted=True, access=ACCESS, patience=5.0, limit=60.0):
    """Somebody who asks a dashboard of the runs in a directory, with or without having been let in."""
    return TestClient(
        make_app(root, access, patience, limit),
        base_url="http://127.0.0.1",
        cookies={access.cookie: TOKEN} if admitted else None,
        follow_redirects=False,
        raise_server_exceptions=False,
    )


def make_network():
    """A network on the heat equation, hardly trained."""
    return ep.train("heat", NETWORK, epochs=2, seed=0)


def make_runs(root):
    """Two runs in a directory: `done`, which is finished and has weights, and `half`, which is neither."""
    make_run(root / "done", weights=make_network())
    make_run(root / "half", upto=8, finished=False)
    return root


def make_place(place):
    """A directory with one run, and beside it another that nobody may see."""
    make_run(place / "runs" / "first")
    make_run(place / "elsewhere" / "secret")
    return place / "runs"


def records(table):
    """The rows of a table as a page gets it: values by the keys of columns, and what else it is told."""
    keys = [column["key"] for column in table["columns"]]
    values = [[cell["value"] for cell in row["cells"]] for row in table["rows"]]
    shown = [dict(zip(keys, each, strict=True)) for each in values]
    return [
        row.get("more", {}) | each | {"key": row["key"]}
        for row, each in zip(table["rows"], shown, strict=True)
    ]


def make_evaluation(number, loss, status="finished", **more):
    """How a training of ten epochs came out, which took a second."""
    times = {"started": 1.7e9, "ended": 1.7e9 + 1, "seconds": 1.0}
    return Evaluation(number, status, loss, epochs=10, **(times | more))


@contextmanager
def served(root):
    """The address of a dashboard that runs as a process of its own."""
    with started(root) as (_, address):
        yield address


@contextmanager
def started(root):
    """A dashboard that runs as a process of its own, and its address."""
    program = "from evopinn.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "dashboard", str(root), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    try:
        address = process.stdout.readline().strip()
        assert address, process.stderr.read()
        yield process, address
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=30)
    # Whatever went wrong inside was logged.
    assert "Traceback" not in errors, errors
