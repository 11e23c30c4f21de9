"""What a problem is, and what is said of a wrong one before anything runs."""

import errno
import os

import numpy as np
import pytest
import torch

from evopinn.errors import EvopinnError, MemoryShortageError, ProblemError
from evopinn.problem import (
    Boundary,
    Data,
    Grid,
    Initial,
    Interval,
    Periodic,
    Problem,
    Rectangle,
    Reference,
    Time,
)

LINE = {
    "domain": Interval(0, 1) * Time(0, 1),
    "fields": ["u"],
    "residual": lambda u, x, t: u.t - u.xx,
    "conditions": [],
    "points": Grid(interior=(4, 5), initial=6, boundary=8, test=(3, 3)),
    "scale": False,
}
SQUARE = {
    "domain": Rectangle((0, 1), (0, 1)),
    "fields": ["u", "v"],
    "residual": lambda u, v, x, y: [u.xx + v.y, v.yy + u.x * x],
    "conditions": [],
    "points": Grid(interior=(4, 4), boundary=16, test=(3, 3)),
    "scale": False,
}


def known(term, u):
    """The term's residuals for u = u(x, t) given with its derivatives as a function of the multi-index."""
    return term.residuals(
        [lambda _, index, side=side: u(index, *side.points.unbind(1)) for side in term.sides]
    )


def wave(index, x, t):
    """Derivatives of exp(2x + 3t)."""
    return 2.0 ** index[0] * 3.0 ** index[1] * torch.exp(2 * x + 3 * t)


def test_terms_have_their_points_weights_and_names():
    problem = Problem(
        **LINE
        | {"conditions": [Initial(lambda u: u, weight=7), Initial(lambda u: u.t), Boundary(lambda u: u.x)]}
    )
    found = [(term.name, term.weight, term.count) for term in problem.terms()]
    assert found == [("residual", 1, 20), ("initial 1", 7, 6), ("initial 2", 1, 6), ("boundary", 1, 8)]


def test_the_residual_is_evaluated_with_named_derivatives():
    problem = Problem(**LINE)
    (term,) = problem.terms()
    x, t = term.sides[0].points.unbind(1)
    (residual,) = known(term, wave)
    assert torch.allclose(residual, (3 - 4) * torch.exp(2 * x + 3 * t))


def test_each_term_notes_the_derivatives_that_it_needs_and_no_more():
    problem = Problem(**LINE | {"conditions": [Initial(lambda u, x: u - x)]})
    assert [set(term.channels[0]) for term in problem.terms()] == [{(0, (0, 1)), (0, (2, 0))}, {(0, (0, 0))}]


def test_a_system_has_several_fields_and_components():
    (term,) = Problem(**SQUARE).terms()
    assert set(term.channels[0]) == {(0, (2, 0)), (1, (0, 1)), (1, (0, 2)), (0, (1, 0))}
    values = [lambda field, index: torch.full((16,), 10.0 * field + index[0] + 2 * index[1]).double()]
    first, second = term.residuals(values)
    assert torch.equal(first, torch.full((16,), 2.0 + 12.0).double())
    assert torch.equal(second, 14 + term.sides[0].points[:, 0])


def test_normals_are_handed_to_conditions_that_ask_for_them():
    condition = Boundary(lambda u, nx, ny: u.x * nx + u.y * ny, on=["right", "top"])
    term = Problem(**SQUARE | {"conditions": [condition]}).terms()[1]
    x, y = term.sides[0].points.unbind(1)
    (flux,) = term.residuals([lambda _, index: torch.full_like(x, 1.0 if index == (1, 0) else 2.0)])
    corner = (x == 1) & (y == 1)
    assert torch.equal(flux[~corner], torch.where(x == 1, 1.0, 2.0)[~corner].double())
    assert term.name == "boundary (right, top)"


def test_a_part_of_the_boundary_can_be_picked_by_a_predicate():
    condition = Boundary(lambda u: u, on=lambda t: t > 0.5)
    term = Problem(**LINE | {"conditions": [condition]}).terms()[1]
    assert (term.sides[0].points[:, 1] > 0.5).all()
    assert 0 < term.count < 8


def test_periodic_sides_are_compared_with_their_derivatives():
    term = Problem(**LINE | {"conditions": [Periodic("x", order=2)]}).terms()[1]
    low, high = (side.points for side in term.sides)
    assert torch.equal(low[:, 1], high[:, 1])
    expected = torch.exp(3 * low[:, 1]) * (1 - np.exp(2))
    for order, gap in enumerate(known(term, wave)):
        assert torch.allclose(gap, 2**order * expected)


