"""What a report says fits what the run is: with or without final evaluations, in lines or in maps."""

import re
import shutil
import sqlite3
from contextlib import closing

import pytest
from figured import CONFIG, GENOMES, VERSIONS, make_run
from matplotlib.figure import Figure
from reported import assert_sound

import evopinn as ep
from evopinn.store.directory import DATABASE
from evopinn.store.store import Store
from evopinn.view.report import write_report
from evopinn.view.report.gathering import gathered
from evopinn.view.run_facts import MOST_ACCURATE, RECOMMENDED, how_finalists_are_ranked, why_not_recommended
from evopinn.view.run_tables import hall_of_fame_table

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
    monkeypatch.setattr("evopinn.view.figures.pictures.draw", lambda *_: Figure(figsize=(3, 2)))


def page_of(*runs, **options):
    return assert_sound(write_report(runs, **options).read_text(encoding="utf-8"))


@pytest.mark.usefixtures("blank")
def test_before_the_finals_there_is_no_recommended_architecture(tmp_path):
    run = make_run(tmp_path / "half", upto=8, finished=False)
    page = page_of(run)
    assert run.record.recommended is None
    assert f"{MOST_ACCURATE} {GENOMES[2]}" not in page.words
    assert f"{MOST_ACCURATE} {run.record.best.entry.genome}" in page.words
    assert f"{RECOMMENDED} layers=" not in page.words
    assert why_not_recommended(run.record) in page.words
    assert "mean loss" not in [cell[0] for table in page.tables for cell in table[0]]
    assert "Mean loss" not in page.words


@pytest.mark.usefixtures("blank")
def test_after_the_finals_an_architecture_is_recommended(tmp_path):
    run = make_run(tmp_path / "done")
    page = page_of(run)
    assert f"{RECOMMENDED} {run.record.recommended.entry.genome}" in page.words
    assert "Mean loss" in page.words
    assert "mean loss" in [cell[0] for cell in page.tables[1][0]]
    assert why_not_recommended(run.record) == ""


@pytest.mark.usefixtures("blank")
def test_the_mean_that_decides_is_named(tmp_path):
    run = make_run(tmp_path / "done")
    arithmetic = how_finalists_are_ranked(run.record)
    assert arithmetic in page_of(run).words
    with closing(sqlite3.connect(run.directory / DATABASE)) as connection, connection:
        connection.execute("UPDATE run SET config = config || ?", ('[settings]\nmean = "geometric"\n',))
    geometric = how_finalists_are_ranked(run.record)
    assert "geometric" in geometric
    assert "geometric" not in arithmetic
    assert geometric in page_of(run).words
    assert geometric in write_report([run], tmp_path / "done.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("blank")
def test_finals_that_all_failed_recommend_nothing(tmp_path):
    run = make_run(tmp_path / "done", failed=(10, 11, 12, 13))
    assert run.record.finalists
    assert run.record.recommended is None
    page = page_of(run)
    assert f"{RECOMMENDED} none" in page.words
    assert f"{MOST_ACCURATE} {run.record.best.entry.genome}" in page.words
    assert " mean of 2 " not in page.words


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize(("solution", "word"), [(SOLUTION, "dashed"), ("", "No reference")])
def test_a_solution_of_one_coordinate_is_a_line(tmp_path, solution, word):
    file = tmp_path / "line.py"
    file.write_text(LINE.format(solution=solution))
    drawn = gathered(make_run(tmp_path / "run", problem=file), pictures=("solution",)).pictures
    maps = gathered(make_run(tmp_path / "maps"), pictures=("solution",)).pictures
    assert word in drawn["solution"].caption
    assert word not in maps["solution"].caption


@pytest.mark.usefixtures("blank")
def test_the_head_says_each_thing_once(tmp_path):
    plan = 'plan = "evo-dpste: 3 generations; then the best is trained twice."\n'
    with Store.create(tmp_path / "run", CONFIG.format(problem="heat") + plan, VERSIONS) as store:
        store.note("resumed")
    page = assert_sound(write_report([tmp_path / "run"]).read_text(encoding="utf-8"))
    head = page.words.partition("Problem")[0]  # the first link of the contents
    assert head.count("evo-dpste") == 1
    assert "3 generations; then the best is trained twice." in head  # the plan, word for word
    assert re.search(r"\bResumed\b", head)


@pytest.mark.usefixtures("blank")
def test_the_hall_of_fame_is_the_same_table_in_every_format(tmp_path):
    run = make_run(tmp_path / "done")
    hall = page_of(run).tables[2]
    table = hall_of_fame_table(gathered(run, pictures=()).record)
    assert [[cell[0].strip() for cell in row] for row in hall[1:]] == [
        [cell.typeset for cell in row] for row in table.rows
    ]
    text = write_report([run], tmp_path / "done.md").read_text(encoding="utf-8")
    assert table.markdown(heading=False) in text
    structures = [
        row[table.columns.index(next(c for c in table.columns if c.name == "structure"))]
        for row in table.rows
    ]
    assert [cell.text for cell in structures] == ["7×30 [0-1, 1-2]", "5×24 [0-2]", "3×20"]
    assert [row["round"] for row in table.data()] == ["final", "final", "2"]


@pytest.mark.usefixtures("blank")
def test_residuals_are_named_in_words(tmp_path):
    network = ep.train("heat", NETWORK, epochs=1, optimizer="lbfgs", engine="autograd")
    text = make_run(tmp_path / "run", weights=network).report(tmp_path / "r.md").read_text(encoding="utf-8")
    assert "\n- residual: " in text
    assert "held_out" not in text.partition("## Settings")[0]


@pytest.mark.usefixtures("blank")
def test_a_run_that_is_given_twice_is_shown_once(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        make_run(tmp_path / "runs" / name, upto=8)
    code, out, err = run("report", "one", "two", "runs/one")
    assert (code, out) == (0, "report.html\n")
    assert re.search(r"\brun one\b.*\b2\b", err)
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
    assert [row[2][0] for row in mixed.tables[0]] == ["problem", "as its author calls it", "another"]
    assert len({len(row) for row in mixed.tables[0]}) == 1
    warned = ["not comparable" in page.words for page in (alike, mixed)]
    assert warned == [False, True]
