"""What a report says fits what the run is: with or without final evaluations, in lines or in maps."""

import re
import shutil
import sqlite3
from contextlib import closing

import pytest
from figured import CONFIG, VERSIONS, make_run
from matplotlib.figure import Figure
from reported import assert_sound

import evopinn as ep
from evopinn.errors import ReportError
from evopinn.run.place import DATABASE
from evopinn.run.store import Store
from evopinn.view.report import write_report
from evopinn.view.report.gathering import run_facts

NETWORK = "layers=3 neurons=5 shortcuts=0-1 activation=a*sin(x)"
LINE = """
import torch
import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u: u.xx + u,
    conditions=[ep.Boundary(lambda u: u - 1)],
    points=ep.Grid(interior=5, boundary=2),
    name="line",
    {solution}
)
"""
SOLUTION = "solution=lambda x: torch.cos(x) + torch.tan(torch.tensor(0.5)) * torch.sin(x),"


@pytest.fixture
def blank(monkeypatch):
    """Figures take their time; their words are the same."""
    monkeypatch.setattr("evopinn.view.report.pictures.draw", lambda *_: Figure(figsize=(3, 2)))


def words(*runs, **options):
    return assert_sound(write_report(runs, **options).read_text(encoding="utf-8")).words


@pytest.mark.usefixtures("blank")
def test_before_the_finals_nothing_is_said_of_them(tmp_path):
    said = words(make_run(tmp_path / "half", upto=8, finished=False))
    assert "How the best were trained" in said
    assert "of the best single trainings so far" in said
    assert "The best so far" in said
    assert "There are no final evaluations yet: this is the single training with the least loss" in said
    assert (
        "What is planned is dashed where it was not begun, and hatched in a round that is under way." in said
    )
    for wrong in (
        "finalist",
        "final trainings",
        "stand apart",
        "The winner",
        "of its final evaluations",
        "Mean loss",
    ):
        assert wrong not in said


@pytest.mark.usefixtures("blank")
def test_after_the_finals_they_are_told(tmp_path):
    said = words(make_run(tmp_path / "done"))
    for right in ("How the finalists were trained", "The winner", "Mean loss of the winner"):
        assert right in said
    for wrong in ("no final evaluations", "best so far", "What is planned", "Least loss"):
        assert wrong not in said


@pytest.mark.usefixtures("blank")
def test_the_mean_that_decides_is_explained(tmp_path):
    run = make_run(tmp_path / "done")
    assert "Their means decide." in words(run)
    with closing(sqlite3.connect(run.directory / DATABASE)) as connection, connection:
        connection.execute("UPDATE run SET config = config || ?", ('[settings]\nmean = "geometric"\n',))
    sentence = "Their geometric means decide, which weigh orders of magnitude"
    assert sentence in words(run)
    assert sentence in write_report([run], tmp_path / "done.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("blank")
def test_finals_that_all_failed_choose_nothing(tmp_path):
    said = words(make_run(tmp_path / "done", failed=(10, 11, 12, 13)))
    assert "No final evaluation gave a network: this is the single training with the least loss" in said
    assert "Mean of" not in said


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize(
    ("solution", "sentence"),
    [
        (SOLUTION, "Left the network's solution and, dashed, the known one; right the difference of the two"),
        ("", "The network's solution; none is known to compare it with."),
    ],
)
def test_a_solution_of_one_coordinate_is_a_line(tmp_path, solution, sentence):
    file = tmp_path / "line.py"
    file.write_text(LINE.format(solution=solution))
    drawn = run_facts(make_run(tmp_path / "run", problem=file), pictures=("solution",)).pictures
    assert drawn["solution"].caption.startswith(sentence)
    maps = run_facts(make_run(tmp_path / "maps"), pictures=("solution",)).pictures
    assert "in the middle the known one" in maps["solution"].caption


@pytest.mark.usefixtures("blank")
def test_the_head_says_each_thing_once(tmp_path):
    plan = 'plan = "evo-dpste: 3 generations; then the best is trained twice."\n'
    with Store.create(tmp_path / "run", CONFIG.format(problem="heat") + plan, VERSIONS) as store:
        store.note("resumed")
    page = assert_sound(write_report([tmp_path / "run"]).read_text(encoding="utf-8"))
    head = page.words.partition("To the content")[2].partition("Problem")[0]
    assert head.count("evo-dpste") == 1
    assert "Resumed once. Planned: 3 generations; then" in head


@pytest.mark.usefixtures("blank")
def test_tables_are_terse(tmp_path):
    page = assert_sound(write_report([make_run(tmp_path / "done")]).read_text(encoding="utf-8"))
    finalists, hall = page.tables[1:3]
    assert [cell[0].strip() for cell in finalists[1][1:3]] == ["0.200", "2.00e-2"]
    assert [cell[0] for cell in hall[0]] == [
        *("rank", "loss", "error", "activation", "structure", "parameters", "epochs", "time", "task"),
        *("round", "made by"),
    ]
    structures = [row[4][1] for row in hall[1:]]
    assert structures == ["7×30 +2", "5×24 +1", "3×20"]
    assert [row[9][0] for row in hall[1:]] == ["final", "final", "2"]


@pytest.mark.usefixtures("blank")
def test_markdown_names_residuals_in_words(tmp_path):
    network = ep.train("heat", NETWORK, epochs=1, engine="autograd")
    text = make_run(tmp_path / "run", weights=network).report(tmp_path / "r.md").read_text(encoding="utf-8")
    for named in ("- residual on the points of the training: ", "- residual on other points: "):
        assert named in text
    assert "held_out" not in text.partition("## Settings")[0]


@pytest.mark.usefixtures("blank")
def test_a_run_that_is_given_twice_is_shown_once(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        make_run(tmp_path / "runs" / name, upto=8)
    code, out, err = run("report", "one", "two", "runs/one")
    assert (code, out) == (0, "report.html\n")
    assert "the run one is given 2 times; it is shown once." in err
    page = assert_sound((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [row[0][1] for row in page.tables[0][1:]] == ["one", "two"]
    assert run("report", "one", "one")[1] == "runs/one/report.html\n"


@pytest.mark.usefixtures("blank")
def test_runs_of_several_problems_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = make_run(tmp_path / "done")
    shutil.copytree(first.directory, tmp_path / "copy")
    config = CONFIG.format(problem="heat").replace("as its author calls it", "another")
    Store.create(tmp_path / "other", config, VERSIONS).close()
    alike = assert_sound(ep.report([first, tmp_path / "copy"]).read_text(encoding="utf-8"))
    mixed = assert_sound(ep.report([first, tmp_path / "other"]).read_text(encoding="utf-8"))
    assert "problem" not in [cell[0] for cell in alike.tables[0][0]]
    assert [row[2][0] for row in mixed.tables[0]] == ["problem", "as its author calls it", "another"]
    assert len({len(row) for row in mixed.tables[0]}) == 1
    assert "Of a search without final evaluations, the best is the single training" in mixed.words


@pytest.mark.usefixtures("blank")
def test_how_a_file_is_kept_or_made_is_said_without_the_words_of_a_program(run, tmp_path):
    found = make_run(tmp_path / "done")
    (tmp_path / "letter.html").write_text("Dear")
    with pytest.raises(ReportError) as refused:
        found.report(tmp_path / "letter.html")
    assert str(refused.value).endswith("choose another name, or force it.")
    code, shown, _ = run("report", "--help")
    assert code == 0
    assert "directories and all" in re.sub(r"[\s│|]+", " ", shown)
