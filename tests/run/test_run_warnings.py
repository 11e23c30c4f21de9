"""Warnings of a search: told once before its first training, recorded, and shown wherever it is shown."""

import json

import pytest

import evopinn as ep
from evopinn.run.goal import Goal

GENOME = "layers=4 neurons=10 activation=sin(x)"


def searched(directory, points):
    problem = ep.Problem(
        domain=ep.Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.xx + u - x,
        conditions=[ep.Boundary(lambda u: u)],
        points=ep.Grid(interior=points, boundary=2, test=21),
        name="few points",
    )
    return ep.search(
        problem,
        method="listed",
        schedule=ep.Roster((GENOME,), 4),
        settings={"evaluations": 1},
        run=directory,
        workers=1,
    )


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run_of_few_points(places):
    return searched(places / "few", 5)


def test_a_run_shows_its_warning_wherever_it_is_shown(run_of_few_points, run, tmp_path):
    directory = str(run_of_few_points.directory)
    (told,) = run_of_few_points.record.goal.warnings
    assert "251 parameters" in told
    assert "7 residuals" in told
    assert run_of_few_points.summary()["warnings"] == [told]
    assert json.loads(run("show", directory, "--json")[1])["warnings"] == [told]
    for out in ("report.md", "report.html"):
        assert "251 parameters" in ep.report(directory, tmp_path / out).read_text(encoding="utf-8")
    assert "251 parameters" in run("show", directory)[1].replace("\n", " ")


def test_it_is_told_before_the_first_training(places, capsys):
    searched(places / "told", 5)
    err = capsys.readouterr().err
    assert err.count("warning: ") == 1
    assert err.index("warning: ") < err.index("few points", err.index("warning: "))
    searched(places / "told", 5)
    assert "warning: " not in capsys.readouterr().err


def test_nothing_is_recorded_where_all_is_well(places):
    well = searched(places / "well", 300)
    assert well.record.data()["warnings"] == []
    assert "warnings" not in (well.directory / "config.toml").read_text()


def test_a_run_from_before_has_no_warnings(tmp_path):
    assert Goal.of("", tmp_path).warnings == ()
