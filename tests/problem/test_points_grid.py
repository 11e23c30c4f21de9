"""Grids: the published point sets count for count, parts of the boundary, periodic sides, and mistakes."""

import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from evopinn.errors import DomainError
from evopinn.problem.domains import Box, Disk, Interval, Polygon, Rectangle, Ring, Time
from evopinn.problem.points import Grid

L_SHAPES = {
    "difference": Rectangle((0, 1), (0, 1)) - Rectangle((0, 0.5), (0.5, 1)),
    "polygon": Polygon([(0, 0), (1, 0), (1, 1), (0.5, 1), (0.5, 0.5), (0, 0.5)]),
    "union": Rectangle((0, 1), (0, 0.5)) | Rectangle((0.5, 1), (0.5, 1)),
}


def rows(points):
    """The points as a set, up to rounding."""
    return {tuple(row) for row in np.round(points, 12) + 0.0}


def test_klein_gordon():
    domain = Interval(0, 1) * Time(0, 1)
    points = Grid(interior=(60, 60), initial=81, boundary=162, test=(101, 101))
    interior = points.interior_points(domain)
    assert interior.shape == (3600, 2)
    assert interior.dtype == np.float64
    assert_allclose(np.unique(interior[:, 0].round(12)), (np.arange(60) + 0.5) / 60, atol=1e-12)
    assert_allclose(points.initial_points(domain), np.stack([np.linspace(0, 1, 81), np.zeros(81)], axis=1))
    whole = points.part_points(domain)
    assert whole.points.shape == (162, 2)
    assert whole.normals.shape == (162, 1)
    for part, x, normal in [("left", 0, -1), ("right", 1, 1)]:
        found = points.part_points(domain, part)
        assert_allclose(found.points, np.stack([np.full(81, x), np.linspace(0, 1, 81)], axis=1))
        assert_array_equal(found.normals, np.full((81, 1), normal))
    assert points.test_points(domain).shape == (10201, 2)


@pytest.mark.parametrize("name", L_SHAPES)
def test_burgers(name):
    domain = L_SHAPES[name] * Time(0, 2)
    points = Grid(interior=(20, 20, 20), initial=(31, 31), boundary=(120, 31), test=(51, 51, 51))
    interior = points.interior_points(domain)
    assert len(interior) == 300 * 20
    assert domain.inside(interior).all()
    boundary = points.part_points(domain)
    assert len(boundary.points) == len(rows(boundary.points)) == 120 * 31
    corners = {(0, 0), (1, 0), (1, 1), (0.5, 1), (0.5, 0.5), (0, 0.5)}
    assert corners <= rows(boundary.points[:, :2])
    assert len(points.test_points(domain)) == 1976 * 51 == 100_776


@pytest.mark.parametrize("name", L_SHAPES)
@pytest.mark.parametrize("nodes", [31, 51])
def test_closed_l_shape_has_all_nodes_but_those_of_the_notch(name, nodes):
    # In whole numbers, free of rounding: the notch [0, 1/2) × (1/2, 1] loses its open part only. The 31 × 31
    # nodes leave 961 − 15² = 736, the 51 × 51 ones 2601 − 25² = 1976.
    i, j = (axis.ravel() for axis in np.mgrid[0:nodes, 0:nodes])
    kept = ~((2 * i < nodes - 1) & (2 * j > nodes - 1))
    expected = np.stack([i[kept], j[kept], 0 * i[kept]], axis=1) / (nodes - 1)
    found = Grid(interior=(2, 2, 2), initial=(nodes, nodes)).initial_points(L_SHAPES[name] * Time(0, 2))
    assert_allclose(found, expected, atol=1e-14)
    assert len(found) == {31: 736, 51: 1976}[nodes]


@pytest.mark.parametrize(
    ("a", "b", "interior", "outer", "test"),
    [(1, 2, 5740, 400, 23_276), (1.2, 1.8, 4232, 300, 17_268), (0.8, 2.2, 6648, 550, 26_944)],
)
def test_lame(a, b, interior, outer, test):
    ring = Ring(inner=a, outer=b)
    points = Grid(
        interior=(100, 100), interior_at="nodes", boundary={"inner": 200, "outer": outer}, test=(200, 200)
    )
    assert len(points.interior_points(ring)) == interior
    assert len(points.test_points(ring)) == test
    for part, count, radius, sign in [("inner", 200, a, -1), ("outer", outer, b, 1)]:
        found = points.part_points(ring, part)
        angles = np.sort(np.mod(np.arctan2(found.points[:, 1], found.points[:, 0]), 2 * math.pi))
        assert_allclose(np.diff(angles), 2 * math.pi / count, rtol=1e-9)
        assert len(found.points) == count
        assert_allclose(found.normals, sign * found.points / radius, atol=1e-14)
    assert len(points.part_points(ring).points) == 200 + outer


