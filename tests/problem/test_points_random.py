"""Uniform, Sobol and Latin hypercube points: exactly as many as asked for, in place, reproducible."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import qmc

from evopinn.errors import DomainError
from evopinn.problem.domains import Box, Disk, Interval, Polygon, Rectangle, Ring, Time
from evopinn.problem.points import Grid, LatinHypercube, Sobol, Uniform
from evopinn.problem.points.counts import shares

KINDS = (Uniform, Sobol, LatinHypercube)
PLATE = Rectangle((0, 2), (0, 1)) - Disk((1, 0.5), 0.3).named(circle="hole")
DOMAINS = {
    "interval": Interval(-1, 2),
    "rod": Interval(0, 1) * Time(1, 2),
    "plate": PLATE,
    "moving plate": PLATE * Time(0, 3),
    "thin ring": Ring(inner=0.99, outer=1),
    "triangle": Polygon([(0, 0), (1, 0), (0, 1)]),
    "notched box": Box() - Box((0.5, 2), (0.5, 2), (0.5, 2)),
    "moving box": Box() * Time(0, 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("count", [1, 37])
def test_interior_points(kind, name, count):
    domain = DOMAINS[name]
    points = kind(interior=count, seed=3).interior_points(domain)
    assert points.shape == (count, domain.dimension)
    assert points.dtype == np.float64
    assert domain.inside(points).all()
    assert_array_equal(points, kind(interior=count, seed=3).interior_points(domain))
    assert not np.array_equal(points, kind(interior=count, seed=4).interior_points(domain))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in DOMAINS if DOMAINS[name].dimension > 1])
def test_boundary_points(kind, name):
    domain = DOMAINS[name]
    shape = domain.space
    spec = kind(interior=1, boundary=101, seed=5)
    found = spec.part_points(domain)
    places = found.points[:, : shape.dimension]
    assert found.points.shape == (101, domain.dimension)
    assert shape.on_boundary(places).all()
    assert not shape.closure(places + 1e-7 * found.normals).any()
    assert shape.inside(places - 1e-7 * found.normals).all()
    if domain.time is not None:
        assert np.all((found.points[:, -1] >= domain.time.start) & (found.points[:, -1] <= domain.time.end))
    assert_array_equal(found.points, spec.part_points(domain).points)
    assert sum(len(spec.part_points(domain, part).points) for part in shape.parts) == 101


@pytest.mark.parametrize("kind", KINDS)
def test_parts_get_points_in_proportion_to_their_length(kind):
    spec = kind(interior=1, boundary=600)
    total = 6 + 0.6 * math.pi
    for part, length in {"left": 1, "right": 1, "bottom": 2, "top": 2, "hole": 0.6 * math.pi}.items():
        assert abs(len(spec.part_points(PLATE, part).points) - 600 * length / total) <= 1


def test_pieces_of_one_part_get_points_in_proportion_to_their_area():
    walls = Box((0, 1), (0, 1), (0, 3)).named(left="wall", right="wall", back="wall")
    found = Sobol(interior=1, boundary={"wall": 700}).part_points(walls, "wall")
    faces, counts = np.unique(found.normals, axis=0, return_counts=True)
    assert_array_equal(faces, [[-1, 0, 0], [0, 0, -1], [1, 0, 0]])
    assert_allclose(counts, [300, 100, 300], atol=3)


def test_a_count_for_each_part():
    spec = Uniform(interior=1, boundary={"left": 5, "hole": 11})
    assert len(spec.part_points(PLATE, "left").points) == 5
    assert len(spec.part_points(PLATE, ("left", "hole")).points) == 16
    with pytest.raises(DomainError, match=r"boundary=.*'top'"):
        spec.part_points(PLATE, "top")


@pytest.mark.parametrize("kind", KINDS)
def test_initial_points(kind):
    domain = PLATE * Time(2, 3)
    points = kind(interior=1, initial=50).initial_points(domain)
    assert points.shape == (50, 3)
    assert_array_equal(points[:, 2], 2)
    assert PLATE.closure(points[:, :2]).all()
    assert_array_equal(kind(interior=1, initial=50).part_points(domain, "final").points[:, 2], 3)


@pytest.mark.parametrize("kind", KINDS)
def test_one_count_does_not_move_the_points_of_another(kind):
    domain = PLATE * Time(0, 1)
    few, many = kind(interior=8, boundary=20, initial=5), kind(interior=64, boundary=20, initial=9)
    assert_array_equal(few.part_points(domain).points, many.part_points(domain).points)


@pytest.mark.parametrize("kind", KINDS)
def test_periodic_points(kind):
    low, high = kind(interior=1, boundary=40).periodic_points(Rectangle() * Time(0, 1), "x")
    assert low.shape == high.shape == (10, 3)
    assert_array_equal(high - low, np.tile([1, 0, 0], (10, 1)))


@pytest.mark.parametrize("kind", KINDS)
def test_test_points_are_those_of_a_grid(kind):
    assert_array_equal(
        kind(interior=1, test=(9, 7)).test_points(Disk()),
        Grid(interior=(1, 1), test=(9, 7)).test_points(Disk()),
    )
    assert kind(interior=1).test_points(Interval(0, 1)).shape == (101, 1)


def test_latin_hypercube_has_one_point_in_each_slice():
    points = LatinHypercube(interior=40, seed=1).interior_points(Rectangle((0, 40), (0, 40)))
    for axis in points.T:
        assert_array_equal(np.sort(np.floor(axis)), np.arange(40))


def test_sobol_points_are_balanced():
    points = Sobol(interior=64, seed=1).interior_points(Rectangle())
    boxes, counts = np.unique(np.floor(points * 8), axis=0, return_counts=True)
    assert len(boxes) == 64
    assert counts.max() == 1


def test_sobol_is_more_even_than_uniform():
    square = Rectangle()
    even, plain = (qmc.discrepancy(kind(interior=200).interior_points(square)) for kind in (Sobol, Uniform))
    assert even < plain / 5


def test_more_sobol_points_go_on_from_fewer():
    few, many = (Sobol(interior=count, seed=2).interior_points(Disk()) for count in (100, 120))
    assert_array_equal(many[:100], few)


def test_uniform_points_are_uniform():
    radii = np.linalg.norm(Uniform(interior=20_000).interior_points(Disk()), axis=1)
    # The squared radius of a uniform point of the disk is uniform; 0.012 is about twice what chance would do.
    ordered = np.sort(radii**2)
    assert np.max(np.abs(ordered - (np.arange(20_000) + 0.5) / 20_000)) < 0.012


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 500), st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8))
def test_shares(count, weights):
    given_out = shares(count, np.array(weights))
    assert sum(given_out) == count
    assert min(given_out) >= (1 if count >= len(weights) else 0)
    exact = count * np.array(weights) / sum(weights)
    # Nobody gets more than a point above the exact share, unless it is the one point everyone is due.
    assert all(share <= max(fair + 1, 1) for share, fair in zip(given_out, exact, strict=True))


REFUSED = {
    "axes": (lambda: Uniform(interior=(60, 60)).interior_points(PLATE), r"total number.*interior=3600"),
    "initial axes": (lambda: Sobol(1, initial=(3, 3)).initial_points(PLATE * Time(0, 1)), "initial=9"),
    "boundary axes": (lambda: Sobol(1, boundary=(3, 3)).part_points(PLATE), "boundary=9"),
    "no boundary": (lambda: Uniform(1).part_points(PLATE), "boundary=200"),
    "no initial": (lambda: Uniform(1).initial_points(PLATE * Time(0, 1)), "initial=100"),
    "no point": (lambda: Uniform(1, boundary=1).part_points(PLATE, "left"), "on='left'.* 0 "),
    "ends": (lambda: Uniform(1, boundary=9).part_points(Interval(0, 1)), r"boundary=9.* 2 ends.*left, right"),
    "seed": (lambda: Uniform(1, seed=-1), "at least 0"),
    "seed text": (lambda: Sobol(1, seed="a"), "whole numbers"),
    "zero": (lambda: LatinHypercube(0), "at least 1"),
    "hardly anything": (
        lambda: Uniform(1).interior_points(Ring(inner=1 - 1e-9, outer=1)),
        r"Uniform found only \d+ of 1 ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_with_the_reason(case):
    mistake, message = REFUSED[case]
    with pytest.raises(DomainError, match=message):
        mistake()
