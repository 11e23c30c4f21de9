"""Every engine against nested automatic differentiation, over all the tables."""

from dataclasses import replace

import pytest
import torch
from agreement import disagreement

from evopinn.catalogue import find_problem, names
from evopinn.engine import ENGINES, AutogradEngine, TaylorEngine, make_engine
from evopinn.errors import EngineError, ProblemError, UnknownNameError
from evopinn.genome import Genome, published_models
from evopinn.problem import Boundary, Grid, Interval, Periodic, Problem, Time

FEW_POINTS = {
    "klein-gordon": Grid(interior=(5, 5), initial=4, boundary=6, test=(3, 3)),
    "burgers": Grid(interior=(6, 6, 3), boundary=(16, 3), test=(3, 3, 3)),
    "lame": Grid(interior=(14, 14), interior_at="nodes", boundary={"inner": 6, "outer": 8}, test=(9, 9)),
}
FAST = [name for name in ENGINES if name != "autograd"]


def check(name, problem, genome, seed=0, **options):
    oracle, engine = AutogradEngine(problem, genome), ENGINES[name](problem, genome, **options)
    wrong = disagreement(engine, oracle, oracle.layout.initial(seed))
    assert not wrong, wrong


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("problem", names())
def test_every_problem_of_the_catalogue(name, problem):
    genome = Genome.parse("layers=4 neurons=20 shortcuts=0-1,1-3 activation=a*tanh(b*x)*cos(x)")
    check(name, find_problem(problem), genome)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("model", published_models(), ids=lambda model: f"{model.problem}-{model.name}")
def test_every_published_model(name, model):
    problem = replace(find_problem(model.problem), points=FEW_POINTS[model.problem])
    check(name, problem, model.genome)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("block", [1, 2000, 200_000])
def test_blocks_of_any_size_give_the_same(name, transport, block):
    check(name, transport, Genome.parse("layers=3 neurons=20 activation=a*sin(x)"), block=block)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("neurons", [1, 3, 7, 16])
def test_widths_that_no_vector_fits(name, oscillator, neurons):
    check(name, oscillator, Genome.parse(f"layers=3 neurons={neurons} activation=a*sin(b*x)"))


@pytest.mark.parametrize("name", FAST)
def test_a_linear_network_has_no_hidden_layer_to_speak_of(name, oscillator):
    check(name, oscillator, Genome.parse("layers=2 neurons=5 activation=x"))


@pytest.fixture(scope="module")
def mixing():
    """A residual whose points see one another."""
    return Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.x - torch.mean(u) * x,
        conditions=[Boundary(lambda u: u - 1)],
        points=Grid(interior=30),
    )


@pytest.mark.parametrize("name", FAST)
def test_a_residual_whose_points_see_one_another_is_not_parted(name, mixing):
    assert not mixing.terms()[0].pointwise
    check(name, mixing, Genome.parse("layers=3 neurons=20 activation=sin(x)"), block=7)


@pytest.mark.parametrize("name", FAST)
def test_results_repeat_to_the_last_bit(name, transport):
    genome = Genome.parse("layers=4 neurons=20 shortcuts=1-3 activation=a*tanh(b*x)")
    engine = ENGINES[name](transport, genome)
    theta = engine.layout.initial(0)
    loss, gradient = engine.loss_and_gradient(theta)
    engine.loss_and_gradient(theta + 1)
    again, other = ENGINES[name](transport, genome), engine
    for each in (again, other):
        repeated, same = each.loss_and_gradient(theta.clone())
        assert repeated == loss
        assert torch.equal(same, gradient)


@pytest.mark.parametrize("name", FAST)
def test_single_precision(name, transport):
    genome = Genome.parse("layers=3 neurons=20 activation=a*sin(b*x)*tanh(x)")
    double, single = (ENGINES[name](transport, genome, dtype) for dtype in (torch.float64, torch.float32))
    theta = double.layout.initial(0)
    loss, gradient = single.loss_and_gradient(theta.float())
    expected, slopes = double.loss_and_gradient(theta.float().double())
    assert gradient.dtype == torch.float32
    assert loss == pytest.approx(expected, rel=1e-5)
    assert (gradient - slopes).norm() <= 1e-5 * slopes.norm()


def test_memory_does_not_grow_with_the_points(oscillator):
    """All blocks of one shape share their arrays."""
    genome = Genome.parse("layers=3 neurons=20 activation=sin(x)")
    few, many = (
        TaylorEngine(replace(oscillator, points=Grid(interior=n, boundary=2)), genome, block=480 * 20)
        for n in (320, 3200)
    )
    assert len(many.plan.blocks) > 5 * len(few.plan.blocks)
    assert len({id(each) for each in many.passes.values()}) <= 2


