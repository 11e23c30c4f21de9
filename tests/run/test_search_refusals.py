"""What a search refuses before anything starts, in a sentence that says what to do."""

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from runs import VERSIONS, make_closed_run
from searches import PROBLEM, SEARCHES, SEED, SMALL, assert_same_end, attempts, final_state

import evopinn as ep
from evopinn.errors import RunError, SearchError
from evopinn.run.wording import visible
from evopinn.store.reader import Reader
from evopinn.store.store import Store

SCHEDULE = ("--populations", "10,6,4", "--epochs", "5,10,15")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty directory to be in."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def refused(run, monkeypatch):
    """Run the command line, which must refuse to do it and leave no trace: the sentence."""

    def started(*_, **__):
        pytest.fail("a worker was started")

    def refused(*arguments):
        before = sorted(Path().rglob("*"))
        with monkeypatch.context() as patched:
            patched.setattr("evopinn.run.session.LocalPool", started)
            code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert sorted(Path().rglob("*")) == before
        return err

    return refused


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--method", "evo-dspte", *SCHEDULE], r"\bmethod .*'evo-dspte'.* evo-dpste\?.*\bbo-fcnet\b"),
        (["--preset", "quik"], r"\bpreset .*'quik'.* quick\?.*\bpaper:lame\b"),
        (["--preset", "paper"], rf"\bpreset paper .*{PROBLEM}\b.*\bpaper:lame, or quick\b"),
        (["--budget", "600"], r"\bbudget .*'600'.* 600s .*'600 trainings'"),
        (["--budget", "0"], r"\bbudget .*'0'.* 0s .*'0 trainings'"),
        (["--budget", "0s"], r"'0s' .*\bbudget\b.* 10m .*\btrainings\b"),
        (["--budget", ""], r"'' .*\bbudget\b.* 10m .*\btrainings\b"),
        (["--budget", "0 epochs"], r"\bepochs is 0\b.*\babove 0\b"),
        (["--budget", "0 trainings"], r"\btrainings is 0\b.*\babove 0\b"),
        (["--budget", "9 epochs"], r"\bbudget .*\b9 epochs\b.*\bevo-dpste\b.*\b20 epochs\b"),
        (["--budget", "soon"], r"'soon' .*\bbudget\b.* 10m .*\btrainings\b"),
        (["--populations", "10,1", "--epochs", "5,10"], r"\bpopulation is 1\b.*\b2\b"),
        (["--populations", "10,6", "--epochs", "5"], r"\b2 populations .*\b1 .*\bepochs\b"),
        (["--populations", "4,6", "--epochs", "5,10"], r"\bpopulations .*\b4, 6\b.*\blargest\b"),
        (["--populations", "6,4", "--epochs", "10,5"], r"\bepochs .*\b10, 5\b.*\bfewest\b"),
        (["--populations", "6,four", "--epochs", "5,10"], r"--populations 6,four\b.*\bwhole numbers\b"),
        (["--populations", "6,4"], "--epochs .*--populations"),
        (["--trials", "5", "--epochs", "5,10"], r"--epochs 5,10\b.*\bone\b"),
        ([*SCHEDULE, "--trials", "5"], "--populations .*--trials"),
        ([*SCHEDULE, "--budget", "5m"], r"\bbudget and schedule\b"),
        (["--method", "bo-fcnet", *SCHEDULE], r"\bbo-fcnet .*\bschedule\b.*\btrials\b"),
        (["--trials", "5", "--epochs", "5"], r"\bevo-dpste .*\btrials\b.*\bpopulations\b"),
        ([*SCHEDULE, "--set", "elitist=0.2"], r"'elitist'.* elitists\b.*\bcoarsening\b"),
        ([*SCHEDULE, "--set", "elitists=7"], r"\belitists is 7\b.*\b0 to 1\b"),
        ([*SCHEDULE, "--set", 'elitists="few"'], r"\belitists is 'few'.*\b0 to 1\b"),
        ([*SCHEDULE, "--set", "mean=median"], r"\bmean is 'median'.*\barithmetic or geometric\b"),
        ([*SCHEDULE, "--set", "skip_known=1"], r"\bskip_known is 1\b.*\btrue or false\b"),
        (
            [*SCHEDULE, "--set", "mutation=3"],
            r"\bmutation is 3\b.*\blayers, neurons, shortcuts, activation\b",
        ),
        (
            [*SCHEDULE, "--set", "mutation.layer=0.3"],
            r"'layer'.* layers\?.*\bneurons, shortcuts, activation\b",
        ),
        ([*SCHEDULE, "--set", "elitists"], r"--set elitists\b.* name=value\b"),
        ([*SCHEDULE, "--faithful"], r"--faithful .*\bevo-dpste\b.*--method bo-fcnet or bo-fcresnet"),
        ([*SCHEDULE, "--run", ""], r"\brun is ''.*\bpath\b"),
        ([*SCHEDULE, "--optimizer", "sgd"], r"\boptimizer .*'sgd'.*\blbfgs, adam, lm\b"),
        ([*SCHEDULE, "--memory", "5"], r"\bworkers\.memory = 5\b.*\b100\b"),
        ([*SCHEDULE, "--deadline", "later"], r"'later' .* 20s\b.* 2h\b"),
        ([*SCHEDULE, "--run", "/proc/nowhere/run"], f" /proc/nowhere/run: {os.strerror(errno.ENOENT)}"),
        ([*SCHEDULE, "--config", "none.toml"], rf"\bnone\.toml .*: {os.strerror(errno.ENOENT)}"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(refused, arguments, told):
    assert re.search(told, refused("search", PROBLEM, *arguments))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('metod = "random"', r"\bmine\.toml .*'metod'.* method\?"),
        ("[workers]\ncuont = 2", r"\bmine\.toml .*'workers\.cuont'.* workers\.count\b"),
        ('seed = "one"', r"\bmine\.toml .*\bseed = 'one'.*\bwhole number\b"),
        ("method =", r"\bmine\.toml .*\bTOML: \w+"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(refused, text, told):
    Path("mine.toml").write_text(text)
    assert re.search(told, refused("search", PROBLEM, "--config", "mine.toml"))


def test_a_search_without_a_problem_is_refused(refused):
    assert "`evopinn problems`" in refused("search", *SCHEDULE)
    assert re.search(r"'kline-gordon'.*\bklein-gordon\b", refused("search", "kline-gordon"))
    assert re.search(r"\bfile .*\bnowhere\.py\b", refused("search", "nowhere.py"))


def test_what_is_there_is_not_overwritten(refused, undisturbed):
    Path("file").touch()
    assert " file/run: " in refused("search", PROBLEM, *SCHEDULE, "--run", "file/run")
    for taken in (Path("file").resolve(), undisturbed("evo-dpste")):
        err = refused("search", PROBLEM, *SCHEDULE, "--run", str(taken))
        assert re.search(rf" {taken} .*\bexists\b", err)


@pytest.mark.parametrize("length", [250, 300])
def test_a_name_that_is_too_long_is_refused(refused, length):
    """The directory in which a run is made has a longer name than the run."""
    name = str(Path("x" * length).resolve())
    assert f": {os.strerror(errno.ENAMETOOLONG)}." in refused("search", PROBLEM, *SCHEDULE, "--run", name)


def make_run(undisturbed, problem):
    """A run that has only begun, of a problem that is called so."""
    text = (undisturbed("evo-dpste") / "config.toml").read_text()
    assert text.count(f'"{PROBLEM}"') == 1
    Store.create("run", text.replace(PROBLEM, problem), VERSIONS).close()


def test_a_problem_that_has_changed_is_refused(refused, undisturbed):
    problem = Path("problem.py").resolve()
    shutil.copy(PROBLEM, problem)
    make_run(undisturbed, str(problem))
    problem.write_text(problem.read_text().replace("weight=10", "weight=11"))
    changed = r"\bproblem poisson .*\brun run\b.*\blosses\b"
    assert re.search(changed, refused("resume", "run"))
    problem.rename("moved.py")
    err = refused("resume", "run")
    assert re.search(rf"\brun run .*{problem}\b.*\bexists\b", err)
    assert "`evopinn resume run --problem FILE`" in err
    assert re.search(changed, refused("resume", "run", "--problem", "moved.py"))
    with pytest.raises(RunError, match=changed):
        ep.resume("run", problem=Path("moved.py"), progress=False)
    with Reader("run") as reader:
        assert reader.events() == []


def test_a_run_goes_on_with_a_problem_that_is_in_another_place(run, undisturbed):
    make_run(undisturbed, "/nowhere/problem.py:problem")
    shutil.copy(PROBLEM, "moved.py")
    code, _, _ = run("resume", "run", "--problem", "moved.py", "--no-report", "--workers", "2")
    assert code == 0
    assert_same_end(Path("run"), undisturbed("evo-dpste"))


def test_a_run_of_an_object_is_gone_on_with_from_python(refused, undisturbed):
    make_run(undisturbed, "python:mine")
    err = refused("resume", "run")
    assert re.search(r"'mine' .*\bobject\b", err)
    assert "evopinn.search(problem, run=...)" in err
    assert "`evopinn resume run --problem FILE`" in err


def test_a_second_driver_is_refused(refused, undisturbed):
    make_run(undisturbed, PROBLEM)
    with Store.open("run"):
        assert re.search(rf"run run .*\bprocess {os.getpid()} on ", refused("resume", "run"))


def test_a_finished_run_is_shown_and_left_as_it_is(run, undisturbed):
    directory = undisturbed("evo-dpste")
    before = final_state(directory), len(attempts(directory))
    with Reader(directory) as reader:
        events = reader.events()
    code, out, _ = run("resume", str(directory))
    assert code == 0
    assert re.match(rf"poisson, evo-dpste, .*\b{SEED}: finished\n", out)
    assert (final_state(directory), len(attempts(directory))) == before
    with Reader(directory) as reader:
        assert reader.events() == events


RESUME = """
import os, sys
import evopinn as ep
import evopinn.api, evopinn.run.stopping, evopinn.view.terminal.live
from evopinn.errors import RunError
if os.getuid() == 0:  # rights do not bind the superuser
    os.setuid(65534)
try:
    result = ep.resume(sys.argv[1], progress=False)
    print(result.state, len(result.hall_of_fame))
except RunError as error:
    print(error)
"""


@pytest.mark.parametrize("finished", [True, False])
def test_a_finished_run_is_shown_where_nothing_can_be_written(finished):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own directories are closed to other users
        directory = Path(folder) / "run"
        make_closed_run(directory)
        with Store.open(directory) as store:
            store.note("finished" if finished else "stopped")
        for path in (directory, Path(folder)):
            path.chmod(0o555)
        command = [sys.executable, "-c", RESUME, str(directory)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for path in (directory, Path(folder)):
            path.chmod(0o755)
    assert out.strip() == "finished 1" if finished else re.search(rf"{directory} .*\bread-only\b", out)


def test_another_search_under_the_same_name_is_refused(undisturbed):
    directory = undisturbed("evo-dpste")
    settings = SEARCHES["evo-dpste"][2]
    others = [
        {"seed": SEED + 1, "settings": settings},
        {"seed": SEED, "settings": settings | {"elitists": 0.5}},
        {"seed": SEED, "settings": settings, "training": {"optimizer": "adam"}},
    ]
    for other in others:
        with pytest.raises(RunError, match=rf"{directory} .*\bconfig\.toml\b"):
            ep.search(PROBLEM, schedule=SMALL, run=directory, progress=False, **other)
    with pytest.raises(SearchError, match=r"^budget and schedule "):
        ep.search(PROBLEM, schedule=SMALL, budget="5m", run="new", progress=False)
    assert not Path("new").exists()


@pytest.mark.parametrize("name", ["a\x1b[31mred", "a\nb", "runs/a\u202eb"])
def test_a_name_with_control_characters_is_refused(refused, name):
    error = refused("search", PROBLEM, *SCHEDULE, "--run", name)
    assert f"'{visible(name)}'" in error
    assert error.strip().isprintable()
    with pytest.raises(RunError, match="control characters"):
        ep.search(PROBLEM, run=name, schedule=SMALL, progress=False)
