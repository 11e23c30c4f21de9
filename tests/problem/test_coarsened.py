"""Problems with fewer points: what becomes of each count, what stays, what is refused."""

import math
import re

import numpy as np
import pytest
import torch

from evopinn.errors import ProblemError
from evopinn.problem import (
    Boundary,
    Box,
    Data,
    Disk,
    Grid,
    Initial,
    Interval,
    LatinHypercube,
    Periodic,
    Problem,
    Rectangle,
    Ring,
    Sobol,
    Time,
    Uniform,
)

LINE, SQUARE, CUBE = Interval(0, 1), Rectangle((0, 1), (0, 1)), Box((0, 1), (0, 1), (0, 1))
TWO_LINES = Interval(0, 1) | Interval(2, 3)
SOON = Time(0, 1)


def stated(domain, points, conditions=None, **others):
    """A problem with a condition on the whole boundary and, in time, one at the first instant."""
    if conditions is None:
        conditions = [Boundary(lambda u: u)]
        conditions += [Initial(lambda u: u)] if domain.time is not None else []
    return Problem(
        domain=domain, fields=["u"], residual=lambda u, x: u.x, conditions=conditions, points=points, **others
    )


def counts(problem):
    return [term.count for term in problem.terms()]


@pytest.mark.parametrize(
    ("domain", "points", "fewer"),
    [
        (LINE, Grid(interior=100), Grid(interior=25)),
        (LINE, Grid(interior=100, boundary=2), Grid(interior=25, boundary=2)),
        (
            LINE,
            Grid(interior=100, boundary={"left": 1, "right": 1}),
            Grid(interior=25, boundary={"left": 1, "right": 1}),
        ),
        (
            LINE * SOON,
            Grid(interior=(60, 30), initial=81, boundary=162),
            Grid(interior=(15, 8), initial=20, boundary=40),
        ),
        (
            LINE * SOON,
            Grid(interior=(60, 30), initial=81, boundary=(2, 81)),
            Grid(interior=(15, 8), initial=20, boundary=(2, 20)),
        ),
        (
            LINE * SOON,
            Grid(interior=(60, 30), initial=81, boundary={"left": 81, "right": (1, 41)}),
            Grid(interior=(15, 8), initial=20, boundary={"left": 20, "right": (1, 10)}),
        ),
        (
            TWO_LINES * SOON,
            Grid(interior=(60, 30), initial=81, boundary=164),
            Grid(interior=(15, 8), initial=20, boundary=40),
        ),
        (
            TWO_LINES * SOON,
            Grid(interior=(60, 30), initial=81, boundary={"left": 82, "right": 82}),
            Grid(interior=(15, 8), initial=20, boundary={"left": 20, "right": 20}),
        ),
        (SQUARE, Grid(interior=(40, 20), boundary=200), Grid(interior=(10, 5), boundary=50)),
        (
            SQUARE,
            Grid(interior=(40, 20), boundary={"left": 21, "right": 22, "bottom": 3, "top": 1}),
            Grid(interior=(10, 5), boundary={"left": 5, "right": 6, "bottom": 2, "top": 1}),
        ),
        (
            SQUARE * SOON,
            Grid(interior=(40, 20, 12), initial=(31, 11), boundary=(120, 31)),
            Grid(interior=(10, 5, 3), initial=(8, 3), boundary=(30, 8)),
        ),
        (CUBE, Grid(interior=(40, 20, 12), boundary=(21, 11)), Grid(interior=(10, 5, 3), boundary=(5, 3))),
        (
            CUBE * SOON,
            Grid(interior=(8, 8, 8, 8), initial=(9, 9, 9), boundary=(9, 9, 5)),
            Grid(interior=(2, 2, 2, 2), initial=(2, 2, 2), boundary=(2, 2, 2)),
        ),
        (
            SQUARE,
            Grid(interior=(40, 8), boundary=40, interior_at="nodes"),
            Grid(interior=(10, 3), boundary=10, interior_at="nodes"),
        ),
        (LINE, Uniform(interior=100, boundary=2), Uniform(interior=25, boundary=2)),
        (
            LINE * SOON,
            LatinHypercube(interior=5000, initial=200, boundary=200, seed=3),
            LatinHypercube(interior=312, initial=50, boundary=50, seed=3),
        ),
        (
            SQUARE * SOON,
            Sobol(interior=4096, initial=512, boundary={"left": 64, "right": 64, "bottom": 320, "top": 64}),
            Sobol(interior=64, initial=32, boundary={"left": 4, "right": 4, "bottom": 20, "top": 4}),
        ),
        (CUBE, Sobol(interior=6400, boundary=640), Sobol(interior=100, boundary=40)),
    ],
)
def test_each_axis_has_four_times_fewer_points(domain, points, fewer):
    """Written out by hand: n/4 rounded per axis, totals over 4 to the power of their axes."""
    coarse = stated(domain, points).coarsened(4)
    assert coarse.points == fewer
    assert counts(coarse) == counts(stated(domain, fewer))


