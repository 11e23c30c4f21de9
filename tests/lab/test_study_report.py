"""The page of a study: what is on it, and the file that it is."""

import json
import re
import sqlite3
import tomllib
from contextlib import closing

import pytest
from reported import assert_sound
from shown import (
    METHODS,
    Sensing,
    comparison,
    discoveries,
    write_comparison,
    write_trainings,
)

import evopinn as ep
from evopinn.errors import ReportError
from evopinn.genome import published_model
from evopinn.lab.studies.comparison.comparison_tables import OURS_NOTE
from evopinn.lab.studies.labels import conditions_note, scale_note
from evopinn.lab.studies.reproduction import ReproductionDesign, ReproductionStudy
from evopinn.lab.studies.study_page import write_study_page
from evopinn.store.directory import DATABASE
from evopinn.view.report import write_report

WORDS = """<img src=x onerror="alert(1)"><script>alert(2)</script> {{ 7919*7907 }} $x$"""
HARMLESS = "layers=2 neurons=4 activation=tanh(x)"


def opened(path):
    """The page of a file, which must be sound."""
    return assert_sound(path.read_text(encoding="utf-8"))


def parts_of(page):
    """The names of a page's parts."""
    return [each["id"] for each in page.of("h2")]


def cells(table):
    return [[cell.strip() for cell, _ in row] for row in table]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    study, directory = comparison(), tmp_path_factory.mktemp("compared")
    network = ep.train("klein-gordon:I", HARMLESS, epochs=1, optimizer="lbfgs", engine="autograd")
    write_comparison(study, directory, {each.genome: network for each in discoveries(study)})
    path = write_study_page(study, directory)
    assert path == directory / "report.html"
    return study, directory, opened(path)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    asked = {"problem": "KG", "models": ["evo-dpste-1", "bo-fcnet-1"], "cases": ["I"], "trials": 3}
    study, directory = ReproductionStudy(ReproductionDesign.of(asked)), tmp_path_factory.mktemp("reproduced")
    good = published_model("klein-gordon", "evo-dpste-1")
    write_trainings(
        directory / "trainings/klein-gordon-I",
        study.models.values(),
        lambda text, _: good.error("I").mean if text == good.genome.text else 0.5,
    )
    return study, directory, opened(write_study_page(study, directory))


def test_a_comparison_is_told_in_short(compared):
    study, _, page = compared
    assert study.title.format(problem="klein-gordon") in page.words
    assert "evo-dpste (2 of 2)" in page.words
    assert "0.001 times" in page.words
    assert "maps" in parts_of(page)
    assert re.search(r"\b1 pairs.* 1 differ", page.words)
    assert conditions_note(study.design) in page.words


def test_a_comparison_has_all_tables_as_they_are_everywhere(compared):
    study, directory, page = compared
    on_page = [cells(table) for table in page.tables]
    for sheet in study.tables(directory):
        rows = [[cell.typeset for cell in row] for row in sheet.shown]
        assert [[column.name for column in sheet.columns], *rows] in on_page
    assert len(on_page) == 5
    assert OURS_NOTE in page.words


def test_a_comparison_has_all_figures(compared):
    _, _, page = compared
    progress, courses, *maps = [each["alt"].partition(".")[0] for each in page.of("img")]
    assert re.search(r"\bloss\b.*\bcost\b", progress)
    assert re.search(r"\bmodels\b.*\btrained\b", courses)
    assert maps == ["Case I", "Case II"]


def test_without_a_solution_losses_are_compared_and_no_errors_shown(tmp_path):
    study = comparison(cases=["I"])
    write_comparison(study, tmp_path, field=None)
    page = opened(write_study_page(study, tmp_path))
    assert "evo-dpste (1 of 1)" in page.words
    assert "error" not in study.page(tmp_path)[0][0]
    assert "maps" not in parts_of(page)


def test_it_says_how_to_make_it_again(compared):
    study, directory, page = compared
    assert f"evopinn compare --config {directory}/study.toml --study {directory}" in page.words
    assert scale_note(study.design) in page.words
    assert 'methods = [ "bo-fcnet", "evo-dpste", "evo-dpste+lm", ]' in page.words
    assert tomllib.loads(study.design.toml())["epochs"] == 100


def test_published_models_have_their_verdicts(reproduced):
    study, _, page = reproduced
    assert study.title.format(problem="klein-gordon") in page.words
    assert re.search(r"\b2 rows: 1 within\b[^.]*\b1 worse\b", page.words)
    (table,) = page.tables
    assert [row[-1][0] for row in table] == ["verdict", "within", "worse"]
    badges = [each["class"] for each in page.of("span") if "badge" in each.get("class", "")]
    assert badges == ["badge within", "badge worse"]
    assert "evopinn reproduce table --config" in page.words
    # No network was kept, so there is nothing to draw maps of; all else is there.
    assert re.search(r"\bcase I\b[^.]*\bkept\b", page.words)
    assert len(page.of("img")) == 1


def test_sensitivity_is_ranked(tmp_path):
    study = Sensing()
    study.write(tmp_path)
    page = opened(write_study_page(study, tmp_path))
    assert re.search(r"\bactivation \(3\b[^)]*\bsin\), layers \(1\b[^)]*\b9\)", page.words)
    assert "): activation, layers." in page.words
    titles, cases = zip(*(each["alt"].partition(".")[0].split(": ") for each in page.of("img")), strict=True)
    assert cases == ("case I", "case I, u", "case I")
    for word, title in zip(("matters", "varied", "Morris"), titles, strict=True):
        assert word in title
    assert len(page.tables) == 3
    assert len(study.tables(tmp_path)) == 3


def test_words_of_others_stay_words(tmp_path):
    study = comparison(problem=WORDS, cases=None)
    write_comparison(study, tmp_path, field=WORDS)
    for database in tmp_path.rglob(DATABASE):
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("UPDATE tasks SET genome = ?", (WORDS,))
            connection.execute("UPDATE run SET versions = ?", (json.dumps({WORDS: WORDS}),))
            connection.commit()
    page = opened(write_study_page(study, tmp_path))
    assert page.words.count(WORDS) > 20  # title, cases, fields, genomes, design, versions, reasons
    assert len(page.of("script")) == 1
    assert "62615533" not in page.words
    assert all(each["src"].startswith("data:image/") for each in page.of("img"))
    for sheet in study.tables(tmp_path):
        assert "<script>" not in sheet.markdown().replace(f"` {WORDS} `", "").replace(f"`{WORDS}`", "")


def test_only_reports_are_overwritten(reproduced, tmp_path):
    study, directory, _ = reproduced
    mine = tmp_path / "deep" / "mine.html"
    assert write_study_page(study, directory, mine) == mine
    assert write_study_page(study, directory, mine) == mine
    mine.write_text("something of the user's")
    with pytest.raises(ReportError, match=mine.name):
        write_study_page(study, directory, mine)
    assert mine.read_text() == "something of the user's"
    assert "published models" in opened(write_study_page(study, directory, mine, force=True)).words
    with pytest.raises(ReportError, match=r"\.html"):
        write_study_page(study, directory, tmp_path / "report.pdf")
    with pytest.raises(ReportError, match=r"/folder\.html .*\bdirectory\b.*\bfile\b"):
        write_study_page(study, directory, _folder(tmp_path))


def _folder(place):
    folder = place / "folder.html"
    folder.mkdir()
    return folder


def test_a_search_of_a_study_has_its_own_report_too(compared):
    _, directory, _ = compared
    path = write_report([directory / f"searches/{METHODS[0]}-1"])
    assert "Final evaluations" in opened(path).words
