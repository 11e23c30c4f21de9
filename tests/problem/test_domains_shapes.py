"""Each shape by itself: level, boundary, normals, parts, and what is refused."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from evopinn.errors import DomainError
from evopinn.problem.domains import Box, Disk, Interval, Polygon, Rectangle, Ring, SpaceTime, Time

SHAPES = {
    "interval": (Interval(-1, 2), ("left", "right"), 2.0),
    "rectangle": (Rectangle((-1, 2), (0, 4)), ("left", "right", "bottom", "top"), 14.0),
    "box": (Box((0, 1), (0, 2), (-1, 2)), ("left", "right", "bottom", "top", "back", "front"), 22.0),
    "disk": (Disk((1, 2), 0.5), ("circle",), math.pi),
    "ring": (Ring((0, 1), 1, 3), ("inner", "outer"), 8 * math.pi),
    "triangle": (Polygon([(0, 0), (3, 0), (0, 4)]), ("edge-0", "edge-1", "edge-2"), 12.0),
    "clockwise": (Polygon([(0, 0), (0, 4), (3, 0)]), ("edge-0", "edge-1", "edge-2"), 12.0),
    "concave": (
        Polygon([(0, 0), (2, 0), (2, 2), (1, 0.5), (0, 2)]),
        tuple(f"edge-{i}" for i in range(5)),
        None,
    ),
}


def boundary_samples(shape, number=7):
    """Points and normals inside each piece of the boundary, never at its ends."""
    rng = np.random.default_rng(0)
    for piece in shape.boundary:
        points = piece.at(0.05 + 0.9 * rng.random((number, piece.parameters)))
        yield piece, points, piece.normals(points)


@pytest.mark.parametrize("name", SHAPES)
def test_normals_are_unit_and_point_outward(name):
    shape = SHAPES[name][0]
    for _, points, normals in boundary_samples(shape):
        assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=1e-14)
        assert_allclose(shape.level(points), 0, atol=1e-14)
        assert np.all(shape.level(points + 1e-6 * normals) > 0)
        assert np.all(shape.level(points - 1e-6 * normals) < 0)
        assert not shape.inside(points).any()
        assert shape.closure(points).all()
        assert shape.on_boundary(points).all()


@pytest.mark.parametrize("name", SHAPES)
def test_parts_and_measure(name):
    shape, parts, measure = SHAPES[name]
    assert shape.parts == parts
    assert shape.coordinates == ("x", "y", "z")[: shape.dimension]
    assert shape.bounds.shape == (shape.dimension, 2)
    if measure is not None:
        assert sum(piece.measure for piece in shape.boundary) == pytest.approx(measure, rel=1e-14)


@pytest.mark.parametrize("name", SHAPES)
def test_bounds_are_those_of_the_boundary(name):
    shape = SHAPES[name][0]
    boxes = np.array([piece.bounds for piece in shape.boundary])
    assert_array_equal(shape.bounds[:, 0], boxes[:, :, 0].min(axis=0))
    assert_array_equal(shape.bounds[:, 1], boxes[:, :, 1].max(axis=0))


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_can_be_compared_hashed_and_pickled(name):
    shape = SHAPES[name][0]
    twin = pickle.loads(pickle.dumps(shape))
    assert twin == shape
    assert hash(twin) == hash(shape)


def test_a_piece_turned_round_has_the_opposite_normal():
    for name in SHAPES:
        for piece, points, normals in boundary_samples(SHAPES[name][0]):
            assert_allclose(piece.reversed().normals(points), -normals)
            assert piece.reversed().measure == piece.measure


def test_rectangle_side_names():
    sides = {piece.part: piece.normals(np.zeros((1, 2)))[0].tolist() for piece in Rectangle().boundary}
    assert sides == {"left": [-1, 0], "right": [1, 0], "bottom": [0, -1], "top": [0, 1]}


def test_box_side_names():
    sides = {piece.part: piece.normals(np.zeros((1, 3)))[0].tolist() for piece in Box().boundary}
    assert sides == {
        "left": [-1, 0, 0],
        "right": [1, 0, 0],
        "bottom": [0, -1, 0],
        "top": [0, 1, 0],
        "back": [0, 0, -1],
        "front": [0, 0, 1],
    }


def test_polygon_level_is_the_signed_distance():
    triangle = Polygon([(0, 0), (3, 0), (0, 4)])
    # The incircle of a 3-4-5 triangle has radius 1 and center (1, 1).
    assert_allclose(triangle.level([[1, 1], [-1, 2], [3, -2], [1.5, 2]]), [-1, 1, 2, 0], atol=1e-14)


def test_polygon_edges_keep_their_names_when_clockwise():
    names = ["a", "b", "c", "d"]
    square = Polygon([(0, 0), (0, 1), (1, 1), (1, 0)], names=names)
    normals = {piece.part: piece.normals(np.zeros((1, 2)))[0].tolist() for piece in square.boundary}
    assert normals == {"a": [-1, 0], "b": [0, 1], "c": [1, 0], "d": [0, -1]}


def test_polygon_may_repeat_its_first_vertex_and_take_an_array():
    closed = Polygon([(0, 0), (1, 0), (0, 1), (0, 0)])
    assert closed == Polygon(np.array([(0, 0), (1, 0), (0, 1)]))
    assert len(closed.boundary) == 3


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e6])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_grid_nodes_on_the_boundary_are_recognised_at_any_size(offset, size):
    square = Rectangle((offset, offset + size), (offset, offset + size))
    # Nodes computed in another way, hence with other rounding.
    ticks = offset + np.arange(31) * (size / 30)
    x, y = (axis.ravel() for axis in np.meshgrid(ticks, ticks))
    assert square.closure(np.stack([x, y], axis=1)).sum() == 31**2
    assert square.inside(np.stack([x, y], axis=1)).sum() == 29**2


def test_renaming():
    disk = Disk().named(circle="wall")
    assert disk.parts == ("wall",)
    assert disk.inside([[0, 0], [2, 0]]).tolist() == [True, False]
    renamed = Polygon([(0, 0), (1, 0), (0, 1)]).named({"edge-0": "floor", "edge-2": "floor"})
    assert renamed.parts == ("floor", "edge-1")


def test_space_and_time():
    domain = Disk() * Time(1, 3)
    assert isinstance(domain, SpaceTime)
    assert domain.dimension == 3
    assert domain.coordinates == ("x", "y", "t")
    assert domain.parts == ("circle", "initial", "final")
    assert domain.space == Disk()
    assert domain.time == Time(1, 3)
    assert_array_equal(domain.bounds, [[-1, 1], [-1, 1], [1, 3]])
    points = [[0, 0, 2], [0, 0, 1], [0, 0, 3.5], [1, 0, 2], [0.6, 0.8, 3], [2, 0, 2]]
    assert domain.inside(points).tolist() == [True, False, False, False, False, False]
    assert domain.closure(points).tolist() == [True, True, False, True, True, False]
    assert_allclose(domain.level(points), [-1, 0, 0.5, 0, 0, 1], atol=1e-15)


@settings(deadline=None, max_examples=50)
@given(st.floats(-3, 3), st.floats(-3, 3))
def test_ring_level_is_that_of_a_disk_without_a_disk(x, y):
    ring, combined = Ring(inner=1, outer=2), Disk(radius=2) - Disk(radius=1)
    assert_allclose(ring.level([[x, y]]), combined.level([[x, y]]))


REFUSED = {
    "reversed interval": (lambda: Interval(1, 0), r"\bgoes from 1 to [01]\b.*\blower end\b.*\bfirst\b"),
    "empty interval": (lambda: Interval(1, 1), r"\bgoes from 1 to [01]\b.*\blower end\b.*\bfirst\b"),
    "text": (lambda: Interval("a", 1), r"\blower end .*\bInterval .*\bnumber\b.*('a'|False|array\()"),
    "truth value": (
        lambda: Interval(False, 1),
        r"\blower end .*\bInterval .*\bnumber\b.*('a'|False|array\()",
    ),
    "array": (
        lambda: Interval(np.zeros(1), 1),
        r"\blower end .*\bInterval .*\bnumber\b.*('a'|False|array\()",
    ),
    "not finite": (lambda: Interval(0, math.inf), r"\bupper end .*\bInterval .*\bfinite\b.*\b(inf|nan)\b"),
    "not a number": (lambda: Interval(0, math.nan), r"\bupper end .*\bInterval .*\bfinite\b.*\b(inf|nan)\b"),
    "reversed side": (lambda: Rectangle((1, 0), (0, 1)), r"\bRectangle\(x=\.\.\.\).*\b1 to 0\b.*\bfirst\b"),
    "no pair": (lambda: Rectangle(1, 2), "pair"),
    "reversed depth": (lambda: Box(z=(1, 0)), r"Box\(z=...\)"),
    "radius": (lambda: Disk(radius=0), "positive"),
    "center": (lambda: Disk(center=(1, 2, 3)), "pair"),
    "thick ring": (lambda: Ring(inner=2, outer=1), r"\binner radius 2 .*\bouter radius 1\b.*\bsmaller\b"),
    "bow tie": (
        lambda: Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]),
        r"\bpolygon .*\bitself\b.*\b0\.5 0\.5\b.*\border\b",
    ),
    "flat": (lambda: Polygon([(0, 0), (1, 1), (2, 2)]), r"\bpolygon .*\bitself\b.*\b1 1\b.*\border\b"),
    "two vertices": (lambda: Polygon([(0, 0), (1, 1)]), "at least 3"),
    "repeated vertex": (lambda: Polygon([(0, 0), (1, 0), (1, 0), (0, 1)]), "vertex 2 .* repeats"),
    "no vertices": (lambda: Polygon("abc"), r"\bPolygon .*\bvertices\b.*'abc'"),
    "edge names": (lambda: Polygon([(0, 0), (1, 0), (0, 1)], names=["a"]), "3 edges"),
    "reserved name": (lambda: Disk().named(circle="initial"), r"'initial' .*\btime\b.*\banother name\b"),
    "empty name": (lambda: Disk().named(circle=""), "non-empty"),
    "reversed time": (lambda: Time(1, 0), r"\bgoes from 1 to [01]\b.*\blower end\b.*\bfirst\b"),
    "not time": (lambda: Disk() * 2, r"\bTime\(start, end\).*\b2\b"),
    "time twice": (
        lambda: Disk() * Time(0, 1) * Time(0, 1),
        r"\bDisk\(.*\btime\b.*\bTime\(start=0\.0, end=1\.0\); ",
    ),
    "time before union": (
        lambda: (Disk() * Time(0, 1)) | Disk(),
        r"\bDisk\(.*\btime\b.*\bDisk\(.*\bshapes first\b",
    ),
    "union with time": (lambda: Disk() | (Disk() * Time(0, 1)), r"\bunion of Disk\(.*\bTime last\b"),
    "flat points": (lambda: Interval(0, 1).level([0.1, 0.2]), r"shape \(2,\); expected \(n, 1\)"),
    "points of another dimension": (lambda: Disk().inside([[1.0]]), r"expected \(n, 2\).*x, y"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_with_the_reason(case):
    mistake, message = REFUSED[case]
    with pytest.raises(DomainError, match=message):
        mistake()


def test_unknown_part_lists_and_suggests():
    with pytest.raises(DomainError) as caught:
        Rectangle().named(rigth="wall")
    assert "left, right, bottom, top" in str(caught.value)
    assert str(caught.value).count("'right'") == 1