@pytest.mark.parametrize("name", FAST)
def test_theta_of_any_layout_in_memory(name, oscillator):
    genome = Genome.parse("layers=3 neurons=5 activation=a*sin(b*x)")
    engine = ENGINES[name](oscillator, genome)
    theta = engine.layout.initial(0)
    loss, gradient = engine.loss_and_gradient(theta)
    with_gaps = torch.stack([theta, theta], dim=1)[:, 0]
    on_tape = theta.clone().requires_grad_()
    for other in (with_gaps, on_tape):
        repeated, same = engine.loss_and_gradient(other)
        assert repeated == loss
        assert torch.equal(same, gradient)
        assert not same.requires_grad


@pytest.mark.parametrize("name", FAST)
def test_a_theta_that_does_not_fit_is_refused(name, oscillator):
    engine = ENGINES[name](oscillator, Genome.parse("layers=3 neurons=5 activation=sin(x)"))
    theta = engine.layout.initial(0)
    for wrong in (theta[:-1], theta.float(), theta[:, None]):
        with pytest.raises(EngineError, match=rf"theta is .*\({len(theta)},\), torch.float64"):
            engine.loss_and_gradient(wrong)
    with pytest.raises(EngineError, match="weighting is"):
        engine.transposed_product(theta, theta[:1])
    with pytest.raises(EngineError, match="direction is"):
        engine.jacobian_product(theta, theta.float())


def on_a_plane(residual, conditions=()):
    return Problem(
        domain=Interval(0, 1) * Time(0, 1),
        fields=["u"],
        residual=residual,
        conditions=list(conditions),
        points=Grid(interior=(6, 6), boundary=8),
    )


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize(
    "residual",
    [
        lambda u: torch.sign(u.xx) * u.t - u.tt,
        lambda u: u.tt.detach() * u.x - u.xx,
        lambda u, x: (1 + x) * (u.tt - 0.3 * u.xx) + u.xt**2,
        lambda u: 1e-13 * u.tt - u.xx,
        lambda u: torch.cumsum(u.xx, 0) - u.tt,
    ],
)
def test_unusual_residuals(name, residual):
    check(name, on_a_plane(residual), Genome.parse("layers=4 neurons=9 shortcuts=1-2 activation=a*tanh(x)"))


@pytest.mark.parametrize("name", FAST)
def test_a_condition_that_leaves_one_side_alone(name):
    conditions = [Periodic("x", function=lambda low, high: low.u - 1)]
    check(
        name,
        on_a_plane(lambda u: u.t - u.xx, conditions),
        Genome.parse("layers=3 neurons=9 activation=sin(x)"),
    )


@pytest.mark.parametrize("name", FAST)
def test_a_derivative_that_is_asked_for_now_and_then_is_refused(name):
    problem = on_a_plane(lambda u: u.t + u.x if bool((u * 1).abs().max() < 200) else u.t + u.xx)
    engine = ENGINES[name](problem, Genome.parse("layers=3 neurons=9 activation=sin(x)"))
    theta = engine.layout.initial(0)
    engine.loss_and_gradient(theta)
    with pytest.raises(ProblemError, match=r"\(2, 0\) .*torch\.where"):
        engine.loss_and_gradient(1e4 * theta)


def test_what_an_engine_cannot_do_is_said(oscillator):
    genome = Genome.parse("layers=3 neurons=9 activation=sin(x)")
    with pytest.raises(EngineError, match=r"fused .*float64.*float32.*torch\.float16 on cpu.*taylor"):
        ENGINES["fused"](oscillator, genome, torch.float16)
    with pytest.raises(UnknownNameError, match="fussed"):
        make_engine("fussed", oscillator, genome)


def test_the_rule_of_agreement_rejects_what_is_wrong(oscillator):
    genome = Genome.parse("layers=3 neurons=9 activation=sin(x)")
    oracle = AutogradEngine(oscillator, genome)
    theta = oracle.layout.initial(0)

    class Wrong:
        def __init__(self, factor):
            self.factor = factor

        def loss_and_gradient(self, theta):
            loss, gradient = oracle.loss_and_gradient(theta)
            return loss, gradient * self.factor

    assert not disagreement(Wrong(1.0), oracle, theta)
    assert disagreement(Wrong(1 + 1e-8), oracle, theta)
    assert disagreement(Wrong(torch.nan), oracle, theta)
