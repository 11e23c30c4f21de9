"""Channels, combinations and the plan of an evaluation."""

from dataclasses import replace

import pytest
import torch

from evopinn.catalogue import find_problem
from evopinn.engine import AutogradEngine, FusedEngine, TaylorEngine
from evopinn.engine.channels import Channels
from evopinn.engine.choice import BREAK_EVEN, make_engine
from evopinn.engine.combinations import carried_derivatives
from evopinn.engine.partitions import chain_rule, closure
from evopinn.engine.plan import POINTS_MULTIPLE, EvaluationPlan
from evopinn.genome import Genome
from evopinn.problem import Boundary, Grid, Interval, Problem, Time

X, Y, XX, XY, YY = (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)


def plane(residual, **options):
    return Problem(
        domain=Interval(0, 1) * Time(0, 1),
        fields=options.pop("fields", ["u"]),
        residual=residual,
        conditions=options.pop("conditions", []),
        points=Grid(interior=(6, 6), initial=5, boundary=8),
    )


def found_by(residual, **options):
    return carried_derivatives(plane(residual, **options).terms()[:1], 0)


def test_faa_di_bruno_by_hand():
    terms = {term.blocks: term.coefficient for term in chain_rule((2, 1))}
    assert terms == {((2, 1),): 1, (Y, XX): 1, (X, XY): 2, (Y, X, X): 1}
    assert closure([(2, 1)]) == ((0, 0), Y, X, XY, XX, (2, 1))
    assert sum(term.coefficient for term in chain_rule((4,))) == 15  # Bell's number


def test_a_combination_is_one_channel():
    channels = Channels.of([], [((YY, 1.0), (XX, -1.0))])
    assert channels.singles == ((0, 0), Y, X)
    assert len(channels) == 4
    # a = f'·z_(tt−xx) + f''·(z_t² − z_x²), with y in the place of t
    assert [term for term in channels.terms if term[0] == 3] == [
        (3, 1.0, (3,)),
        (3, 1.0, (1, 1)),
        (3, -1.0, (2, 2)),
    ]
    assert channels.first_layer.inputs == 3
    assert [term for term in channels.first_layer.terms if term[0] == 3] == [
        (3, 1.0, (1, 1)),
        (3, -1.0, (2, 2)),
    ]


def test_a_wave_operator_is_found():
    found = found_by(lambda u, x, t: u.tt - 4 * u.xx + u**3 - torch.sin(x) * t)
    assert len(found.combinations) == 1
    assert dict(found.combinations[0]) == {YY: -0.25, XX: 1.0}
    assert found.pivots == (XX,)
    assert (0, 0) in found.singles


def in_place(u, x, t):
    r = 1 * u.tt
    r.add_(u.xx)
    return r


def by_element(u, x, t):
    r = torch.zeros_like(x)
    r[:] = u.tt
    return r - u.xx


@pytest.mark.parametrize(
    "residual",
    [
        in_place,
        by_element,
        lambda u, x, t: u.tt - (1 + x) * u.xx,  # the ratio varies from point to point
        lambda u, x, t: u.tt - u * u.xx,  # with the solution
        lambda u, x, t: u.tt * u.xx,  # no sum
        lambda u, x, t: torch.where(u.xx > 0, u.tt - u.xx, u.tt - 2 * u.xx),
        lambda u, x, t: torch.where(u.xx > 0, 1.0, 2.0) * u.t - u.tt,
        lambda u, x, t: torch.sign(u.xx) * u.t - u.tt,
        lambda u, x, t: u.tt.detach() * u.x - u.xx,
        lambda u, x, t: u.tt - u.xx + torch.relu(u.xx - 1e9),  # only where it is large
        lambda u, x, t: torch.stack([u.tt, u.xx]).sum(dim=0),
        lambda u, x, t: u.tt - u.xx if bool((u * 1).max() < 200) else u.tt - 2 * u.xx,
    ],
)
def test_what_is_no_fixed_combination(residual):
    found = found_by(residual)
    assert not found.combinations
    assert {XX, YY} <= set(found.singles)


