"""How the commands that search end: what they print, and their exit codes. Nothing is trained here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evopinn.cli.shared import output
from evopinn.errors import ReportError, RunError
from evopinn.genome import Genome
from evopinn.run.progress import Snapshot
from evopinn.run.run_result import RunResult
from evopinn.search import Origin, Task
from evopinn.store.records import Evaluation
from evopinn.store.store import Store
from evopinn.view.terminal.run_summary import found

CONFIG = 'problem = "/home/me/[/b]p.py"\nmethod = "random"\nseed = 7\n'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def resumed(run, monkeypatch):
    """Resume a run by something that stands for the search: exit code, standard output, standard error."""

    def resumed(go_on, directory="my run", options=("--quiet",)):
        if not Path(directory).exists():
            Store.create(directory, CONFIG, {}).close()
        monkeypatch.setattr("evopinn.run.session.resume", go_on)
        return run("resume", directory, *options)

    return resumed


def test_a_path_with_brackets_is_printed_as_it_is(resumed):
    code, out, _ = resumed(lambda *_, **__: True)
    head, reason = out.splitlines()
    assert head.startswith("/home/me/[/b]p.py, ")
    assert "stopped" in head
    assert "`evopinn resume 'my run'`" in reason
    assert code == 1  # nothing was found


def test_the_command_that_goes_on_can_be_pasted(resumed):
    for directory, command in (("my run", "evopinn resume 'my run'"), ("runs/short", "evopinn resume short")):
        code, _, err = resumed(lambda *_, **__: False, directory)
        assert code == 130
        assert err.endswith(f": {command}\n")


@pytest.mark.parametrize("phases", [["loading"], ["loading", "starting", "stopped"]])
def test_a_stop_is_told_once(resumed, phases):
    """Where progress tells it, nothing else does; while the problem is loaded, progress does not."""

    def stopped(directory, observer, *_):
        for phase in phases:
            observer.report(Snapshot(directory, "heat", "random", phase))
        return False

    code, _, err = resumed(stopped, options=())
    assert code == 130
    assert err.count("stopped") == err.count("evopinn resume 'my run'") == 1


BROKEN = """
import sys
import evopinn.run.session
from evopinn.cli import main
evopinn.run.session.resume = lambda *_: False
sys.argv = ["evopinn", "resume", "mine", "--quiet", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_reader_that_is_gone_does_not_hide_how_it_ended(options, stream):
    Store.create("mine", CONFIG, {}).close()
    read, write = os.pipe()
    os.close(read)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: write}
    ended = subprocess.run(
        [sys.executable, "-c", BROKEN, *options], text=True, check=False, timeout=120, **streams
    )
    os.close(write)
    assert ended.returncode == 130
    if stream == "stdout":
        assert ended.stderr.endswith(": evopinn resume mine\n")
    else:
        assert "seed" in ended.stdout


def test_a_search_goes_on_when_nobody_reads_its_log(tmp_path):
    """As in `evopinn search ... 2>&1 | head -1`: the plan is told to nobody, and its end to the shell."""
    program = """
import evopinn.run.session
from evopinn.cli import main

def go_on(directory, observer, *_):
    observer.say("what will be done")
    open("done", "w").close()
    return False

evopinn.run.session.resume = go_on
main()
"""
    Store.create("mine", CONFIG, {}).close()
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", program, "resume", "mine"]
    ended = subprocess.run(command, stdout=write, stderr=write, check=False, timeout=120)
    os.close(write)
    assert ended.returncode == 130
    assert Path("done").exists()


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_what_was_found_fits_the_terminal(columns, monkeypatch, capsys):
    shortcuts = ",".join(f"{first}-{first + 1}" for first in range(9))
    genome = f"layers=11 neurons=48 shortcuts={shortcuts} activation=sin(a*x)+tanh(x)*cos(b*x)*asinh(c*x)"
    with Store.create("mine", CONFIG, {}) as store:
        store.add_tasks([Task(0, 1, Genome.parse(genome), 5000, 1, Origin(("initial",)))])
        store.record([Evaluation(0, "finished", 1e-7, 0.0, 0.5, {"u": 1e-5}, 5000, 1234.5)])
    monkeypatch.setenv("COLUMNS", str(columns))
    output(found(RunResult("mine").record), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    rows = lines[lines.index("Hall of fame") + 2 :]
    assert [line.split()[:3] for line in rows if "e-0" in line] == [["0", "1.00e-07", "1.00e-05"]]


def test_what_is_refused_is_a_mistake_and_what_goes_wrong_later_a_failure(resumed):
    def refused(*_, **__):
        raise RunError("in use.")

    def refused_later(directory, observer, *_):
        observer.report(Snapshot(directory, "heat", "random", "loading"))
        raise RunError("another problem.")

    def failed(directory, observer, *_):
        observer.report(Snapshot(directory, "heat", "random", "starting"))
        raise RunError("disk full.")

    assert resumed(refused) == (2, "", "error: in use.\n")
    assert resumed(refused_later) == (2, "", "error: another problem.\n")
    assert resumed(failed) == (1, "", "error: disk full.\n")


def test_workers_that_cannot_start_are_a_failure(run, monkeypatch):
    def unable(*_, **__):
        raise RunError("no memory.")

    monkeypatch.setattr("evopinn.run.session.LocalPool", unable)
    code, _, err = run("search", "heat", "--populations", "2", "--epochs", "1", "--quiet")
    assert (code, err) == (1, "error: no memory.\n")
    assert not list(Path().glob("runs/*"))


def finish(directory, observer, *_):
    """Stands for a search that comes to its end."""
    observer.report(Snapshot(directory, "heat", "random", "running"))
    with Store.open(directory) as store:
        store.note("finished")
    return True


def test_a_finished_search_leaves_a_report(resumed):
    code, _, err = resumed(finish, options=())
    assert code == 1  # nothing was found, as the report says
    assert err.endswith("report: my run/report.html\n")
    assert "random" in Path("my run/report.html").read_text(encoding="utf-8")
    before = Path("my run/report.html").stat().st_mtime_ns
    assert "report" not in resumed(lambda *_: True, options=())[2]  # finished before
    assert Path("my run/report.html").stat().st_mtime_ns == before


def test_a_report_can_be_left_out(resumed):
    assert "report" not in resumed(finish, options=("--no-report",))[2]
    assert not Path("my run/report.html").exists()
    assert "report" not in resumed(lambda *_: False, "stopped")[2]
    assert not Path("stopped/report.html").exists()


@pytest.mark.parametrize("error", [ReportError("no room."), ValueError("a bug"), KeyboardInterrupt()])
def test_a_report_that_fails_does_not_fail_the_search(resumed, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr("evopinn.view.report.write_report", fail)
    code, out, err = resumed(finish)
    assert code == 1
    assert out.startswith("/home/me/[/b]p.py, ")  # the result
    assert "report" in err
