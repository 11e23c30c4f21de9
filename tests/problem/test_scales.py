"""Scales of a problem: what is estimated, that it does not depend on units, and what explicit ones mean."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import evopinn as ep
from evopinn.catalogue import find_problem, names
from evopinn.errors import ProblemError
from evopinn.problem import UNSCALED, Affine, Scales, TermScale


def rod(length=1.0, time=1.0, size=1.0, factor=1.0, offset=0.0, **changes):
    """u_t = 0.4 u_xx on the unit square, restated in other units."""
    diffusivity = 0.4 * length**2 / time

    def start(x):
        return offset + size * torch.sin(math.pi * x / length)

    given = {
        "domain": ep.Interval(0, length) * ep.Time(0, time),
        "fields": ["u"],
        "residual": lambda u: factor * (u.t - diffusivity * u.xx),
        "conditions": [ep.Initial(lambda u, x: u - start(x)), ep.Boundary(lambda u, x: u - (start(x)))],
        "points": ep.Grid(interior=(8, 8), initial=9, boundary=18),
    }
    return ep.Problem(**given | changes)


def line(residual, conditions, **changes):
    """A problem on 0 < x < 3."""
    given = {
        "domain": ep.Interval(0, 3),
        "fields": ["u"],
        "residual": residual,
        "conditions": conditions,
        "points": ep.Grid(interior=40, boundary=2),
    }
    return ep.Problem(**given | changes)


def known(*ends):
    """Values at the two ends."""
    return ep.Boundary(lambda u, x: u - torch.where(x < 1, *(torch.as_tensor(v).double() for v in ends)))


def test_coordinates_go_from_the_bounding_box_to_one():
    problem = rod(length=100, time=3000)
    assert problem.scales.coordinates == (Affine(50.0, 50.0), Affine(1500.0, 1500.0))
    corners = torch.tensor([[0.0, 0.0], [100.0, 3000.0]], dtype=torch.float64)
    assert problem.scales.inputs(corners).tolist() == [[-1, -1], [1, 1]]


def test_values_that_conditions_state_scale_a_field():
    (field,) = rod(size=20).scales.fields
    assert field == Affine(0.0, pytest.approx(20))


def test_a_field_varies_about_a_shift_only_where_its_values_are_far_from_zero():
    (near,), (far,) = rod(offset=0.1).scales.fields, rod(offset=300.0, size=20.0).scales.fields
    assert near == Affine(0.0, pytest.approx(1.1, rel=0.01))
    assert far.shift == pytest.approx(310, rel=1e-6)
    assert far.size == pytest.approx(10, rel=1e-6)


@pytest.mark.parametrize(
    "residual",
    [
        lambda u: 50 * u.xx + 1e12 * torch.exp(-8000 / u) - 1e8,
        lambda u: torch.sqrt(u) * u.xx + 0.5 * u.x**2 / torch.sqrt(u),
        lambda u: u.xx / u - u.x**2 / u**2,
    ],
)
def test_a_positive_quantity_begins_positive(residual):
    problem = line(residual, [known(300.0, 900.0)])
    assert problem.scales.fields == (Affine(600.0, 300.0),)
    # Reaction rates at made-up temperatures around zero would be 1e293 times as large as any real one.
    assert 0 < problem.terms()[0].units[0] < 1e12
    result = ep.train(problem, "layers=4 neurons=10 activation=sin(x)", epochs=5, on_warning=None)
    assert math.isfinite(result.loss)


def test_a_singularity_between_the_values_of_a_field_does_not_set_a_unit():
    def residual(u):
        return u.xx + torch.exp(-10 / (u + 0.1)) - 1

    (unit,) = line(residual, [known(0.0, 1.0)]).terms()[0].units
    assert 0.1 < unit < 1e5


@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_a_source_counts_where_the_known_values_hardly_vary(offset):
    walls = ep.Boundary(lambda u, x: u - offset - x / 3)
    (field,) = line(lambda u, x: u.xx + 7000 * torch.sin(math.pi * x / 3), [walls]).scales.fields
    assert field.shift == (offset and pytest.approx(offset + 0.5))
    assert 700 < field.size < 70_000  # the solution varies by 6400


def test_a_flux_counts_where_the_known_values_hardly_vary():
    conditions = [ep.Boundary(lambda u: u - 1, on="left"), ep.Boundary(lambda u: u.x - 5e4, on="right")]
    (field,) = line(lambda u: u.xx, conditions).scales.fields
    assert 1e4 < field.size < 1e6  # the solution is 1 + 5e4 x


def test_a_source_that_another_field_balances_does_not_count():
    problem = ep.Problem(
        domain=ep.Interval(0, 3),
        fields=["u", "p"],
        residual=lambda u, p: [u.x, p.x - 1e-6 * u - 1e3],
        conditions=[ep.Boundary(lambda u, p, x: [u - 1 - x, p - 1e3 * x], on=["left", "right"])],
        points=ep.Grid(interior=40, boundary=2),
    )
    assert problem.scales.fields[0].size < 5


def test_a_known_zero_with_rounding_does_not_scale_a_field():
    problem = ep.Problem(
        domain=ep.Interval(0, 1),
        fields=["u", "v"],
        residual=lambda u, v: [u.xx + v, v.xx - u],
        conditions=[ep.Boundary(lambda u, v, x: [u - 1 - x, v - torch.sin(math.pi * x)])],
        points=ep.Grid(interior=40),
    )
    assert problem.scales.fields[1].size > 0.01


@pytest.mark.parametrize("size", [1e12, 1e25])
def test_a_source_far_larger_than_a_field_of_size_one_scales_it(size):
    (field,) = line(lambda u, x: u.xx - size * torch.sin(x), [known(0.0, 0.0)]).scales.fields
    assert 0.1 * size < field.size < 10 * size


def test_fields_that_hang_together_scale_one_another():
    """A weak current: a² (u + iv) = (u + iv)_xx with a² = 10i, so that v is 0.5 and u hardly varies."""

    def problem(strength):
        return ep.Problem(
            domain=ep.Interval(-0.01, 0.01),
            fields=["u", "v"],
            residual=lambda u, v: [u.xx + strength * v, v.xx - strength * u],
            conditions=[ep.Boundary(lambda u, v: [u - 1e3, v])],
            points=ep.Grid(interior=40),
        )

    u, v = problem(10).scales.fields
    assert u.shift == 1e3
    assert u.size < 1
    assert 0.05 < v.size < 5
    # A strong one makes both as large as the given value.
    u, v = problem(1e5).scales.fields
    assert 100 < u.size < 1e4
    assert 100 < v.size < 1e4


def test_measured_values_scale_a_field():
    data = ep.Data([[0.5], [1.0], [2.5]], {"u": [0.0, -7e5, 4e5]})
    (field,) = line(lambda u: u.xx, [data]).scales.fields
    assert field == Affine(0.0, pytest.approx(7e5))


def test_a_source_scales_a_field_that_is_zero_at_the_boundary():
    (field,) = line(lambda u, x: u.xx - 1e9 * torch.sin(math.pi * x / 3), [known(0.0, 0.0)]).scales.fields
    assert field.shift == 0
    assert 1e8 < field.size < 1e10  # the solution has 9.1e8


def test_a_flux_scales_a_field():
    conditions = [ep.Boundary(lambda u: u, on="left"), ep.Boundary(lambda u: u.x - 5e4, on="right")]
    (field,) = line(lambda u: u.xx, conditions).scales.fields
    assert 1e4 < field.size < 1e6  # the solution is 5e4 x


def test_the_ambient_temperature_of_a_robin_condition_counts_as_a_value():
    conditions = [ep.Boundary(lambda u, nx: u.x * nx + 2.0 * (1.0 * u.xx * 0 + u - 300.0))]
    (field,) = line(lambda u, x: u.xx + 5 * torch.sin(x), conditions).scales.fields
    assert field.shift == pytest.approx(300, rel=1e-6)
    assert 0.5 < field.size < 50


def test_a_nonlinear_balance_scales_a_field():
    (field,) = line(lambda u: 0 * u.xx + u**3 - 8e9, [known(0.0, 0.0)]).scales.fields
    assert 1e3 < field.size < 5e3  # the solution is 2000


def test_a_field_of_which_nothing_is_stated_balances_the_others():
    problem = ep.Problem(
        domain=ep.Interval(0, 3),
        fields=["u", "p"],
        residual=lambda u, p: [u.x - 1e-4 * p, p.x + u],
        conditions=[known(0.0, 100.0)],
        points=ep.Grid(interior=40, boundary=2),
    )
    u, p = problem.scales.fields
    assert u.size == pytest.approx(100)
    assert 1e5 < p.size < 1e7


def test_given_scales_count():
    fields = {"u": ep.Field(scale=1e5)}
    assert rod(fields=fields).scales.fields == (Affine(0.0, 1e5),)
    fields = {"u": ep.Field(shift=300.0)}
    assert rod(fields=fields, offset=300.0).scales.fields == (Affine(300.0, pytest.approx(1, rel=1e-6)),)
    assert rod(fields={"u": ep.Field(scale=2, shift=1)}).fields == ("u",)


@pytest.mark.parametrize("which", ["length", "time", "size", "factor", "all"])
@pytest.mark.parametrize("by", [1e-6, 1e6])
def test_the_scaled_problem_does_not_depend_on_units(which, by):
    wanted = ["length", "time", "size", "factor"] if which == "all" else [which]
    first, second = rod(), rod(**dict.fromkeys(wanted, by))
    engines = [ep.train(each, "layers=3 neurons=9 activation=tanh(x)", epochs=0) for each in (first, second)]
    assert engines[0].loss == pytest.approx(engines[1].loss, rel=1e-12)


def test_terms_are_balanced_where_no_weight_is_stated():
    terms = rod().terms()
    assert [len(term.units) for term in terms] == [1, 1, 1]
    assert rod(factor=1e3).terms()[0].units[0] == pytest.approx(1e3 * terms[0].units[0])


def test_stated_weights_belong_to_residuals_as_they_are():
    conditions = [ep.Initial(lambda u, x: u - x, weight=100), ep.Boundary(lambda u: u)]
    problem = rod(conditions=conditions)
    assert [(term.weight, term.units) for term in problem.terms()] == [(1, ()), (100, ()), (1, ())]
    assert problem.scales.coordinates
    assert problem.scales.fields


def test_one_condition_can_be_balanced_beside_stated_weights():
    conditions = [ep.Initial(lambda u, x: u - x, weight=100), ep.Boundary(lambda u: u, weight="auto")]
    small, large = (rod(factor=factor, conditions=conditions).terms() for factor in (1, 1e3))
    assert small[2].units[0] == pytest.approx(1e3 * large[2].units[0])
    assert [term.units for term in large[:2]] == [(), ()]


def test_no_scales_leave_everything_as_it_is():
    problem = rod(scale=False)
    assert problem.scales == UNSCALED
    assert [(term.weight, term.units) for term in problem.terms()] == [(1, ())] * 3


@pytest.mark.parametrize("name", names())
def test_the_catalogue_is_as_published(name):
    assert find_problem(name).scales == UNSCALED


def test_other_points_keep_the_scales():
    problem = rod()
    assert problem.coarsened(2).scales == problem.scales
    assert problem.coarsened(2).terms()[0].units == problem.terms()[0].units
    assert problem.held_out.terms()[0].units == problem.terms()[0].units
    assert problem.held_out.scales.fields == problem.scales.fields
    assert replace(problem, name="rod").scales == problem.scales


def test_the_estimation_repeats_to_the_last_bit():
    assert rod().scales == rod().scales


def test_the_estimation_repeats_for_a_residual_that_draws_numbers():
    def drawn(u):
        return u.t - u.xx * (1 + torch.rand(1, dtype=torch.float64))

    torch.manual_seed(1)
    first = rod(residual=drawn).scales
    torch.manual_seed(2)
    assert rod(residual=drawn).scales == first


def test_scales_of_an_earlier_load_are_kept_if_they_fit():
    problem, before = rod(), rod(size=2.0).scales
    assert problem.scaled_as(before).scales == before
    assert problem.scaled_as(UNSCALED).scales == UNSCALED
    stated = rod(conditions=[ep.Initial(lambda u, x: u - x, weight=100), ep.Boundary(lambda u: u)])
    assert stated.scaled_as(before) is stated
    assert rod(scale=False).scaled_as(before).scales == UNSCALED


def test_plain_data_give_the_same_scales():
    conditions = [ep.Initial(lambda u, x: u - x, weight=100), ep.Boundary(lambda u: u, weight="auto")]
    for problem in (rod(), rod(conditions=conditions), rod(scale=False)):
        data = json.loads(json.dumps(problem.scales.to_json()))
        assert Scales.from_json(data) == problem.scales


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"coordinates": [], "fields": [[0.0, 0.0]], "terms": []},
        {"coordinates": [[0.0, 1.0, 2.0]], "fields": [], "terms": []},
        {"coordinates": [], "fields": [], "terms": [["1"]]},
        {"coordinates": [], "fields": [], "terms": [[1.0, -1.0]]},
        {"coordinates": [], "fields": [], "terms": [[math.nan, 1.0]]},
        {"coordinates": 5, "fields": [], "terms": []},
    ],
)
def test_data_that_are_no_scales_are_refused(data):
    with pytest.raises(ProblemError, match="scales are"):
        Scales.from_json(data)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"scale": "yes"}, "scale is 'yes'"),
        ({"scale": Scales(coordinates=(Affine(),))}, "scale has 1 coordinates"),
        ({"scale": Scales(terms=(TermScale(1.0, (1.0, 2.0)), TermScale(), TermScale()))}, "2 units"),
        ({"fields": {"u": 5}}, "field u is 5"),
        ({"fields": {"u": ep.Field(scale=5)}, "scale": False}, "field u"),
        ({"scale": False, "conditions": [ep.Boundary(lambda u: u, weight="auto")]}, "auto"),
        ({"conditions": [ep.Boundary(lambda u: u, weight="large")]}, "large"),
        ({"conditions": [ep.Boundary(lambda u: u, weight=-1)]}, "-1"),
        ({"conditions": [ep.Boundary(lambda u: u, weight=np.ones(2))]}, "a weight is array"),
        ({"conditions": [ep.Boundary(lambda u: u, weight=10**400)]}, "a weight is 1000"),
        ({"conditions": [ep.Boundary(lambda u: u, weight=True)]}, "a weight is True"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, named):
    with pytest.raises(ProblemError, match=named):
        rod(**changes)


@pytest.mark.parametrize(
    "wrong",
    [{"scale": 0}, {"scale": -1.0}, {"scale": math.inf}, {"scale": 10**400}, {"scale": True}, {"shift": "1"}],
)
def test_scales_of_fields_are_numbers(wrong):
    with pytest.raises(ProblemError, match=next(iter(wrong))):
        ep.Field(**wrong)


def test_a_residual_that_is_finite_only_for_some_values_is_scaled():
    assert line(lambda u: torch.log(u - 5) + u.xx, [known(7.0, 9.0)]).scales.fields[0].size > 0
