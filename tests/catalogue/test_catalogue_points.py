"""The paper's point sets, count for count, and the weights of its losses."""

import pytest

from evopinn.catalogue import problem

KLEIN_GORDON = ([("residual", 3600), ("initial u", 81), ("initial u.t", 81), ("boundary", 162)], 10_201)
BURGERS = ([("residual", 6000), ("initial", 721), ("boundary", 3720)], 100_776)


def lame(interior, outer, test):
    return [("residual", interior), ("boundary (inner)", 200), ("boundary (outer)", outer)], test


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("klein-gordon:I", KLEIN_GORDON),
        ("klein-gordon:II", KLEIN_GORDON),
        ("klein-gordon:III", KLEIN_GORDON),
        ("burgers:I", BURGERS),
        ("burgers:II", BURGERS),
        ("burgers:III", BURGERS),
        ("lame:I", lame(5740, 400, 23_276)),
        ("lame:II", lame(5740, 400, 23_276)),
        ("lame:III", lame(5740, 400, 23_276)),
        ("lame:IV", lame(4232, 300, 17_268)),
        ("lame:V", lame(6648, 550, 26_944)),
    ],
)
def test_points_are_as_many_as_in_the_paper(name, expected):
    built = problem(name)
    assert ([(term.name, term.count) for term in built.terms()], len(built.test_points)) == expected


@pytest.mark.parametrize(
    ("name", "weights"),
    [("klein-gordon", [1, 100, 100, 100]), ("burgers", [1, 100, 100]), ("lame", [1, 10, 10])],
)
def test_weights_are_the_papers(name, weights):
    assert [term.weight for term in problem(name).terms()] == weights
