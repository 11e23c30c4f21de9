"""Reports of runs that are not as they should be, and of names that mean harm: they come out and say so."""

import math
import re
import shutil
import sqlite3
from contextlib import closing

import pytest
import torch
from figured import CONFIG, VERSIONS, make_history, make_run
from reported import assert_sound

import evopinn as ep
from evopinn.cli.actions.reports import report_finished
from evopinn.errors import FigureError
from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.directory import DATABASE, WEIGHTS
from evopinn.store.records import Evaluation
from evopinn.store.store import Store
from evopinn.store.weights import save_weights
from evopinn.view.figures.figure_table import FIGURES, Scene
from evopinn.view.report import write_report
from evopinn.view.report.gathering import gathered

NETWORK = "layers=3 neurons=5 shortcuts=0-1 activation=a*sin(x)"
EVIL = (
    """<script>alert('1')</script>"><img src=x onerror="alert(2)"> """
    r"$x_1$ \frac{1}{2} & `code` | **bold** {{ 7*7 }}"
)
UNSOLVED = """
import torch
import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u: u.xx + u,
    conditions=[ep.Boundary(lambda u: u - 1)],
    points=ep.Grid(interior=5, boundary=2),
    name="mine",
    title={title!r},
    equation={equation!r},
)
"""


@pytest.fixture(scope="module")
def network():
    return ep.train("heat", NETWORK, epochs=1, optimizer="lbfgs", engine="autograd")


@pytest.fixture
def undrawn(monkeypatch):
    """Figures take their time."""

    def draw(*_):
        raise FigureError("not here")

    monkeypatch.setattr("evopinn.view.figures.pictures.draw", draw)


def pictured(page):
    """The names of the figures in a report."""
    titles = {each["alt"].partition(".")[0] for each in page.of("img")}
    return {name for name, row in FIGURES.items() if row.words(Scene())[0] in titles}


def reported(run):
    path = write_report([run])
    return assert_sound(path.read_text(encoding="utf-8"))


def make_single(directory, config, loss=0.5, network=None, genome=NETWORK, **evaluation):
    """A run with one individual."""
    with Store.create(directory, config, VERSIONS) as store:
        store.add_tasks([Task(0, 1, Genome.parse(genome), 10, 0, Origin(("initial",)))])
        settings = {
            "status": "finished",
            "errors": {},
            "epochs": 10,
            "seconds": 1.0,
            "history": make_history(loss) if math.isfinite(loss) else None,
        } | evaluation
        store.record([Evaluation(0, loss=loss, started=1.7e9, ended=1.7e9 + 1, **settings)])
        if network is not None:
            save_weights(directory, 0, network)
        store.note("finished")
    return ep.load(directory)


def test_a_run_that_never_began_an_evaluation(tmp_path):
    Store.create(tmp_path / "empty", CONFIG.format(problem="heat"), VERSIONS).close()
    page = reported(tmp_path / "empty")
    assert "evopinn resume" in page.words
    assert len(page.tables) == 1  # that of the problem
    assert "u_{t} - 0.4 u_{xx} = 0" in page.words
    assert page.of("img") == []
    assert "finished training" in page.words  # why figures are missing


def test_a_run_that_is_still_going(tmp_path):
    with Store.create(tmp_path / "going", CONFIG.format(problem="heat"), VERSIONS) as store:
        store.add_tasks([Task(0, 1, Genome.parse(NETWORK), 10, 0, Origin(("initial",)))])
        page = reported(tmp_path / "going")
    assert "running as its author calls it" in page.words
    assert "evopinn resume" not in page.words


@pytest.mark.usefixtures("undrawn")
def test_a_run_that_was_stopped_and_one_that_was_killed(tmp_path):
    make_run(tmp_path / "my run", upto=8, finished=False)
    page = reported(tmp_path / "my run")
    assert f"evopinn resume '{tmp_path}/my run'" in page.words
    assert "killed" in page.words
    with Store.open(tmp_path / "my run") as store:
        store.note("resumed")
        store.note("stopped")
    page = reported(tmp_path / "my run")
    assert f"evopinn resume '{tmp_path}/my run'" in page.words
    assert "killed" not in page.words
    assert "Resumed once." in page.words


def test_a_run_without_a_success(tmp_path):
    run = make_single(
        tmp_path / "failed",
        CONFIG.format(problem="heat"),
        math.inf,
        status="raised",
        note='Traceback (most recent call last):\n  File "p.py", line 1\nValueError: <b>no</b>',
    )
    page = reported(run)
    *_, failures = page.tables
    assert [cell[0] for cell in failures[1][:4]] == ["raised", "1", "0", "0"]
    assert failures[1][4][0].startswith("ValueError: <b>no</b>")
    assert 'File "p.py", line 1' in failures[1][4][0]
    assert page.of("b") == []


