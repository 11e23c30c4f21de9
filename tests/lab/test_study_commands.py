"""The commands of studies, from arguments to tables, files and exit codes."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROBLEM = str(Path(__file__).parents[1] / "run" / "search_problem.py")
TINY = ("--epochs", "3", "--trials", "2", "--coarseness", "8", "--workers", "2", "--quiet")
COMMANDS = {
    "reproduce": ("reproduce", "table", "KG", "--models", "evo-dpste-1", "--cases", "II", *TINY),
    "sensitivity": ("sensitivity", PROBLEM, *TINY),
    "compare": (
        "compare",
        PROBLEM,
        "--methods",
        "random,evo-dpste",
        "--runs",
        "1",
        "--budget",
        "2600 epochs",
        *TINY,
    ),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_study_from_command_to_report(run, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*COMMANDS[kind])
    assert code == 0, err
    assert {"reproduce": "evo-dpste-1", "sensitivity": "baseline", "compare": "random"}[kind] in out
    (directory,) = (tmp_path / "studies").iterdir()
    assert directory.name.startswith(f"{kind}-")
    assert (directory / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert (directory / "trainings.csv").read_text().startswith("model,case,genome,seed,status")
    code, again, _ = run(*COMMANDS[kind], "--no-report")
    assert (code, again) == (0, out)  # nothing is done again
    code, data, _ = run(*COMMANDS[kind], "--no-report", "--json")
    assert code == 0
    assert json.loads(data)["design"]["kind"] == kind


def test_what_is_planned_is_told_and_not_done(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*COMMANDS["compare"], "--plan")
    assert code == 0, err
    assert "1 × evo-dpste" in out
    assert "2,600" in out or "2,59" in out
    assert "V100" in out
    assert not (tmp_path / "studies").exists()


def test_a_file_says_it_all(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(
        'kind = "reproduce"\nproblem = "KG"\nmodels = ["bo-fcnet-1"]\ncases = ["I"]\nepochs = 9\ntrials = 1\n'
        "coarseness = 8\n[workers]\ncount = 1\n"
    )
    code, out, err = run(
        "reproduce",
        "table",
        "--config",
        "mine.toml",
        "--epochs",
        "2",
        "--study",
        "mine",
        "--quiet",
        "--no-report",
    )
    assert code == 0, err
    assert "bo-fcnet-1" in out
    settled = (tmp_path / "studies" / "mine" / "study.toml").read_text()
    assert "epochs = 2" in settled


def test_a_budget_takes_the_place_of_the_schedule_of_a_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("[schedule]\npopulations = [6, 4]\nepochs = [30, 50]\n")
    words = [*COMMANDS["compare"], "--config", "mine.toml", "--plan"]
    words.remove("--quiet")
    code, out, err = run(*words)
    assert code == 0, err
    assert "2,600" in out or "2,59" in out
    assert "budget" in err


def test_another_study_of_the_same_name_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies" / "mine").mkdir(parents=True)
    (tmp_path / "studies" / "mine" / "study.toml").write_text('kind = "compare"\nproblem = "heat"\n')
    code, _, err = run(*COMMANDS["reproduce"], "--study", "mine")
    assert code == 2
    assert "study.toml" in err


def test_a_directory_with_something_else_is_refused_before_anything_is_timed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    code, _, err = run(*COMMANDS["reproduce"], "--study", "./other")
    assert code == 2
    assert err.startswith("error: other ")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("reproduce", "table", "heat"), r"'heat'.*\bklein-gordon, burgers, lame\b"),
        (("reproduce", "table"), r"\bno problem\b"),
        (("reproduce", "table", "KG", "--models", "evo-9"), r"\bmodel .*'evo-9'.*\bevo-dpste-1\b"),
        (("compare", "KG", "--scale", "0"), r"\bscale = 0\.0\b.*\bgreater than 0\b"),
        (("compare", "KG", "--methods", "annealing"), r"\bmethod .*'annealing'.*\bbo-fcnet\b.*\bevo-dpste\b"),
        (("compare", "KG", "--budget", "10m"), r"\bbudget .*'10m'.*'30000 epochs'"),
        (("sensitivity", "nonsense"), r"\bproblem .*'nonsense'.*`evopinn problems`"),
        (("compare", "nonsense", "--scale", "0.01"), r"\bproblem .*'nonsense'.*`evopinn problems`"),
        (("compare", "KG:IX", "--scale", "0.01"), r"\bcase of klein-gordon .*'IX'.*\bIII\b"),
        (("compare", "nowhere.py", "--scale", "0.01"), r"\bfile .*\bnowhere\.py\b"),
        (("sensitivity", "KG", "--cases", "IX"), r"\bcase of klein-gordon .*'IX'.*\bIII\b"),
        (("compare", "--config", "none.toml"), rf"\bnone\.toml .*: {os.strerror(errno.ENOENT)}"),
        (("sensitivity", "KG", "--coarseness", "0.5"), r"\bcoarseness = 0\.5\b.*\bat least 1\b"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(run, tmp_path, monkeypatch, arguments, reason):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, "--quiet")
    assert code == 2
    assert re.search(reason, err)
    assert "Traceback" not in err
    assert out == ""
    assert not (tmp_path / "studies").exists()


def test_a_study_that_is_interrupted_says_how_to_resume_and_does(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [*COMMANDS["reproduce"][:-1], "--no-report"]
    words[words.index("3")] = "150"
    process = subprocess.Popen(
        [sys.executable, "-m", "evopinn", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    until = time.monotonic() + 100
    while not list(tmp_path.glob("studies/*/trainings/*/run.sqlite")) and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 130, err
    assert "stopped; " in err
    assert "Traceback" not in err
    code, out, err = run(*words, "--quiet")
    assert code == 0, err
    assert "evo-dpste-1" in out
