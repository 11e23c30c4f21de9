"""The table of names: what is listed, what is found, what an unknown name gives."""

import importlib
import re
import subprocess
import sys

import pytest

from evopinn.catalogue import catalogue, names, problem
from evopinn.errors import UnknownNameError
from evopinn.problem import Problem

PAPER = {
    "klein-gordon": ("I", "II", "III"),
    "burgers": ("I", "II", "III"),
    "lame": ("I", "II", "III", "IV", "V"),
}
FIELD = {
    "poisson-l-shape",
    "helmholtz",
    "heat",
    "convection",
    "wave",
    "allen-cahn",
    "burgers-1d",
    "korteweg-de-vries",
    "euler-bernoulli",
    "kovasznay",
    "schroedinger",
}


@pytest.fixture(scope="module")
def rows():
    return {row.name: row for row in catalogue()}


def test_the_papers_problems_have_their_cases(rows):
    assert {name: rows[name].cases for name in PAPER} == PAPER


def test_the_problems_that_the_field_knows_are_there(rows):
    assert set(rows) >= FIELD


def test_rows_say_what_a_listing_shows(rows):
    assert rows["kovasznay"].coordinates == ("x", "y")
    assert rows["kovasznay"].fields == ("u", "v", "p")
    assert rows["heat"].cases == ()
    assert all(row.title for row in rows.values())
    assert len({row.title for row in rows.values()}) == len(rows)


@pytest.mark.parametrize("row", catalogue(), ids=lambda row: row.name)
def test_a_row_says_what_the_problem_says(row):
    default = problem(row.name)
    assert default.name == row.full_names[0]
    assert (row.title, row.coordinates, row.fields) == (default.title, default.axes, tuple(default.fields))
    assert default.equation
    module = importlib.import_module(f"evopinn.catalogue.{row.name.replace('-', '_')}")
    assert row.cases == tuple(getattr(module, "CASES", ()))


def test_names_are_plain_and_unique():
    assert len(set(names())) == len(names())
    assert all(name.isascii() and name == name.strip() and " " not in name for name in names())


def test_without_a_case_the_first_is_meant():
    assert problem("klein-gordon").name == "klein-gordon:I"
    assert problem("heat").name == "heat"
    assert isinstance(problem("lame:IV"), Problem)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("klein-gordan", r"'klein-gordan'.* klein-gordon\b.*`evopinn problems`"),
        ("poisson", r"'poisson'.* poisson-l-shape\b"),
        ("lamé", r"'lamé'.* lame\b"),
        ("burgers:VI", r"\bburgers .*'VI'.*\?.*\bI, II, III\b"),
        ("burgers:", r"\bburgers .*''.*\bI, II, III\b"),
        ("heat:I", r"\bheat .*'I'.*\bno cases\b.* heat\b"),
        ("heat:", r"\bheat .*''.*\bno cases\b"),
        ("", "`evopinn problems`"),
    ],
)
def test_an_unknown_name_suggests_what_was_meant(given, said):
    with pytest.raises(UnknownNameError) as caught:
        problem(given)
    assert re.search(said, str(caught.value))


def test_importing_the_catalogue_builds_nothing():
    code = (
        "import evopinn.problem as p\n"
        "def refuse(*_): raise AssertionError('a problem was built')\n"
        "p.Problem.__post_init__ = refuse\n"
        "import evopinn.catalogue\n"
        "evopinn.catalogue.names()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