def test_a_periodic_condition_can_have_a_function_of_both_sides():
    condition = Periodic("x", function=lambda low, high: [low.u + high.u, low.u * (high.x - low.x)])
    term = Problem(**LINE | {"conditions": [condition]}).terms()[1]
    total, product = known(term, wave)
    low = torch.exp(3 * term.sides[0].points[:, 1])
    assert torch.allclose(total, low * (1 + np.exp(2)))
    assert torch.allclose(product, low)


def test_data_may_be_values_and_derivatives_with_points_by_name():
    points = {"t": [0.1, 0.2], "x": [0.3, 0.4]}
    term = Problem(**LINE | {"conditions": [Data(points, {"u": [1.0, 2.0], "u.xt": [3.0, 4.0]})]}).terms()[1]
    assert term.sides[0].points.tolist() == [[0.3, 0.1], [0.4, 0.2]]
    value, mixed = known(term, wave)
    exact = torch.exp(2 * torch.tensor([0.3, 0.4]) + 3 * torch.tensor([0.1, 0.2])).double()
    assert torch.allclose(value, exact - torch.tensor([1.0, 2.0]), rtol=1e-6)
    assert torch.allclose(mixed, 6 * exact - torch.tensor([3.0, 4.0]), rtol=1e-6)


def test_precision_is_carried_through():
    for term in Problem(**LINE | {"conditions": [Data([[0.1, 0.1]], {"u": [1]})]}).terms(torch.float32):
        assert all(column.dtype == torch.float32 for side in term.sides for column in side.columns.values())


def test_coordinates_are_known_by_name_in_whatever_order_and_can_be_renamed():
    assert Problem(**LINE | {"residual": lambda u, t, x: u.t - u.x}).axes == ("x", "t")
    assert Problem(**LINE | {"residual": lambda u: u.t}).axes == ("x", "t")
    renamed = {"coordinates": ["r", "time"], "residual": lambda u, r, time: u.time - u.r_r / r}
    assert Problem(**LINE | renamed).axes == ("r", "time")


def test_a_single_condition_needs_no_list():
    assert len(Problem(**LINE | {"conditions": Boundary(lambda u: u)}).terms()) == 2


def test_errors_are_relative_and_per_field():
    problem = Problem(**SQUARE | {"solution": lambda x, y: (x + 1, 0 * y)})
    errors = problem.errors(lambda p: np.stack([1.5 * (p[:, 0] + 1), np.full(len(p), 0.25)], axis=1))
    assert errors == pytest.approx({"u": 0.5, "v": 0.25})


def test_errors_against_a_stored_reference(tmp_path):
    x, t = np.linspace(0, 1, 3), np.linspace(0, 1, 4)
    np.savez(tmp_path / "u.npz", x=x, t=t, u=np.add.outer(x, 10 * t))
    problem = Problem(**LINE | {"solution": Reference.load(tmp_path / "u.npz")})
    assert problem.errors(lambda p: p[:, :1] + 10 * p[:, 1:]) == {"u": 0.0}
    assert len(problem.test_points) == 12


def test_no_solution_no_errors():
    assert Problem(**LINE).errors(lambda points: points) == {}