def test_small_coefficients_count():
    found = found_by(lambda u, x, t: 1e-17 * u.tt - u.xx)  # a wave in SI units
    assert dict(found.combinations[0]) == {XX: 1.0, YY: pytest.approx(-1e-17)}


def test_what_makes_no_difference_is_not_carried():
    found = found_by(lambda u, x, t: u.tt + 0 * u.xx)
    assert found.singles == ((0, 0), YY)
    assert found.absent == {XX}


def test_combinations_are_of_derivatives_and_not_of_fields():
    """u_xx + v_xt is no combination: layers have derivatives, and fields are made from them at the end."""
    found = found_by(lambda u, v: (u.tt + v.xt, v.tt - u.xx), fields=["u", "v"])
    assert not found.combinations


def test_all_but_one_of_three_in_a_combination():
    found = found_by(lambda u, x, t: (u.tt - u.xx, u.xt * u))
    assert found.singles == ((0, 0), XY)
    assert len(found.combinations) == 1


def test_any_function_of_a_combination_will_do():
    found = found_by(lambda u, x, t: torch.sin(u.tt + 2 * u.xx) * u + u.t)
    assert len(found.combinations) == 1


def test_two_fields_share_what_they_can():
    found = found_by(lambda u, v: (u.tt + u.xx - v, v.tt + v.xx + u), fields=["u", "v"])
    assert [dict(each) for each in found.combinations] == [{YY: 1.0, XX: 1.0}]
    apart = found_by(lambda u, v: (u.tt + u.xx - v, v.tt - v.xx + u), fields=["u", "v"])
    assert len(Channels.of(apart.singles, apart.combinations)) == 5


def test_terms_on_the_same_points_share_a_pass():
    problem = find_problem("klein-gordon")
    plan = EvaluationPlan.of(problem.terms(), 20)
    together = [block for block in plan.blocks if len(block.members) == 2]
    assert [member.term.name for member in together[0].members] == [
        term.name for term in problem.terms() if term.count == 81
    ]
    assert plan.residuals == sum(term.count * term.components for term in problem.terms())


def test_a_boundary_value_needs_no_derivatives():
    problem = plane(lambda u: u.tt - u.xx, conditions=[Boundary(lambda u: u)])
    interior, boundary = (
        block.carried[0].channels for block in EvaluationPlan.of(problem.terms(), 20).blocks
    )
    assert len(interior) == 4
    assert len(boundary) == 1


def test_blocks_cover_all_points_once():
    terms = find_problem("klein-gordon").terms()
    plan = EvaluationPlan.of(terms, 20, block=10_000)
    rows = sorted(
        row
        for block in plan.blocks
        for member in block.members
        for part in member.rows
        for row in range(part.start, part.stop)
    )
    assert rows == list(range(plan.residuals))
    assert all(block.inputs[0].shape[1] % POINTS_MULTIPLE == 0 for block in plan.blocks)


def test_the_engine_is_chosen_from_the_plan(oscillator):
    genome = Genome.parse("layers=3 neurons=20 activation=sin(x)")
    elements = sum(term.count for term in oscillator.terms()) * 20 * 2
    few, many = BREAK_EVEN / elements / 2, BREAK_EVEN / elements * 2
    assert type(make_engine("auto", oscillator, genome, evaluations=few)) is TaylorEngine
    assert type(make_engine("auto", oscillator, genome, evaluations=many)) is FusedEngine
    assert type(make_engine("auto", oscillator, genome)) is FusedEngine
    assert type(make_engine("autograd", oscillator, genome)) is AutogradEngine


def test_a_finer_grid_has_the_same_channels():
    problem = find_problem("klein-gordon")
    finer = replace(problem, points=Grid(interior=(9, 9), initial=4, boundary=6))
    first, second = (EvaluationPlan.of(each.terms(), 20).blocks[0].carried[0] for each in (problem, finer))
    assert first == second