@pytest.mark.parametrize(
    ("domain", "points"),
    [
        (LINE * SOON, Grid(interior=(60, 60), initial=81, boundary=162)),
        (SQUARE, Grid(interior=(40, 40), boundary=200)),
        (Disk(), Grid(interior=(40, 40), boundary=200)),
        (Ring(inner=0.2, outer=1), Grid(interior=(40, 40), boundary=200)),
        (SQUARE - Disk((0.5, 0.5), 0.1).named(circle="hole"), Grid(interior=(40, 40), boundary=200)),
        (SQUARE, Grid(interior=(40, 40), boundary=200, interior_at="nodes")),
        (CUBE * SOON, Grid(interior=(8, 8, 8, 8), initial=(9, 9, 9), boundary=(9, 9, 5))),
        (CUBE * SOON, Sobol(interior=4096, initial=512, boundary=1536)),
        (SQUARE, Uniform(interior=1000, boundary=100)),
    ],
)
@pytest.mark.parametrize("factor", [40, 1e6, 1e300])
def test_however_large_the_factor_some_points_stay(domain, points, factor):
    conditions = [Boundary(lambda u: u, on=part) for part in domain.space.parts]
    conditions += [Initial(lambda u: u)] if domain.time is not None else []
    problem = stated(domain, points, conditions)
    coarse = problem.coarsened(factor)
    for before, after in zip(counts(problem), counts(coarse), strict=True):
        assert 0 < after < before


@pytest.mark.parametrize(
    ("domain", "points"),
    [
        (LINE * SOON, Grid(interior=(1, 2), initial=1, boundary=2)),
        (SQUARE, Grid(interior=(2, 1), boundary=3)),
        (SQUARE, Grid(interior=(3, 3), boundary=3, interior_at="nodes")),
        (CUBE, Sobol(interior=3, boundary=6)),
    ],
)
def test_few_points_do_not_become_more(domain, points):
    assert stated(domain, points).coarsened(10).points == points


def test_a_factor_need_not_be_whole():
    points = Grid(interior=(60, 60), initial=81, boundary=162)
    coarse = stated(LINE * SOON, points).coarsened(math.sqrt(2))
    assert coarse.points == Grid(interior=(42, 42), initial=57, boundary=114)


def test_a_factor_of_one_changes_nothing():
    problem = stated(SQUARE, Grid(interior=(10, 10), boundary=40))
    assert problem.coarsened(1) is problem
    assert problem.coarsened(np.float64(1)) is problem


def test_what_is_not_about_training_points_stays():
    problem = stated(
        SQUARE,
        Grid(interior=(10, 10), boundary=40, test=(7, 9)),
        [
            Boundary(lambda u: u, weight=7, name="wall"),
            Periodic("x", weight=3),
            Data([[0.5, 0.5], [0.2, 0.1], [0.1, 0.9]], {"u": [1.0, 2.0, 3.0]}, weight=5),
        ],
        coordinates=["x", "s"],
        solution=lambda x, s: torch.exp(x) * s,
        name="stays",
        title="What stays",
        equation="u_x = 0",
    )
    coarse = problem.coarsened(3)
    for name in ("domain", "fields", "coordinates", "residual", "solution", "name", "title", "equation"):
        assert getattr(coarse, name) is getattr(problem, name)
    described = [
        [(term.name, term.weight, term.derivatives, term.components) for term in each.terms()]
        for each in (problem, coarse)
    ]
    assert described[0] == described[1]
    assert torch.equal(coarse.terms()[-1].sides[0].points, problem.terms()[-1].sides[0].points)
    assert np.array_equal(coarse.test_points, problem.test_points)
    assert coarse.test_points.shape == (63, 2)
    assert np.array_equal(coarse.test_values, problem.test_values)


def test_counts_that_no_condition_asks_for_do_no_harm():
    """They were never checked, so nothing is known of them."""
    for domain, points in [
        (LINE * SOON, Grid(interior=(8, 8), boundary=81, initial=(9, 9))),
        (LINE * SOON, Grid(interior=(8, 8), boundary={"lft": 81})),
        (SQUARE * SOON, Sobol(interior=512, boundary=(20, 20), initial=(9, 9))),
    ]:
        assert counts(stated(domain, points, []).coarsened(2)) == [16 if isinstance(points, Grid) else 64]


@pytest.mark.parametrize("factor", [0.5, 0, -2, math.nan, math.inf, "2", None, 2j])
def test_a_factor_that_makes_no_sense_is_refused(factor):
    problem = stated(SQUARE, Grid(interior=(10, 10), boundary=40))
    with pytest.raises(ProblemError, match=re.escape(f"coarsened({factor!r})")):
        problem.coarsened(factor)


def test_a_condition_that_loses_all_its_points_is_named():
    problem = stated(
        SQUARE,
        Grid(interior=(10, 10), boundary=80),
        [Boundary(lambda u: u, on=lambda x, y: abs(x - 0.4) < 1e-9)],
    )
    with pytest.raises(ProblemError, match=r"coarsened\(7\): Grid .*predicate <lambda>"):
        problem.coarsened(7)


def test_a_source_that_is_not_finite_on_a_coarser_grid_is_named():
    problem = Problem(
        domain=Interval(-1, 1),
        fields=["u"],
        residual=lambda u, x: u.x - 1 / x,
        conditions=[],
        points=Grid(interior=20),
    )
    with pytest.raises(ProblemError, match=r"coarsened\(4\): .*residual.* 1 of 5 .*x = 0\b"):
        problem.coarsened(4)