WRONG = {
    "unknown coordinate": (
        LINE | {"residual": lambda u, x, z, w: u.x},
        r"\bresidual .*'z'.*\bfield u; coordinate x, t\b",
    ),
    "unknown derivative": (LINE | {"residual": lambda u, x: u.y}, r"\bresidual: 'y' .*\bcoordinates x, t\b"),
    "order too high": (LINE | {"residual": lambda u: u.xxxxx}, r"'xxxxx' .*\border 5\b.*\bat most order 4\b"),
    "unknown field in a condition": (
        LINE | {"conditions": [Initial(lambda v: v)]},
        r"'initial' .*'v'.*\bfield u; coordinate x, t\b",
    ),
    "column instead of vector": (
        LINE | {"residual": lambda u, x: (u.x * x).reshape(-1, 1)},
        r"\bresidual .*\(20, 1\).*\(20,\)",
    ),
    "silent outer product": (
        LINE | {"residual": lambda u, x: u.t - x[:, None]},
        r"\bresidual .*\(20, 20\).*\(20,\)",
    ),
    "one component of the wrong shape": (
        LINE | {"residual": lambda u: [u.t, u.x.sum()]},
        r"\bresidual, component 1\b.*\(\).*\(20,\)",
    ),
    "nothing returned": (LINE | {"residual": lambda u: None}, r"\bresidual .*\bNoneType\b.*\(20,\)"),
    "empty list": (LINE | {"residual": lambda u: []}, "empty list"),
    "complex": (LINE | {"residual": lambda u: u.t * 1j}, "complex"),
    "source not finite": (
        LINE | {"residual": lambda u, x, t: u.t - 1 / (x - 0.125)},
        r"\bresidual .*\bfinite\b.*\b5 of 20 points\b.* x = 0\.125, t = 0\.1\b",
    ),
    "no field used": (LINE | {"residual": lambda x: x}, r"\bresidual .*\bfield\b.* u\.$"),
    "function raises": (
        LINE | {"residual": lambda u, x: u.t + torch.no_such_function(x)},
        r"AttributeError.*test_problem\.py, line \d+",
    ),
    "star arguments": (
        LINE | {"residual": lambda *args: args[0]},
        r"\bresidual .*\*args\b.*\bfield u; coordinate x, t\b",
    ),
    "not a function": (LINE | {"residual": 3}, r"\bresidual is a int\b.*\blambda\b"),
    "unknown part": (LINE | {"conditions": [Boundary(lambda u: u, on="lefft")]}, "lefft"),
    "predicate picks nothing": (
        LINE | {"conditions": [Boundary(lambda u: u, on=lambda x: x > 2)]},
        "no point|0",
    ),
    "predicate with unknown coordinate": (
        LINE | {"conditions": [Boundary(lambda u: u, on=lambda z: z > 2)]},
        "predicate .*'z'.*coordinate x",
    ),
    "no points for the boundary": (
        LINE | {"points": Grid(interior=(4, 4)), "conditions": [Boundary(lambda u: u)]},
        "boundary",
    ),
    "initial without time": (SQUARE | {"conditions": [Initial(lambda u: u)]}, "needs time"),
    "periodic in no coordinate": (LINE | {"conditions": [Periodic("z")]}, r"Periodic\('z'\).*x, t"),
    "periodic in no field": (LINE | {"conditions": [Periodic("x", fields=["w"])]}, r"Periodic.*'w'.* u\.$"),
    "periodic of a silly order": (
        LINE | {"conditions": [Periodic("x", order=9)]},
        r"Periodic\(order=9\).*0 to 4",
    ),
    "data of the wrong shape": (
        LINE | {"conditions": [Data([[0.0, 0.0]], {"u": [1, 2]})]},
        r"values of u .*\(2,\).*\(1,\)",
    ),
    "data points of the wrong shape": (
        LINE | {"conditions": [Data([0.0, 0.0], {"u": [1, 2]})]},
        r"points .*\(2,\).*\(n, 2\)",
    ),
    "data not finite": (
        LINE | {"conditions": [Data([[0.0, 0.0], [1.0, 0.0]], {"u": [1, np.nan]})]},
        "values of u .*row 1\\b",
    ),
    "data of no field": (LINE | {"conditions": [Data([[0.0, 0.0]], {"w": [1]})]}, r"Data.*'w'.* u\.$"),
    "negative weight": (
        LINE | {"conditions": [Initial(lambda u: u, weight=-1)]},
        r"\bweight is -1\b.*\bat least 0\b",
    ),
    "condition of no kind": (
        LINE | {"conditions": [lambda u: u]},
        r"\bcondition is a function\b.*\bInitial, Boundary, Periodic, Data\b",
    ),
    "field twice": (LINE | {"fields": ["u", "u"]}, "fields u, u "),
    "field that is no name": (LINE | {"fields": ["u'"]}, 'field "u\'"'),
    "field that is a coordinate": (
        LINE | {"fields": ["x"], "residual": lambda x, t: x},
        "^x .*field.*coordinate",
    ),
    "no fields": (LINE | {"fields": []}, "no field"),
    "a field forgotten among the fields": (
        LINE | {"residual": lambda u, v, t: u.t - v},
        "residual .*'v'.*field u; coordinate x, t",
    ),
    "a derivative of an expression": (
        LINE | {"residual": lambda u: u.t - (u * u.x).x},
        "AttributeError.*'x'",
    ),
    "a change in place": (
        LINE | {"residual": lambda u, x: u.t - x.mul_(2)},
        "residual .*argument x ",
    ),
    "no data at all": (
        LINE | {"conditions": [Data(np.zeros((0, 2)), {"u": []})]},
        r"\bData: points .*\bempty\b.*\bone\b",
    ),
    "a field that nothing uses": (LINE | {"fields": ["u", "v"]}, r"field v\b"),
    "a component without a field": (
        LINE | {"residual": lambda u, x: [u.t, x]},
        "residual .*component.*field",
    ),
    "a detached component": (
        LINE | {"residual": lambda u: u.t.detach()},
        "residual .*component.*field",
    ),
    "truth values": (LINE | {"residual": lambda u: u.t > 0}, "torch.bool numbers"),
    "numpy on a derivative": (LINE | {"residual": lambda u: np.exp(u.t)}, "raised RuntimeError.*numpy"),
    "data outside the domain": (
        LINE | {"conditions": [Data([[0.5, 0.5], [0.5, 5]], {"u": [1, 2]})]},
        r"Data: 1 .*row 1 .*x = 0\.5, t = 5",
    ),
    "data without names": (LINE | {"conditions": [Data([[0.5, 0.5]], [1])]}, r"Data.*\{\"u\": "),
    "data that are no numbers": (
        LINE | {"conditions": [Data([[0.5, 0.5]], {"u": ["warm"]})]},
        r"\b(values|points)\b.*\bnumbers\b.*'(warm|a)'",
    ),
    "data of unequal lengths": (
        LINE | {"conditions": [Data({"x": [0, 1], "t": [0]}, {"u": [1, 2]})]},
        "Data.*length",
    ),
    "a weight that is no number": (
        LINE | {"conditions": [Initial(lambda u: u, weight="a")]},
        r"\bweight is 'a'.*\bnumber\b",
    ),
    "a part that is no name": (
        LINE | {"conditions": [Boundary(lambda u: u, on=3)]},
        r"\bBoundary\(on=3\).*\bname\b.*\bpredicate\b",
    ),
    "an order that is no number": (
        LINE | {"conditions": [Periodic("x", order="1")]},
        r"Periodic\(order='1'\).*0 to 4",
    ),
    "conditions that are no list": (LINE | {"conditions": 3}, r"\bconditions is a int\b.*\blist\b"),
    "fields that are no list": (LINE | {"fields": 3}, "field 3 "),
    "too few coordinates": (LINE | {"coordinates": ["x"]}, "coordinates x .*2 axes"),
    "solution of the wrong shape": (LINE | {"solution": lambda x, t: x[:, None]}, r"solution.*\(20, 1\)"),
    "solution with too few components": (
        SQUARE | {"solution": lambda x, y: x},
        "solution .*1 components.* 2.*u, v",
    ),
    "solution not finite": (
        LINE | {"solution": lambda x, t: torch.log(t - 0.5)},
        r"solution .*x = \S+, t = ",
    ),
    "no domain": (LINE | {"domain": (0, 1)}, r"\bdomain is a tuple\b.*\bInterval\("),
    "no points": (LINE | {"points": 100}, r"\bpoints is a int\b.*\bGrid\("),
}


