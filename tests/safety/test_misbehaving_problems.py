"""Problems that misbehave in the middle of a training: the status or one sentence says so."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evopinn.store.reader import Reader
from evopinn.training import load

HEAD = """import time
import torch
import evopinn as ep

calls, late = 0, False


def residual(u, x):
    global calls, late
    value = u.xx + torch.pi**2 * torch.sin(torch.pi * x)
    calls += 1
    late = late or bool(value.abs().mean() < 2)  # a training has come so far
    {act}
    return value


problem = ep.Problem(
    domain=ep.Interval(0, 1), fields=["u"], residual=residual,
    conditions=[ep.Boundary(lambda u: u, weight=10)], solution=lambda x: torch.sin(torch.pi * x),
    points=ep.Grid(interior=60, boundary=2, test=21),
)
"""
LINE = HEAD.partition("{act}")[0].count("\n") + 1
ACTS = {
    "raises": "assert not late, 'too late'",
    "raises at a point": "assert not late or x.max() < 0.9, 'too near to the wall'",
    "not a number": "value = value * (float('nan') if late else 1.0)",
    "infinite": "value = value / (0.0 if late else 1.0)",
    "prints": "print('noise\\n' * 6000)",
    "tells": "print('asked')",
    "another shape": "value = value[: len(value) - late]",
    "no tensor": "value = 'nothing' if late else value",
    "exits": "exit(0) if late else None",
    "for ever": "late and (open(f'{__file__}.hangs', 'w').close() or time.sleep(1e6))",
    "now and then": "value = value * (float('nan') if calls // 60 % 3 == 2 else 1.0)",
}
SMALL = ("--genome", "layers=3 neurons=4 activation=tanh(x)", "--epochs", "100", "--quiet", "--json")


@pytest.fixture
def write(tmp_path):
    """A file with a problem that does something."""

    def write(act):
        path = tmp_path / "misbehaving.py"
        path.write_text(HEAD.format(act=ACTS[act]))
        return str(path)

    return write


@pytest.mark.parametrize("optimizer", ["lbfgs", "lm", "adam"])
@pytest.mark.parametrize("act", ["not a number", "infinite"])
def test_numbers_that_are_none_from_some_step_on_are_no_convergence(run, write, tmp_path, act, optimizer):
    saved = str(tmp_path / "kept")
    more = ("--rate", "0.02", "--epochs", "1000") if optimizer == "adam" else ()
    code, out, err = run("train", write(act), *SMALL, "--optimizer", optimizer, "--save", saved, *more)
    data = json.loads(out)
    assert (code, data["status"]) == (1, "not-finite")
    assert data["loss"] > 0  # the least that was seen before
    assert 0 < load(saved).epochs < (1000 if more else 100)
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        ("raises", "the residual raised AssertionError: too late"),
        ("raises at a point", "the residual raised AssertionError: too near to the wall"),
        ("another shape", "the residual returned shape (59,); expected (60,)"),
        ("no tensor", "the residual returned a str"),
    ],
)
def test_what_a_residual_does_wrong_is_told_with_its_line(run, write, act, sentence):
    code, out, err = run("train", write(act), *SMALL)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {sentence}")
    assert err.count("\n") == 1
    if act.startswith("raises"):
        assert f"misbehaving.py, line {LINE})." in err


def test_a_residual_that_exits_does_not_end_the_command(run, write):
    code, _, err = run("train", write("exits"), *SMALL)
    assert code == 2
    assert re.match("error: the residual .*SystemExit", err)


def test_a_residual_that_prints_a_million_lines_is_trained(run, write):
    code, out, err = run("train", write("prints"), *SMALL)
    assert code == 0
    assert err.count("noise") >= 1_000_000
    assert json.loads(out)["status"] in ("finished", "converged")


def test_what_a_problem_prints_is_no_part_of_the_json_of_a_search(run, write, tmp_path):
    path = Path(write("tells"))
    path.write_text(f"print('loaded')\n{path.read_text()}")
    amounts = ("--populations", "4", "--epochs", "3", "--set", "candidates=1", "--set", "evaluations=1")
    options = ("--workers", "1", "--run", str(tmp_path / "run"), "--quiet", "--json")
    code, out, err = run("search", str(path), *amounts, *options)
    assert code == 0
    assert json.loads(out)["best"] is not None
    assert "loaded" in err


def test_a_residual_that_takes_for_ever_is_ended_by_ctrl_c_and_its_result_kept(write, tmp_path):
    path, saved = Path(write("for ever")), tmp_path / "kept"
    command = [sys.executable, "-m", "evopinn", "train", str(path), *SMALL, "--save", str(saved)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            until = time.monotonic() + 120
            while not path.with_name(f"{path.name}.hangs").exists():
                assert time.monotonic() < until
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "interrupted"
    assert load(saved).loss > 0


def test_a_search_goes_on_past_numbers_that_are_none(run, write, tmp_path):
    directory = tmp_path / "run"
    schedule = ("--populations", "8,4", "--epochs", "6,12", "--set", "candidates=1", "--set", "evaluations=1")
    options = ("--workers", "1", "--seed", "3", "--run", str(directory), "--no-report", "--quiet")
    code, _, err = run("search", write("now and then"), *schedule, *options)
    assert (code, err) == (0, "")
    with Reader(directory) as reader:
        assert reader.state() == "finished"
        counts = reader.counts()
        failed = [entry.loss for entry in reader.page(size=100) if entry.status == "not-finite"]
        best = reader.hall_of_fame()[0]
    assert counts["not-finite"] > 0
    assert counts.get("finished", 0) + counts.get("converged", 0) > 0
    assert all(loss == float("inf") for loss in failed)
    assert best.status in ("finished", "converged")
