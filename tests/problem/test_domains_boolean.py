"""Unions, differences and intersections: trimmed boundaries against closed forms and shapely."""

import functools
import math
import operator

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from evopinn.errors import DomainError
from evopinn.problem.domains import Arc, Box, Disk, Interval, Polygon, Rectangle, Ring, Segment, chains

OPERATIONS = {"union": operator.or_, "difference": operator.sub, "intersection": operator.and_}


def perimeter(shape):
    return sum(piece.measure for piece in shape.boundary)


def lengths(shape):
    """Total length of each part."""
    table = dict.fromkeys(shape.parts, 0.0)
    for piece in shape.boundary:
        table[piece.part] += piece.measure
    return table


def content(shape):
    """Area or volume by the divergence theorem, (1/d) ∮ p·n, which any wrong normal or gap would spoil."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for piece in shape.boundary:
        mesh = np.meshgrid(*[(nodes + 1) / 2] * piece.parameters, indexing="ij")
        factors = np.meshgrid(*[weights / 2] * piece.parameters, indexing="ij")
        points = piece.at(np.stack([axis.ravel() for axis in mesh], axis=1))
        flux = np.sum(points * piece.normals(points), axis=1)
        total += piece.measure * flux @ functools.reduce(operator.mul, factors).ravel()
    return total / shape.dimension


def assert_sound(shape):
    """Normals are unit and outward everywhere, and in the plane all loops are closed."""
    rng = np.random.default_rng(1)
    step = 1e-7 * shape.extent
    for piece in shape.boundary:
        if piece.measure < 1e-3 * shape.extent and piece.parameters:
            continue
        points = piece.at(0.1 + 0.8 * rng.random((4, piece.parameters)))
        normals = piece.normals(points)
        assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=1e-12)
        assert not shape.closure(points + step * normals).any()
        assert shape.inside(points - step * normals).all()
        assert shape.closure(points).all()
        assert not shape.inside(points).any()
    assert all(chain.closed for chain in chains(shape.boundary, shape.joint))


def test_square_without_disk_at_its_corner():
    shape = Rectangle() - Disk((1, 1), 0.3).named(circle="hole")
    assert shape.parts == ("left", "right", "bottom", "top", "hole")
    expected = {"left": 1, "right": 0.7, "bottom": 1, "top": 0.7, "hole": 0.15 * math.pi}
    assert lengths(shape) == pytest.approx(expected, abs=1e-12)
    assert content(shape) == pytest.approx(1 - 0.0225 * math.pi, abs=1e-12)
    assert_sound(shape)


def test_square_with_a_hole_keeps_the_circle_whole():
    shape = Rectangle() - Disk((0.5, 0.5), 0.2)
    (hole,) = (piece for piece in shape.boundary if isinstance(piece, Arc))
    assert abs(hole.sweep) == 2 * math.pi
    assert_allclose(hole.normals(np.array([[0.7, 0.5]])), [[-1, 0]])
    assert content(shape) == pytest.approx(1 - 0.04 * math.pi, abs=1e-13)
    assert_sound(shape)


@pytest.mark.parametrize("distance", [0.1, 1.0, 1.7])
def test_lens_and_union_of_two_disks(distance):
    first, second = Disk(), Disk((distance, 0), 1)
    half = math.acos(distance / 2)
    lens = 2 * half - math.sin(2 * half)
    assert perimeter(first & second) == pytest.approx(4 * half, abs=1e-12)
    assert perimeter(first | second) == pytest.approx(4 * (math.pi - half), abs=1e-12)
    assert perimeter(first - second) == pytest.approx(2 * math.pi, abs=1e-12)
    assert content(first & second) == pytest.approx(lens, abs=1e-12)
    assert content(first | second) == pytest.approx(2 * math.pi - lens, abs=1e-12)
    assert content(first - second) == pytest.approx(math.pi - lens, abs=1e-12)
    for shape in (first & second, first | second, first - second):
        assert_sound(shape)


def test_bounds_are_tight():
    shape = (Disk() & Rectangle((0.5, 3), (-3, 3))) - Rectangle((0.8, 2), (-2, 2))
    height = math.sqrt(0.75)
    assert_allclose(shape.bounds, [[0.5, 0.8], [-height, height]], atol=1e-14)


def test_a_shared_edge_becomes_interior():
    shape = Rectangle((0, 1), (0, 1)) | Rectangle((1, 2), (0, 1))
    assert perimeter(shape) == 6
    points = [[1, 0.5], [1, 0], [1, 1], [1 + 1e-13, 0.3], [1, 1.1], [2, 0.5]]
    assert shape.inside(points).tolist() == [True, False, False, True, False, False]
    assert shape.closure(points).tolist() == [True, True, True, True, False, True]
    assert_sound(shape)


def test_a_seam_that_misses_by_rounding_is_still_a_seam():
    shape = Interval(0, 0.3) | Interval(0.1 + 0.2, 1)
    assert [piece.part for piece in shape.boundary] == ["left", "right"]
    assert shape.inside([[0.3], [0.1 + 0.2]]).all()


def test_a_seam_is_no_obstacle_to_a_cut_across_it():
    # The cut's upper edge is centered on the seam x = 1, where the level of the union is zero.
    wide = Rectangle((0, 1), (0, 1)) | Rectangle((1, 2), (0, 1))
    shape = wide - Rectangle((0.5, 1.5), (-1, 0.5))
    assert perimeter(shape) == pytest.approx(7, abs=1e-12)
    assert content(shape) == pytest.approx(1.5, abs=1e-12)
    assert_sound(shape)


def test_edges_of_both_members_that_coincide_count_once():
    shape = Rectangle((0, 2), (0, 1)) | Rectangle((1, 3), (0, 1))
    assert perimeter(shape) == pytest.approx(8, abs=1e-12)
    notch = Rectangle((0, 1), (0, 1)) - Rectangle((0, 0.5), (0.5, 1))
    assert perimeter(notch) == pytest.approx(4, abs=1e-12)
    assert content(notch) == pytest.approx(0.75, abs=1e-12)
    for combined in (shape, notch):
        assert_sound(combined)


def test_taking_away_and_putting_back_gives_the_whole():
    square, disk = Rectangle(), Disk((0.5, 0.5), 0.25)
    whole = (square - disk) | disk
    assert whole.parts == square.parts
    assert perimeter(whole) == 4
    on_circle = disk.boundary[0].at(np.linspace(0, 1, 9)[:, None])
    assert whole.inside(on_circle).all()


def test_what_is_left_is_regular():
    # Squares that share an edge: their intersection would be that edge, which is nothing.
    left, right, outer = Rectangle((0, 1)), Rectangle((1, 2)), Rectangle((-1, 3), (-1, 2))
    without = outer - (left | right)
    assert not without.closure([[1, 0.5]]).any()
    assert perimeter(without) == pytest.approx(14 + 6, abs=1e-12)


def test_tip_of_a_sharp_wedge_is_on_the_boundary():
    lens = Disk() & Disk((1.9999, 0), 1)
    tip = math.sqrt(1 - 0.99995**2)
    assert lens.closure([[0.99995, tip]]).all()
    assert not lens.inside([[0.99995, tip]]).any()


def test_disks_that_touch_are_two_loops():
    shape = Disk() | Disk((2, 0), 1)
    assert perimeter(shape) == pytest.approx(4 * math.pi, rel=1e-7)
    assert content(shape) == pytest.approx(2 * math.pi, rel=1e-7)


def test_intervals():
    shape = (Interval(0, 1) | Interval(2, 3)) - Interval(0.5, 2.5)
    ends = [
        (piece.part, piece.bounds[0, 0], piece.normals(np.zeros((1, 1)))[0, 0]) for piece in shape.boundary
    ]
    assert ends == [("left", 0, -1), ("right", 3, 1), ("left", 0.5, 1), ("right", 2.5, -1)]
    assert shape.inside([[0.2], [0.5], [1.0], [2.7]]).tolist() == [True, False, False, True]


def test_boxes():
    cube = Box()
    corner = cube - Box((0.5, 2), (0.5, 2), (0.5, 2))
    assert perimeter(corner) == pytest.approx(6, abs=1e-12)
    assert content(corner) == pytest.approx(7 / 8, abs=1e-12)
    tunnel = cube - Box((0.25, 0.75), (0.25, 0.75), (-1, 2))
    assert perimeter(tunnel) == pytest.approx(6 - 2 * 0.25 + 4 * 0.5, abs=1e-12)
    assert content(tunnel) == pytest.approx(0.75, abs=1e-12)
    double = cube | Box((1, 2), (0, 1), (0, 1))
    assert perimeter(double) == pytest.approx(10, abs=1e-12)
    assert double.inside([[1, 0.5, 0.5]]).all()
    for shape in (corner, tunnel, double):
        assert_sound(shape)


def test_untouched_pieces_stay_as_they_were():
    cube = Box()
    shape = cube | Box((5, 6), (5, 6), (5, 6))
    assert shape.boundary[:6] == cube.boundary


def test_ring_cut_by_a_polygon_against_shapely():
    wedge_points = [(0, 0), (3, -1), (3, 2)]
    circle = shapely.Point(0, 0).buffer(2, quad_segs=4096) - shapely.Point(0, 0).buffer(1, quad_segs=4096)
    for name, combine in OPERATIONS.items():
        shape = combine(Ring(), Polygon(wedge_points))
        expected = getattr(circle, name)(shapely.Polygon(wedge_points))
        assert perimeter(shape) == pytest.approx(expected.length, rel=1e-6)
        assert content(shape) == pytest.approx(expected.area, rel=1e-6)
        assert_sound(shape)


def test_nesting_to_depth():
    plate = Rectangle((0, 10), (0, 1))
    for place in range(1, 10):
        plate = plate - Disk((place, 0.5), 0.2).named(circle=f"hole-{place}")
    assert plate.parts == ("left", "right", "bottom", "top", *(f"hole-{i}" for i in range(1, 10)))
    assert content(plate) == pytest.approx(10 - 9 * 0.04 * math.pi, abs=1e-12)
    assert_sound(plate)


def test_equispaced_points_hit_the_corners():
    shape = Rectangle() - Rectangle((0, 0.5), (0.5, 1))
    (loop,) = chains(shape.boundary, shape.joint)
    points, homes = loop.equispaced(120)
    assert len(np.unique(points.round(12), axis=0)) == 120
    for corner in [(0, 0), (1, 0), (1, 1), (0.5, 1), (0.5, 0.5), (0, 0.5)]:
        assert (points == corner).all(axis=1).sum() == 1
    for point, home in zip(points, homes, strict=True):
        assert shape.boundary[home].contains(point[None], 1e-12).all()
    gaps = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    assert_allclose(gaps, 1 / 30, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Interval(0, 1) & Interval(1, 2), "is empty"),
        (lambda: Rectangle() & Rectangle((2, 3)), "is empty"),
        (lambda: Disk() - Disk(radius=2), "is empty"),
        (lambda: Box() - Box(), "is empty"),
        (lambda: Interval(0, 1) | Rectangle(), "1 and 2 dimensions"),
        (lambda: Disk() | 3, r"\bDisk\(.*\b3\b.*\btwo shapes\b"),
    ],
)
def test_combinations_that_make_no_sense(make, message):
    with pytest.raises(DomainError, match=message):
        make()


def test_repr_reads_as_it_was_written():
    assert repr(Disk() - Disk((0, 0), 0.5)) == (
        "(Disk(center=(0.0, 0.0), radius=1.0) - Disk(center=(0.0, 0.0), radius=0.5))"
    )


# Laws, on shapes with corners on a coarse grid so that edges often coincide, cross at corners or touch.
ticks = st.integers(0, 4)


@st.composite
def rectangles(draw):
    x0, y0 = draw(ticks), draw(ticks)
    return (x0, x0 + draw(st.integers(1, 4))), (y0, y0 + draw(st.integers(1, 4)))


@settings(deadline=None, max_examples=120)
@given(
    rectangles(),
    st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), rectangles()), min_size=1, max_size=4),
)
def test_rectangles_agree_with_shapely(first, others):
    shape, expected = Rectangle(*first), shapely.box(first[0][0], first[1][0], first[0][1], first[1][1])
    for name, (x, y) in others:
        expected = getattr(expected, name)(shapely.box(x[0], y[0], x[1], y[1]))
        expected = shapely.MultiPolygon([p for p in shapely.get_parts(expected) if p.area > 0])
        if expected.is_empty:
            with pytest.raises(DomainError, match="is empty"):
                OPERATIONS[name](shape, Rectangle(x, y))
            return
        shape = OPERATIONS[name](shape, Rectangle(x, y))
    assert perimeter(shape) == pytest.approx(expected.length, abs=1e-9)
    assert content(shape) == pytest.approx(expected.area, abs=1e-9)
    assert_sound(shape)
    nodes = np.stack([axis.ravel() for axis in np.mgrid[0:9, 0:9]], axis=1) + 0.0
    located = shapely.points(nodes)
    inner = shapely.unary_union(expected)
    assert_array_equal(shape.inside(nodes), shapely.contains_properly(inner, located))
    assert_array_equal(shape.closure(nodes), shapely.covers(inner, located))


centers = st.tuples(st.integers(-2, 2), st.integers(-2, 2))
round_shapes = st.one_of(
    st.builds(Disk, centers, st.sampled_from([0.5, 1.0, 1.3, 2.0])),
    st.builds(Ring, centers, st.just(0.7), st.sampled_from([1.0, 1.9])),
    st.builds(lambda r: Rectangle(*r), rectangles()),
    st.just(Polygon([(-2, -1), (1, -1.5), (2, 2), (0, 0.3)])),
)


def outline(shape):
    """The same shape as a fine polygon of shapely."""
    if isinstance(shape, Disk):
        return shapely.Point(shape.center).buffer(shape.radius, quad_segs=512)
    if isinstance(shape, Ring):
        inner, outer = (
            shapely.Point(shape.center).buffer(r, quad_segs=512) for r in (shape.inner, shape.outer)
        )
        return outer - inner
    return shapely.Polygon([piece.first for piece in chains(shape.boundary, shape.joint)[0].curves])


@settings(deadline=None, max_examples=60)
@given(round_shapes, round_shapes, round_shapes, *[st.sampled_from(sorted(OPERATIONS))] * 2)
def test_round_shapes_agree_with_shapely(first, second, third, one, other):
    # On a fine lattice, so that edges which coincide up to rounding leave no slivers in shapely's result.
    earlier = getattr(shapely, one)(outline(first), outline(second), grid_size=1e-8)
    expected = getattr(shapely, other)(earlier, outline(third), grid_size=1e-8)
    # A fine polygon cannot tell circles that touch from circles that just cross.
    assume(earlier.area > 1e-2 and expected.area > 1e-2)
    shape = OPERATIONS[other](OPERATIONS[one](first, second), third)
    assert content(shape) == pytest.approx(expected.area, abs=1e-3)
    assert perimeter(shape) == pytest.approx(expected.length, abs=2e-2)
    assert_sound(shape)


@settings(deadline=None, max_examples=30)
@given(round_shapes, round_shapes, st.integers(0, 2**32 - 1))
def test_de_morgan(first, second, seed):
    box = Rectangle((-9, 9), (-9, 9))
    points = np.random.default_rng(seed).uniform(-5, 5, (64, 2))
    outside_both = (box - first) & (box - second)
    assert_array_equal(np.sign((box - (first | second)).level(points)), np.sign(outside_both.level(points)))
    try:
        common = first & second
    except DomainError:
        return
    outside_one = (box - first) | (box - second)
    assert_array_equal(np.sign((box - common).level(points)), np.sign(outside_one.level(points)))
    assert perimeter(box - common) == pytest.approx(perimeter(outside_one), abs=1e-6)


boxes = st.builds(Box, *[st.tuples(ticks, st.integers(1, 4)).map(lambda s: (s[0], s[0] + s[1]))] * 3)


@settings(deadline=None, max_examples=60)
@given(boxes, boxes, boxes, *[st.sampled_from(sorted(OPERATIONS))] * 2)
def test_boxes_agree_with_counting_cells(first, second, third, one, other):
    cells = np.stack([axis.ravel() for axis in np.mgrid[0:9, 0:9, 0:9]], axis=1) + 0.5
    logic = {"union": np.logical_or, "difference": lambda a, b: a & ~b, "intersection": np.logical_and}
    masks = [shape.level(cells) < 0 for shape in (first, second, third)]
    earlier = logic[one](masks[0], masks[1])
    filled = logic[other](earlier, masks[2])
    assume(earlier.any() and filled.any())
    shape = OPERATIONS[other](OPERATIONS[one](first, second), third)
    solid = np.pad(filled.reshape(9, 9, 9), 1).astype(int)
    assert content(shape) == pytest.approx(filled.sum(), abs=1e-9)
    assert perimeter(shape) == pytest.approx(
        sum(np.abs(np.diff(solid, axis=a)).sum() for a in range(3)), abs=1e-9
    )
    assert_sound(shape)


def test_segment_pieces_are_exact_where_they_can_be():
    shape = Rectangle() - Rectangle((0, 1 / 3), (1 / 3, 1))
    notch = [piece for piece in shape.boundary if isinstance(piece, Segment)][-2:]
    assert [piece.bounds.tolist() for piece in notch] == [
        [[1 / 3, 1 / 3], [1 / 3, 1]],
        [[0, 1 / 3], [1 / 3, 1 / 3]],
    ]