def test_interior_nodes_leave_out_the_boundary():
    assert len(Grid(interior=11, interior_at="nodes").interior_points(Interval(0, 1))) == 9
    assert len(Grid(interior=(5, 5), interior_at="nodes").interior_points(L_SHAPES["polygon"])) == 5
    # Across the seam of a union, nodes are interior.
    double = Rectangle((0, 1)) | Rectangle((1, 2))
    assert len(Grid(interior=(5, 5), interior_at="nodes").interior_points(double)) == 9


def test_a_corner_belongs_to_both_parts_with_the_normal_of_each():
    points, square = Grid(interior=(2, 2), boundary=40), Rectangle()
    assert len(points.part_points(square).points) == 40
    for part, axis, end, normal in [("left", 0, 0, (-1, 0)), ("top", 1, 1, (0, 1))]:
        found = points.part_points(square, part)
        assert len(found.points) == 11
        assert_array_equal(found.points[:, axis], end)
        assert_array_equal(found.normals, np.tile(normal, (11, 1)))
    both = points.part_points(square, ("left", "top"))
    assert len(both.points) == 21
    assert len(points.part_points(square, ["left", "right", "bottom", "top"]).points) == 40


def test_boundary_loops_share_the_count_by_length():
    plate = Rectangle((0, 4), (0, 4)) - Disk((2, 2), 1).named(circle="hole")
    points = Grid(interior=(4, 4), boundary=100)
    hole = len(points.part_points(plate, "hole").points)
    assert hole == round(100 * 2 * math.pi / (16 + 2 * math.pi))
    assert len(points.part_points(plate).points) == 100
    speck = Rectangle() - Disk((0.5, 0.5), 1e-3).named(circle="hole")
    assert len(points.part_points(speck, "hole").points) == 1


def test_each_part_with_its_own_count():
    domain = (Rectangle() - Disk((1, 1), 0.5).named(circle="hole")) * Time(0, 1)
    points = Grid(interior=(4, 4, 4), boundary={"left": (5, 3), "hole": (7, 2)})
    left = points.part_points(domain, "left")
    assert rows(left.points) == {(0, y, t) for y in (0, 0.25, 0.5, 0.75, 1) for t in (0, 0.5, 1)}
    assert_array_equal(left.normals, np.tile([-1, 0], (15, 1)))
    hole = points.part_points(domain, "hole")
    assert len(hole.points) == 14
    # An arc that is open has points at both of its ends, which here lie on the square's sides.
    assert {(1, 0.5, 0), (0.5, 1, 1)} <= rows(hole.points)
    with pytest.raises(DomainError, match=r"\bcount .*'right'.*'right': "):
        points.part_points(domain, "right")
    with pytest.raises(DomainError, match=r"boundary=.*'hole'.*'right', 'bottom', 'top'"):
        points.part_points(domain)


def test_predicates_get_the_coordinates_in_order():
    domain = Rectangle((0, 2), (0, 1)) * Time(0, 3)
    points = Grid(interior=(2, 2, 2), boundary=(60, 4))
    found = points.part_points(domain, lambda x, y, t: (x == 2) & (t > 0) & (y < 1))
    assert np.all(found.points[:, 0] == 2)
    assert np.all(found.points[:, 2] > 0)
    assert len(found.points) == 10 * 3
    assert_array_equal(found.normals, np.tile([1, 0], (30, 1)))


def test_first_and_last_instant_are_parts():
    domain = Interval(0, 1) * Time(1, 3)
    points = Grid(interior=(4, 4), initial=5, boundary=6)
    for part, t in [("initial", 1), ("final", 3)]:
        found = points.part_points(domain, part)
        assert_allclose(found.points, np.stack([np.linspace(0, 1, 5), np.full(5, t)], axis=1))
        assert_array_equal(found.normals, np.zeros((5, 1)))
    mixed = points.part_points(domain, ("left", "initial"))
    assert mixed.points.shape == (8, 2)
    assert mixed.normals.shape == (8, 1)