def find_gpu_full():
    raise torch.OutOfMemoryError("CUDA out of memory.")


SHORTAGES = [
    lambda: bytearray(1 << 62),
    lambda: np.empty(1 << 58),
    lambda: torch.empty(1 << 58),
    find_gpu_full,
]


@pytest.mark.parametrize("shortage", SHORTAGES)
def test_a_lack_of_memory_is_no_mistake_of_the_problem(shortage):
    """It is told in a sentence all the same."""

    def residual(u):
        shortage()
        return u.t

    with pytest.raises(MemoryShortageError, match=r"(?s)residual .*Error: .*\(.*, line \d+\)\.$") as told:
        Problem(**LINE | {"residual": residual})
    assert not isinstance(told.value, ProblemError)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_problem_is_refused_before_anything_runs(name):
    arguments, message = WRONG[name]
    with pytest.raises(EvopinnError, match=message) as caught:
        Problem(**arguments)
    assert isinstance(caught.value, ValueError)


def test_a_residual_that_only_some_values_break_is_no_mistake():
    assert Problem(**LINE | {"residual": lambda u: torch.log(u) - u.t}).terms()
    assert Problem(**LINE | {"residual": lambda u: torch.sqrt(-u.x)}).terms()
    assert Problem(**LINE | {"residual": lambda u: u.x / torch.sqrt(1 - u.x**2)}).terms()
    assert Problem(**LINE | {"residual": lambda u: torch.log(u - 5) + u.xx}).terms()


def test_a_reference_must_cover_the_fields():
    with pytest.raises(ProblemError, match=r"fields u .* 2 axes.* u, v "):
        Problem(**SQUARE | {"solution": Reference(np.zeros((3, 2)), {"u": np.zeros(3)})})


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        (np.zeros((11, 2)), [1.0], r"values of u .*\(1,\).*\(11,\)"),
        (np.zeros((2, 2)), [1.0, np.nan], r"values of u .*row 1\b"),
        (np.zeros(3), np.zeros(3), r"\bpoints .*\(3,\).*\(n, n\)"),
        ([["a", "b"]], [1.0], r"\b(values|points)\b.*\bnumbers\b.*'(warm|a)'"),
    ],
)
def test_a_wrong_reference_is_refused(points, values, message):
    with pytest.raises(ProblemError, match=message):
        Reference(points, {"u": values})


def test_a_reference_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ProblemError, match=rf"nowhere\.npz .*{os.strerror(errno.ENOENT)}"):
        Reference.load(tmp_path / "nowhere.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(ProblemError, match=r"text\.npz .*numbers"):
        Reference.load(tmp_path / "text.npz")