def test_a_run_of_one_individual_without_a_known_solution(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(UNSOLVED.format(title="An oscillator", equation=""))
    network = ep.train(str(file), NETWORK, epochs=1, optimizer="lbfgs", engine="autograd")
    page = reported(make_single(tmp_path / "one", CONFIG.format(problem=file), network=network))
    assert "An oscillator" in page.words
    assert "error unknown" in page.words
    assert {"solution", "structure", "generations"} <= pictured(page)


def test_a_run_whose_weights_are_lost(tmp_path, network):
    run = make_run(tmp_path / "run", weights=network)
    shutil.rmtree(run.directory / WEIGHTS)
    page = reported(run)
    assert "00000010" in page.words
    assert ": 10," in page.words
    assert "Use it" not in page.words
    assert "structure" in pictured(page)  # of what is recorded
    assert "solution" not in pictured(page)


@pytest.mark.usefixtures("undrawn")
def test_a_run_whose_problem_is_gone_or_is_another_one(tmp_path, network):
    run = make_run(tmp_path / "gone", problem=tmp_path / "nowhere.py", weights=network)
    page = reported(run)
    assert page.words.count(str(tmp_path / "nowhere.py")) > 1  # its place, and that it is missing
    assert "Use it" in page.words
    changed = CONFIG.format(problem="heat") + "fingerprint = 3.0\n"
    other = make_single(tmp_path / "other", changed, network=network)
    missing, page = gathered(other, pictures=()).problem_missing, reported(other)
    assert re.search(r"\bproblem heat\b.*\blosses\b", missing)
    assert missing in page.words
    assert "u_{xx}" not in page.words
    given = make_single(tmp_path / "object", CONFIG.format(problem="python:heat"), network=network)
    missing, page = gathered(given, pictures=()).problem_missing, reported(given)
    assert re.search(r"'heat' .*\bobject\b", missing)
    assert missing in page.words
    assert "ep.search" in page.words
    path = ep.load(tmp_path / "object").report(problem=ep.find_problem("heat"))
    assert "u_{t} - 0.4 u_{xx} = 0" in assert_sound(path.read_text(encoding="utf-8")).words


def test_no_figure_is_made_of_a_problem_that_has_changed(tmp_path, network):
    changed = CONFIG.format(problem="heat") + "fingerprint = 3.0\n"
    page = reported(make_single(tmp_path / "other", changed, network=network))
    assert "activation" in pictured(page)  # around zero, as of what has no points
    assert "solution" not in pictured(page)
    assert re.search(r"\bsolution: [^.:]*\bproblem heat\b", page.words)


def test_hostile_names_are_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "<img src=x onerror=alert(1)> & $run"
    file = tmp_path / "mine.py"
    file.write_text(UNSOLVED.format(title=EVIL, equation=rf"u = \text{{{EVIL}}}"))
    config = CONFIG.format(problem=file).replace("as its author calls it", "</title><script>1</script>")
    config = config.replace("evo-dpste", "<i>method</i>")
    run = make_single(place, config, math.inf, status="raised", note=f"{EVIL}\n{EVIL}")
    page = reported(run)
    assert page.of("i") == page.of("b") == []
    assert " ".join(EVIL.split()) in page.words
    assert "</title><script>1</script>" in page.words
    assert "<i>method</i>" in page.words
    assert "<img src=x onerror=alert(1)> & $run" in page.words
    shutil.copytree(place, tmp_path / "copy")
    both = assert_sound(ep.report([run, tmp_path / "copy"]).read_text(encoding="utf-8"))
    assert "<i>method</i>" in both.words
    text = ep.report(run, "report.md").read_text(encoding="utf-8")
    outside = re.sub(r"(`+)[^`].*?[^`]\1(?!`)", "", text, flags=re.DOTALL)  # neither blocks nor spans of code
    assert "\\<i\\>method" in outside
    assert "<script" not in outside.replace(r"\<script", "")
    assert "<img" not in outside.replace(r"\<img", "")


def test_a_genome_that_cannot_be_read_is_shown_as_text(tmp_path):
    run = make_single(tmp_path / "run", CONFIG.format(problem="heat"))
    evil = "layers=3 <u> activation=<script>alert(1)</script>"
    with closing(sqlite3.connect(run.directory / DATABASE)) as connection, connection:
        connection.execute("UPDATE tasks SET genome = ?", (evil,))
    page = reported(run)
    assert "<script>alert(1)</script>" in page.words
    assert page.of("u") == []


def test_a_report_that_is_broken_off_says_how_to_get_it(tmp_path, monkeypatch, capsys):
    threads = []

    def broken_off(*_):
        threads.append(torch.get_num_threads())
        raise KeyboardInterrupt

    monkeypatch.setattr("evopinn.view.report.write_report", broken_off)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        report_finished(tmp_path / "my run", quiet=True)
    finally:
        torch.set_num_threads(before)
    assert threads == [1]
    assert f"`evopinn report '{tmp_path}/my run'`" in capsys.readouterr().err


def test_the_command_says_where_the_report_is(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        Store.create(tmp_path / "runs" / name, CONFIG.format(problem="heat"), VERSIONS).close()
    assert run("report", "one") == (0, "runs/one/report.html\n", "")
    assert run("report", "one", "two", "--format", "md") == (0, "report.md\n", "")
    assert run("report", "one", "--out", "deep/mine.html")[:2] == (0, "deep/mine.html\n")
    (tmp_path / "letter.html").write_text("Dear")
    code, out, err = run("report", "one", "--out", "letter.html")
    assert (code, out) == (2, "")
    assert err.startswith("error: letter.html ")
    assert run("report", "one", "--out", "letter.html", "--force")[0] == 0
    assert run("report", "three")[0] == 2
    assert run("report")[0] == 2
    assert run("report", "one", "--out", "/proc/none/x.html")[0] == 2


def test_commands_say_that_the_problem_has_changed(run, tmp_path, monkeypatch, network):
    monkeypatch.chdir(tmp_path)
    make_single(
        tmp_path / "runs" / "other", CONFIG.format(problem="heat") + "fingerprint = 3.0\n", network=network
    )
    code, out, err = run("report", "other")
    assert (code, out) == (0, "runs/other/report.html\n")
    assert re.search(r"\bproblem heat\b.*\blosses\b", err)
    code, out, err = run("plot", "other", "--what", "solution,structure")
    assert (code, out) == (1, "figures/other/structure.png\n")
    assert re.match(r"no solution: .*\bproblem heat\b.*\blosses\b", err)