def test_an_interval_without_time_has_just_its_ends():
    for points in (
        Grid(interior=4),
        Grid(interior=4, boundary=2),
        Grid(interior=4, boundary={"left": 1, "right": 1}),
    ):
        found = points.part_points(Interval(2, 5))
        assert_array_equal(found.points, [[2], [5]])
        assert_array_equal(found.normals, [[-1], [1]])
        assert_array_equal(points.part_points(Interval(2, 5), "right").points, [[5]])
    with pytest.raises(DomainError, match=r"boundary=10\D.* 2 ends .*left, right"):
        Grid(interior=4, boundary=10).part_points(Interval(2, 5))


def test_faces_of_boxes():
    points = Grid(interior=(3, 3, 3), boundary=(4, 5))
    found = points.part_points(Box(), "right")
    assert found.points.shape == (20, 3)
    assert_array_equal(found.normals, np.tile([1, 0, 0], (20, 1)))
    assert len(np.unique(found.points[:, 1])) == 4
    assert len(np.unique(found.points[:, 2])) == 5
    assert len(points.part_points(Box()).points) == 6 * 20
    notched = Box() - Box((0.5, 2), (0.5, 2), (0.5, 2)).named(left="notch", bottom="notch", back="notch")
    fine = Grid(interior=(3, 3, 3), boundary=(5, 5))
    # Of 5 × 5 nodes, the open quarter with 2 × 2 of them is cut off.
    assert len(fine.part_points(notched, "right").points) == 21
    assert len(fine.part_points(notched, "notch").points) == 75
    timed = Grid(interior=(3, 3, 3, 3), boundary={"back": (2, 3, 4)})
    assert timed.part_points(Box() * Time(0, 1), "back").points.shape == (24, 4)


def test_periodic_sides_correspond():
    low, high = Grid(interior=(4, 4), boundary=20).periodic_points(Interval(-1, 1) * Time(0, 1), "x")
    assert_array_equal(low[:, 0], -1)
    assert_array_equal(high[:, 0], 1)
    assert_array_equal(low[:, 1], high[:, 1])
    assert len(low) == 10
    low, high = Grid(interior=(4, 4, 4), boundary=(40, 3)).periodic_points(Rectangle() * Time(0, 1), "y")
    assert len(low) == 11 * 3
    assert_array_equal(low[:, 1], 0)
    assert_array_equal(high - low, np.tile([0, 1, 0], (33, 1)))
    low, high = Grid(interior=(4, 4, 4), boundary=(4, 5)).periodic_points(Box(), "z")
    assert_array_equal(high - low, np.tile([0, 0, 1], (20, 1)))
    low, high = Grid(interior=4).periodic_points(Interval(0, 3), "x")
    assert (low.tolist(), high.tolist()) == ([[0]], [[3]])


def test_a_channel_with_an_obstacle_is_periodic_too():
    channel = Rectangle((0, 2), (0, 1)).named(left="inlet") - Disk((1, 0.5), 0.2)
    low, high = Grid(interior=(4, 4), boundary=100).periodic_points(channel, "x")
    assert len(low) > 10
    assert_array_equal(high - low, np.tile([2, 0], (len(low), 1)))


@pytest.mark.parametrize(
    ("domain", "axis"),
    [
        (Disk(), "x"),
        (L_SHAPES["difference"], "x"),
        (Rectangle() - Disk((1, 0.5), 0.2), "x"),
        (Polygon([(0, 0), (2, 0), (2, 1.5), (0, 1)]), "x"),
        (Polygon([(0, 0), (2, 1), (2, 2), (0, 1)]), "x"),
    ],
)
def test_what_is_not_periodic_is_refused(domain, axis):
    with pytest.raises(DomainError, match=f"periodic .*{axis}.*{re.escape(repr(domain.space))}"):
        Grid(interior=(4, 4), boundary=40).periodic_points(domain, axis)


def test_default_test_points():
    square = Grid(interior=(4, 4)).test_points(Rectangle())
    assert len(Grid(interior=4).test_points(Interval(0, 1))) == 101
    assert len(square) == 101**2
    assert len(Grid(interior=(4, 4, 4)).test_points(Rectangle() * Time(0, 1))) == 51**3
    assert len(Grid(interior=(4, 4, 4, 4)).test_points(Box() * Time(0, 1))) == 21**4


def test_same_grid_same_points():
    points, disk = Grid(interior=(9, 9), boundary=30), Disk()
    assert_array_equal(points.interior_points(disk), points.interior_points(disk))
    assert_array_equal(points.part_points(disk).points, points.part_points(disk).points)


