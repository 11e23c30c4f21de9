"""The commands that look at runs and stop them."""

import errno
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import runs
from runs import CANDIDATES, add_final_evaluations, add_generations, make_task
from simulated import make_evaluation

from evopinn.api import SearchResult
from evopinn.run.wording import ROUNDS
from evopinn.search import Origin
from evopinn.search.task import CANDIDATE, PROPOSED, RETRAINED
from evopinn.store.reader import Reader
from evopinn.store.store import Store
from evopinn.training.status import MEANINGS
from evopinn.view.run_facts import MOST_ACCURATE, RECOMMENDED

TRACEBACK = "Traceback (most recent call last):\n  File ..."
WRITER = """
import signal, sys
from evopinn.store.store import Store
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
store = Store.open(sys.argv[1])
print("open", flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make_run(name, *parts, created=1.7e9, config=runs.CONFIG):
    """A run in `runs`, filled by functions of its store, and closed."""
    with Store.create(Path("runs", name), config, runs.VERSIONS, clock=lambda: created) as store:
        for part in parts:
            part(store)
    return Path("runs", name)


def note_finished(store):
    store.note("finished")


@pytest.fixture
def finished():
    return make_run("done", add_generations, add_final_evaluations, note_finished)


@pytest.fixture
def written():
    """Have another process write to a run, and end it afterwards."""
    processes = []

    def written(directory, manner="polite"):
        command = [sys.executable, "-c", WRITER, str(directory), manner]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert processes[-1].stdout.readline() == "open\n"
        return processes[-1]

    yield written
    for process in processes:
        process.kill()
        process.communicate()


def test_runs_are_listed_the_newest_last(run, written):
    make_run("b-done", add_generations, add_final_evaluations, note_finished, created=1.7e9)
    make_run("a-later", add_generations, created=1.8e9)
    make_run("empty", created=1.6e9)
    Path("runs", "no-run").mkdir()
    process = written("runs/a-later")
    code, out, err = run("runs")
    assert (code, err) == (0, "")
    header, empty, done, later = (line.split() for line in out.splitlines())
    assert header[:4] == ["run", "problem", "method", "state"]
    assert empty[:6] == ["empty", "klein-gordon", "evo-dpste", "stopped", "0", "2020-09-13"]
    # Of the final evaluations the means, as `show` has them, and of how many.
    assert done[3:9] == ["finished", "final", "14", "2.00e-02", "6.00e-02", "3"]
    assert later[:7] == ["a-later", "klein-gordon", "evo-dpste", "running", "gen", "2", "8"]
    assert later[9] == "1"
    _, out, _ = run("runs", "runs", "--json")
    listed = json.loads(out)
    assert [each["run"] for each in listed] == ["runs/empty", "runs/b-done", "runs/a-later"]
    assert [each["state"] for each in listed] == ["stopped", "finished", "running"]
    assert listed[1]["best"]["loss"] == 0.01
    assert listed[0]["best"] is None
    process.kill()
    process.wait()
    assert "stopped" in run("runs", "runs/a-later")[1]


def test_a_damaged_run_does_not_hide_the_others(run):
    make_run("good", add_generations)
    bad = make_run("bad", add_generations)
    (bad / "run.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    code, out, _ = run("runs")
    assert code == 0
    assert "good  klein-gordon" in out
    assert re.search(r"^bad: .*runs/bad.*damaged", out, re.M)
    _, out, _ = run("runs", "--json")
    good, damaged = json.loads(out)
    assert good["run"] == "runs/good"
    assert (damaged["run"], damaged["state"]) == ("runs/bad", "unreadable")
    assert "damaged" in damaged["reason"]
    assert run("show", "bad")[0] == 2


def test_a_place_without_runs_is_told(run, tmp_path):
    for arguments in (["runs"], ["runs", "runs"], ["runs", "."]):
        code, out, err = run(*arguments)
        assert (code, out) == (0, "")
        assert "`evopinn search PROBLEM`" in err
    assert run("runs", "--json")[:2] == (0, "[]\n")
    code, _, err = run("runs", "nowhere")
    assert code == 2
    assert re.fullmatch(rf"error: nowhere .*: {os.strerror(errno.ENOENT)}\.\n", err)
    Path("file").touch()
    assert run("runs", "file")[0] == 2


def test_a_geometric_mean_is_called_so_wherever_it_is_shown(run):
    losses = (0.02, 0.02, 0.02, 0.001, 0.001, 0.3)
    config = runs.CONFIG + '[settings]\nmean = "geometric"\n'
    make_run("one", add_generations, lambda store: add_final_evaluations(store, losses), config=config)
    shown = run("show", "one")[1]
    assert re.search(r"^mean of 3 +loss 6.69e-03, error 2.01e-02 \(geometric\)$", shown, re.M)
    assert re.search(r"\bgeometric\s+mean\b", shown.partition("Final evaluations")[2])  # a header
    assert json.loads(run("show", "one", "--json")[1])["best"]["mean"] == "geometric"
    assert "3 (geometric)" in " ".join(run("runs")[1].split())
    assert run("report", "one", "--out", "report.md")[0] == 0
    text = Path("report.md").read_text()
    assert re.search(r"^- mean of 3: .* \(geometric\)$", text, re.M)
    assert re.search(r"\| geometric [^|]*loss \| geometric [^|]*error \|", text)
    assert run("report", "one", "--out", "report.html")[0] == 0
    page = Path("report.html").read_text()
    assert "(geometric)" in page
    assert re.search(r">geometric [^<]*loss</", page)


def test_show_tells_the_winner_the_generations_and_what_failed(run, finished):
    code, out, err = run("show", "done")
    assert (code, err) == (0, "")
    for fact in (
        r"^method +evo-dpste, seed 7$",
        r"^state +finished$",
        r"\b14 networks, 1 failed; 3,900 epochs\b",
        rf"^{RECOMMENDED} +{re.escape(CANDIDATES[0].text)}$",
        rf"^{MOST_ACCURATE} +loss 1\.00e-02 .*\b500 epochs .*\b500 ms \(task 9\)$",
        r"^error of v +3\.00e-02$",
        r"^mean of 3 +loss 2\.00e-02, error 6\.00e-02$",
        r"`evopinn export done best`",
    ):
        assert re.search(fact, re.sub(" +$", "", out, flags=re.M), re.M), fact
    sections = [line for line in out.splitlines() if line and not line.startswith(" ")][-5:]
    assert sections[:4] == ["Final evaluations", "Hall of fame", "Generations", "Failures"]
    rows = [line.split() for line in out.splitlines()]
    assert ["generation", "1", "4", "4", "1"] in [row[:5] for row in rows]
    assert ["final", "evaluations", "6", "6", "0"] in [row[:5] for row in rows]
    assert ["not-finite", "1", "0", "3", "the", "loss"] in [row[:6] for row in rows]
    assert ["crashed", "0", "1", "0", "the", "worker"] in [row[:6] for row in rows]
    assert out.count("asinh(x)*cos(x)") >= 1


@pytest.mark.parametrize(
    ("status", "note", "shown"),
    [
        ("raised", f"{TRACEBACK}\nValueError: [x] is bad", "ValueError: [x] is bad"),
        ("poison", f"memory: {TRACEBACK}\nMemoryError", "memory: MemoryError"),
        (
            "crashed",
            "it was ended by SIGSEGV; the last it printed:\nbefore\nFatal error",
            "it was ended by SIGSEGV; the last it printed: Fatal error",
        ),
        ("deadline", "cut by wall clock: it was not done after 60 s and was killed", None),
        ("memory", "", MEANINGS["memory"]),
    ],
)
def test_show_tells_why_the_first_of_each_kind_failed(run, status, note, shown):
    def failed(store):
        store.add_tasks([make_task(number) for number in range(3)])
        store.record([make_evaluation(0)])
        for number, text in ((1, note), (2, "another")):
            store.record([make_evaluation(number, status=status, loss=math.inf, errors={}, note=text)])

    make_run("one", failed)
    out = run("show", "one")[1]
    (row,) = [line.strip() for line in out.splitlines() if line.startswith(f" {status} ")]
    assert re.split("  +", row) == [status, "2", "0", "1", note if shown is None else shown]
    (failure,) = json.loads(run("show", "one", "--json")[1])["failures"]
    assert (failure["task"], failure["note"]) == (1, note)


def test_show_tells_the_plan_and_where_the_problem_comes_from(run):
    recorded = '[recorded]\nproblem = "poisson"\nplan = "evo-dpste: 1 generation of 8 individuals."\n'
    make_run("one", add_generations, config=f'problem = "/home/me/p.py"\nmethod = "evo-dpste"\n{recorded}')
    out = run("show", "one")[1]
    assert re.search(r"^problem +poisson \(/home/me/p\.py\) *$", out, re.MULTILINE)
    assert re.search(r"^plan +evo-dpste: 1 generation of 8 individuals\. *$", out, re.MULTILINE)
    shown = json.loads(run("show", "one", "--json")[1])
    assert (shown["problem"], shown["source"]) == ("poisson", "/home/me/p.py")
    assert shown["plan"] == "evo-dpste: 1 generation of 8 individuals."
    assert "poisson" in run("runs")[1]
    catalogue = make_run("two", config='problem = "heat"\n[recorded]\nproblem = "heat:I"\n')
    assert re.search(r"^problem +heat:I *$", run("show", str(catalogue))[1], re.MULTILINE)


def test_rounds_are_called_what_they_are(run):
    def of(*rounds):
        def fill(store):
            for number, operation in enumerate(rounds):
                store.add_tasks([make_task(number, 1 + number, origin=Origin((operation,)))])
                store.record([make_evaluation(number)])

        return fill

    make_run("a", of("initial", "crossover", RETRAINED, CANDIDATE))
    make_run("b", of(PROPOSED, PROPOSED, CANDIDATE))
    make_run("c", of("initial", RETRAINED))
    make_run("d", of(PROPOSED))
    rounds = [re.split("  +", line)[4] for line in run("runs")[1].splitlines()]
    assert rounds == ["round", "final", "final", "bests again", "batch 1"]
    bests, final = ROUNDS["bests"].name, ROUNDS["final"].name
    for name, title, shown in [
        ("a", "Generations", ["generation 1", "generation 2", bests, final]),
        ("b", "Batches", ["batch 1", "batch 2", final]),
    ]:
        lines = run("show", name)[1].splitlines()
        first = lines.index(title) + 1
        cells = [re.split("  +", line.strip())[0] for line in lines[first : first + 1 + len(shown)]]
        assert cells == ["round", *shown]


def test_show_says_what_to_do_next(run, written):
    make_run("early")
    out = run("show", "early")[1]
    assert re.search(rf"^{MOST_ACCURATE} +none: .*`evopinn resume early`", out, re.MULTILINE)
    assert "`evopinn resume early`" in out.splitlines()[-1]
    directory = Path("else where")
    with Store.create(directory, runs.CONFIG, runs.VERSIONS) as store:
        add_generations(store)
    last = run("show", str(directory))[1].splitlines()[-1]
    assert "`evopinn resume 'else where'`" in last
    assert "`evopinn export 'else where' best`" in last
    process = written(directory)
    out = run("show", "else where")[1]
    assert f"running (process {process.pid})" in out
    assert "`evopinn stop 'else where'`" in out


def test_show_prints_json_for_scripts(run, finished):
    code, out, _ = run("show", "runs/done", "--json")
    assert code == 0
    shown = json.loads(out)
    expected = SearchResult(finished).summary()
    assert expected["best"].pop("latex")
    assert shown == expected
    best = shown["best"]
    assert (best["genome"], best["loss"], best["error"]) == (CANDIDATES[0].text, 0.01, 0.03)
    assert [event["kind"] for event in shown["events"]] == ["finished"]


CHARTS = ["Losses by generation", "Schedule", "Failed trainings"]


def test_show_draws_charts_on_a_terminal_or_if_asked(run, finished, monkeypatch):
    def titles(*options):
        return [line for line in run("show", "done", *options)[1].splitlines() if line in CHARTS]

    assert titles() == titles("--no-charts") == []
    assert titles("--charts") == CHARTS
    monkeypatch.setenv("FORCE_COLOR", "1")  # by which rich takes anything for a terminal
    monkeypatch.setenv("NO_COLOR", "1")
    assert titles() == CHARTS
    assert titles("--no-charts") == []
    assert json.loads(run("show", "done", "--charts", "--json")[1]) == json.loads(
        run("show", "done", "--json")[1]
    )


def test_charts_tell_losses_the_schedule_and_failures(run):
    schedule = "[schedule]\npopulations = [4, 3, 2]\nepochs = [50, 100, 200]\n"
    settings = "[settings]\nelitists = 0.25\ncandidates = 2\nevaluations = 3\n"

    def half(store):
        store.add_tasks(make_task(number, 1 + number // 4) for number in range(8))
        store.record([make_evaluation(0, status="not-finite", loss=math.inf, errors={})])
        for number in range(1, 6):
            store.record([make_evaluation(number)])

    make_run("half", half, config=runs.CONFIG + schedule + settings)
    lines = run("show", "half", "--charts")[1].splitlines()
    losses = lines[lines.index(CHARTS[0]) + 1 : lines.index(CHARTS[1]) - 1]
    assert len(losses) == 12
    assert losses[-2].split() == ["1", "2"]
    steps = lines[lines.index(CHARTS[1]) + 1 : lines.index(CHARTS[2]) - 1]
    assert [re.findall(r"[\d,]+|final|of", line) for line in steps[1:-1]] == [
        ["1", "4", "100"],
        ["2", "2", "of", "3", "1", "100"],  # three children and an elitist that is trained again
        ["3", "2", "1", "200"],
        ["final", "6", "200"],
    ]
    assert ["░" in line for line in steps] == [False, False, True, True, True, True]
    assert re.search("█░", steps[2])  # half of it is done
    assert not re.search("█", steps[3])
    failures = lines[lines.index(CHARTS[2]) + 1 :]
    assert re.fullmatch(r"not-finite █+ 1", failures[0])


def test_a_schedule_of_a_finished_run_has_its_finals_and_plans_nothing(run, finished):
    lines = run("show", "done", "--charts")[1].splitlines()
    steps = lines[lines.index(CHARTS[1]) + 2 : lines.index(CHARTS[2]) - 1]
    assert [re.findall(r"[\d,]+|final", line) for line in steps] == [
        ["1", "4", "100"],
        ["2", "4", "100"],
        ["final", "6", "500"],
    ]


@pytest.mark.parametrize("config", ["schedule = 3\n", "[schedule]\npopulations = 7\nepochs = ['x', 2]\n"])
def test_a_schedule_that_makes_no_sense_is_not_drawn(run, config):
    make_run("odd", add_generations, config=runs.CONFIG + config)
    code, out, _ = run("show", "odd", "--charts")
    assert code == 0
    steps = out.splitlines()[out.splitlines().index("Schedule") + 2 :][:2]
    assert [line.split()[0] for line in steps] == ["1", "2"]  # what was asked for stands in its place


def test_charts_of_a_run_without_anything_are_left_out(run):
    make_run("early")
    code, out, _ = run("show", "early", "--charts")
    assert code == 0
    assert not set(CHARTS) & set(out.splitlines())


@pytest.mark.parametrize("columns", [30, 40, 57, 80, 120, 300])
def test_charts_fit_the_terminal(finished, columns):
    import io

    from rich.console import Console

    from evopinn.run.record import RunRecord
    from evopinn.view.terminal.run_charts import run_charts

    charts = run_charts(RunRecord.read(finished), columns)
    assert bool(charts) is (columns >= 40)
    console = Console(file=io.StringIO(), width=columns)
    for chart in charts:
        assert max(map(len, chart.lines)) <= min(columns, 200)
        for line in chart.lines:
            console.print(line, markup=False, highlight=False)
    assert len(console.file.getvalue().splitlines()) == sum(len(chart.lines) for chart in charts)


def test_charts_are_ascii_where_nothing_else_can_be_shown(finished):
    program = "from evopinn.cli import main\nimport sys\nsys.argv[0] = 'evopinn'\nmain()"
    command = [sys.executable, "-c", program, "show", str(finished), "--charts"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "COLUMNS": "80"}
    ended = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.isascii()
    assert b"o best  - median  : quartiles" in ended.stdout


def test_top_limits_the_genomes(run, finished):
    shown = json.loads(run("show", "done", "--top", "2", "--json")[1])
    assert len(shown["hall_of_fame"]) == len(shown["finalists"]) == 2
    assert len(json.loads(run("show", "done", "--json")[1])["hall_of_fame"]) == 7
    assert run("show", "done", "--top", "0")[0] == 2


def test_the_last_of_many_generations_are_shown(run):
    def many(store):
        for number in range(45):
            store.add_tasks([make_task(number, 1 + number)])
            store.record([make_evaluation(number)])

    make_run("many", many)
    out = run("show", "many", "--top", "1")[1]
    assert re.search(r"^Generations\b.*\b20 .*\b45$", out, re.M)
    shown = re.findall(r"^ generation (\d+) +1 +1 +0 ", out, re.MULTILINE)
    assert [int(generation) for generation in shown] == list(range(26, 46))
    assert len(json.loads(run("show", "many", "--json")[1])["generations"]) == 45


def test_names_with_brackets_are_shown_as_they_are(run):
    config = 'problem = "/home/[red]me/[/]p.py"\nmethod = "random"\n'
    make_run("[bold]x", add_generations, config=config)
    assert "[bold]x  /home/[red]me/[/]p.py" in run("runs")[1]
    out = run("show", "[bold]x")[1]
    assert re.search(r"^problem +/home/\[red\]me/\[/\]p.py$", out, re.MULTILINE)
    assert re.search(r"^method +random *$", out, re.MULTILINE)


def test_control_characters_are_shown_and_not_obeyed(run):
    config = 'problem = "/home/\\u001b[31mme/p.py"\nmethod = "random"\n'
    make_run("a\x1b[31mred\nb", add_generations, config=config)
    for arguments in (["runs"], ["show", "a\x1b[31mred\nb"]):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        assert "\x1b" not in out
        assert r"a\x1b[31mred\nb" in out
        assert r"/home/\x1b[31mme/p.py" in out
    err = run("show", "no\x1b[31m\u202esuch")[2]
    assert r"no\x1b[31m\u202esuch" in err
    assert r"a\x1b[31mred" in err
    assert "\x1b" not in err


@pytest.mark.parametrize("columns", [40, 47, 60, 79])
def test_a_narrow_terminal_has_fewer_columns_and_whole_numbers(finished, columns):
    import io

    from rich.console import Console

    from evopinn.run.record import RunRecord
    from evopinn.view.terminal.run_summary import found, run_page, runs_list

    def lines_of(content):
        console = Console(file=io.StringIO(), width=columns)
        console.print(content)
        lines = console.file.getvalue().splitlines()
        assert max(map(len, lines)) <= columns
        return lines

    result = SearchResult(finished)
    losses = [f"{entry.loss:.2e}" for entry in result.hall_of_fame]
    record = RunRecord.read(finished)
    for lines in (lines_of(run_page(record)), lines_of(found(record))):
        table = lines[lines.index("Hall of fame") + 1 :]
        assert table[0].split()[-1] == "activation"
        end = table[0].index("loss") + len("loss")
        # Structures and activations may go on below, numbers may not.
        shown_losses = [cell for line in table[1:] if (cell := line[end - 8 : end].strip())]
        assert shown_losses[: len(losses)] == losses
    assert "2.00e-02" in lines_of(runs_list([record]))[1]


def failed_in(status, count, **changes):
    def fill(store):
        store.add_tasks(make_task(number) for number in range(count))
        for number in range(count):
            failed = {"status": status, "loss": math.inf, "errors": {}} | changes
            store.record([make_evaluation(number, **failed)])

    return fill


@pytest.mark.parametrize(
    ("status", "reason", "advice"),
    [
        ("not-finite", "not-a-number", "1/x"),
        ("raised", "exception", "`evopinn show none`"),
        ("memory", "memory", "--memory"),
        ("crashed", "worker process", "`evopinn show none`"),
    ],
)
def test_a_run_in_which_all_failed_says_why_and_what_to_do(run, status, reason, advice):
    directory = make_run("none", failed_in(status, 3), note_finished)
    best = " ".join(run("show", "none")[1].partition("most accurate network")[2].split())
    told = str(SearchResult(directory)).splitlines()[1]
    error = run("export", "none", "best")[2]
    for text in (best, told, error):
        assert f"3 trainings failed: {status} (" in text
        assert reason in text
        assert advice in text
        assert "recorded yet" not in text
        assert "wait" not in text


def test_several_kinds_of_failure_are_counted_the_commonest_first(run):
    def fill(store):
        failed_in("not-finite", 2)(store)
        store.add_tasks([make_task(2)])
        store.record([make_evaluation(2, status="raised", loss=math.inf, errors={})])

    out = run("show", str(make_run("none", fill)))[1]
    assert re.search(r"\b3 trainings .*: 2 not-finite \(.*, 1 raised \(", " ".join(out.split()))


def test_a_run_that_was_killed_is_stopped_and_says_so(run):
    make_run("killed", add_generations)
    make_run("asked", add_generations, lambda store: store.note("stopped"))
    assert re.search(r"^state +stopped \(.*killed", run("show", "killed")[1], re.MULTILINE)
    assert re.search(r"^state +stopped *$", run("show", "asked")[1], re.MULTILINE)
    assert json.loads(run("show", "killed", "--json")[1])["state"] == "stopped"


@pytest.mark.parametrize("command", ["show", "stop", "export"])
def test_a_run_that_is_not_there_is_told_with_what_there_is(run, command):
    out = ["out"] if command == "export" else []
    code, _, err = run(command, "nothing", *out)
    assert code == 2
    assert re.match("error: .*'nothing'", err)
    for number in range(1, 11):
        make_run(f"kg-{number}")
    Path("folder").mkdir()
    _, _, err = run(command, "kg-12", *out)
    assert re.match(r"error: .*'kg-12'; .*\bkg-", err)
    assert " kg-1, kg-10, kg-2, kg-3, kg-4, kg-5, kg-6, kg-7 and 2 " in err
    assert re.match(r"error: folder .*run\.sqlite", run(command, "folder", *out)[2])
    make_run("study/searches/random-0")
    assert re.match(
        r"error: runs/study .*run\.sqlite.* searches/random-0;", run(command, "runs/study", *out)[2]
    )
    code, _, err = run(command, "x" * 5000, *out)
    assert code == 2
    assert os.strerror(errno.ENAMETOOLONG) in err


def test_stop_ends_a_run_and_waits_for_it(run, written):
    directory = make_run("one", add_generations)
    process = written(directory)
    code, _, err = run("stop", "one")
    assert code == 0
    assert re.match(r"runs/one .*\bstopped\b.*`evopinn resume one`", err)
    assert process.wait(10) == -signal.SIGTERM
    code, _, err = run("stop", "one")
    assert code == 2
    assert re.match(r"error: .*\bruns/one .*\bnot running\b", err)
    with Reader(directory) as reader:
        assert sum(reader.counts().values()) == 8


def test_stop_says_if_a_run_does_not_end(run, written, monkeypatch):
    process = written(make_run("one"), "deaf")
    monkeypatch.setattr("evopinn.cli.runs.PATIENCE", 0.3)
    code, _, err = run("stop", "one")
    assert code == 1
    assert re.match(r"runs/one .*\b0\.3 s\b", err)
    assert process.poll() is None


def test_stop_leaves_processes_of_other_machines_alone(run, written, monkeypatch):
    process = written(make_run("one"))
    monkeypatch.setattr("evopinn.store.directory.socket.gethostname", lambda: "elsewhere")
    code, _, err = run("stop", "one")
    assert code == 2
    assert re.search(rf"\bprocess {process.pid} on .*runs/one; ", err)
    assert process.poll() is None


def test_stop_leaves_processes_of_other_users_alone(run, written, monkeypatch):
    def refused(_process, _signal):
        raise PermissionError

    process = written(make_run("one"))
    with monkeypatch.context() as patched:
        patched.setattr("evopinn.run.stopping.os.kill", refused)
        code, _, err = run("stop", "one")
    assert code == 2
    assert re.search(rf"process {process.pid}\b.*runs/one.*another user", err)


@pytest.mark.parametrize(
    ("arguments", "numpy"),
    [
        (["runs"], False),
        (["show", "done"], False),
        (["show", "done", "--charts"], True),  # the method says what is planned
        (["show", "done", "--json"], False),
    ],
)
def test_looking_does_not_wait_for_torch(finished, arguments, numpy):
    program = f"""
import sys
sys.argv = ["evopinn", *{arguments!r}]
from evopinn.cli import main
try:
    main()
finally:
    print("torch" in sys.modules, "numpy" in sys.modules, file=sys.stderr)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, f"False {numpy}\n")