SQUARE, MOVING = Rectangle(), Rectangle() * Time(0, 1)
ROD = Interval(0, 1) * Time(0, 1)
REFUSED = {
    "one count for three axes": (
        lambda: Grid(interior=1600).interior_points(MOVING),
        r"Grid\(interior=1600\) .*\(x, y, t\).*interior=\(12, 12, 12\)",
    ),
    "two counts for one axis": (lambda: Grid(interior=(4, 4)).interior_points(Interval(0, 1)), "interior=16"),
    "test": (lambda: Grid(interior=(4, 4), test=100).test_points(SQUARE), r"test=\(10, 10\)"),
    "initial": (lambda: Grid(interior=(4, 4, 4), initial=9).initial_points(MOVING), r"initial=\(3, 3\)"),
    "no initial": (
        lambda: Grid(interior=(4, 4, 4)).initial_points(MOVING),
        r"initial=\(31, 31\)",
    ),
    "no initial 1D": (lambda: Grid(interior=(4, 4)).initial_points(ROD), "initial=31"),
    "no time": (
        lambda: Grid(interior=(4, 4), initial=4).initial_points(SQUARE),
        r"Time\(start, end\)",
    ),
    "no boundary": (lambda: Grid(interior=(4, 4)).part_points(SQUARE), "boundary=120"),
    "no boundary in time": (lambda: Grid(interior=(4, 4, 4)).part_points(MOVING), r"boundary=\(120, 31\)"),
    "no instants": (
        lambda: Grid((4, 4, 4), boundary=120).part_points(MOVING),
        r"needs 2 counts .*\(120, 31\)",
    ),
    "no second axis": (
        lambda: Grid((4, 4, 4), boundary=120).part_points(Box()),
        r"needs 2 counts .*\(21, 21\)",
    ),
    "odd": (lambda: Grid((4, 4), boundary=161).part_points(ROD), "161.* 2 ends.*boundary=162"),
    "three ends": (lambda: Grid((4, 4), boundary=(3, 9)).part_points(ROD), r"\(3, 9\).* 3 ends.* 2;"),
    "unknown part": (lambda: Grid((4, 4), boundary=9).part_points(SQUARE, "botom"), "'botom'.*'bottom'"),
    "unknown in tuple": (lambda: Grid((4, 4), boundary=9).part_points(SQUARE, ("left", "hole")), "'hole'"),
    "unknown in table": (
        lambda: Grid((4, 4), boundary={"up": 9}).part_points(SQUARE, "top"),
        "'up'.*left, right, bottom, top",
    ),
    "initial without time": (lambda: Grid((4, 4), boundary=9).part_points(SQUARE, "initial"), "no part"),
    "no names": (
        lambda: Grid((4, 4), boundary=9).part_points(SQUARE, ()),
        r"\bon=\(\).*\bpart\b.*\bleft, right, bottom, top\b",
    ),
    "nothing picked": (
        lambda: Grid((4, 4), boundary=40).part_points(SQUARE, lambda x, y: x > 2),
        "predicate <lambda>.* 40 ",
    ),
    "no point on the part": (
        lambda: Grid((4, 4), boundary=1).part_points(SQUARE, "right"),
        "on='right'.* 1 ",
    ),
    "no mask": (lambda: Grid((4, 4), boundary=40).part_points(SQUARE, lambda x, y: x), "returned float64"),
    "short mask": (lambda: Grid((4, 4), boundary=40).part_points(SQUARE, lambda x, y: True), r"shape \(\)"),
    "too coarse": (lambda: Grid((1, 1)).interior_points(Ring()), "the interior.* 1 "),
    "no count": (lambda: Grid(interior=None), "whole numbers"),
    "zero": (lambda: Grid(interior=0), "at least 1"),
    "fraction": (lambda: Grid(interior=(4, 2.5)), "whole numbers"),
    "truth value": (lambda: Grid(interior=True), "whole numbers"),
    "empty": (lambda: Grid(interior=()), "is empty"),
    "zero in table": (lambda: Grid(4, boundary={"left": 0}), r"'left' .*\bat least 1\b.*\b0\b"),
    "place": (lambda: Grid(4, interior_at="corners"), '"midpoints" or "nodes"'),
    "periodic in time": (lambda: Grid((4, 4), boundary=4).periodic_points(ROD, "t"), "no axis 't'"),
    "periodic elsewhere": (lambda: Grid((4, 4), boundary=4).periodic_points(ROD, "y"), "no axis 'y'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_with_the_reason(case):
    mistake, message = REFUSED[case]
    with pytest.raises(DomainError, match=message):
        mistake()
