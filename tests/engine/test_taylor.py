"""Taylor propagation against nested automatic differentiation, over all the tables."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from evopinn.engine import AutogradEngine, TaylorEngine, fitting_engine
from evopinn.engine.partitions import chain_rule, closure
from evopinn.engine.tree import parameter_series, trace
from evopinn.genome import (
    PAPER,
    Activation,
    Genome,
    MutationRates,
    initial_population,
    mutate,
    published_models,
)
from evopinn.network import initial_parameters
from evopinn.problem import Grid, Interval, Problem
from evopinn.problems import find_problem, names

FEW_POINTS = {
    "klein-gordon": Grid(interior=(5, 5), initial=4, boundary=6, test=(3, 3)),
    "burgers": Grid(interior=(6, 6, 3), boundary=(16, 3), test=(3, 3, 3)),
    "lame": Grid(interior=(14, 14), interior_at="nodes", boundary={"inner": 6, "outer": 8}, test=(9, 9)),
}


def same(problem, genome, *, seed=0, tolerance=1e-10, **options):
    oracle, engine = AutogradEngine(problem, genome), TaylorEngine(problem, genome, **options)
    theta = initial_parameters(oracle.layout, seed)
    loss, gradient = oracle.loss_and_gradient(theta)
    ours, our_gradient = engine.loss_and_gradient(theta)
    # Where nested autograd multiplies zero by infinity, the closed forms may still be finite.
    if math.isfinite(loss) and torch.isfinite(gradient).all():
        assert ours == pytest.approx(loss, rel=tolerance)
        assert (our_gradient - gradient).norm() <= tolerance * gradient.norm()
        return True
    return False


@pytest.mark.parametrize("name", names())
def test_every_problem_of_the_catalogue(name):
    genome = Genome.parse("layers=4 neurons=20 shortcuts=0-1,1-3 activation=a*tanh(b*x)*cos(x)")
    assert same(find_problem(name), genome)


@pytest.mark.parametrize("model", published_models(), ids=lambda model: f"{model.problem}-{model.name}")
def test_every_published_model(model):
    problem = replace(find_problem(model.problem), points=FEW_POINTS[model.problem])
    assert same(problem, model.genome)


def test_random_genomes_of_the_whole_space():
    problem = replace(find_problem("klein-gordon"), points=FEW_POINTS["klein-gordon"])
    rng = np.random.default_rng(11)
    genomes = list(initial_population(PAPER, 30, rng))
    for _ in range(90):
        parent = genomes[int(rng.integers(len(genomes)))]
        genomes.append(mutate(parent, PAPER, MutationRates(1, 1, 1, 1), rng).genome)
    finite = sum(same(problem, genome, seed=1) for genome in genomes)
    assert finite > 40  # many random genomes overflow at once; enough do not


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_blocks_of_any_size_give_the_same(transport, block):
    assert same(transport, Genome.parse("layers=3 neurons=20 activation=a*sin(x)"), block=block)


def test_a_residual_whose_points_see_one_another_is_not_parted():
    problem = Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.x - torch.mean(u) * x,
        conditions=[],
        points=Grid(interior=30),
    )
    assert not problem.terms()[0].pointwise
    assert same(problem, Genome.parse("layers=3 neurons=20 activation=sin(x)"), block=7)


def test_the_fitting_engine_goes_by_the_order_of_the_problem(transport, oscillator):
    genome = Genome.parse("layers=3 neurons=20 activation=sin(x)")
    first, second = (fitting_engine(p, genome, torch.float64, "cpu") for p in (transport, oscillator))
    assert isinstance(first, AutogradEngine)
    assert isinstance(second, TaylorEngine)


def test_single_precision(transport):
    genome = Genome.parse("layers=3 neurons=20 activation=a*sin(b*x)")
    double, single = (TaylorEngine(transport, genome, dtype) for dtype in (torch.float64, torch.float32))
    theta = initial_parameters(double.layout, 0)
    loss, gradient = single.loss_and_gradient(theta.float())
    assert gradient.dtype == torch.float32
    assert loss == pytest.approx(double.loss_and_gradient(theta)[0], rel=1e-4)


def test_faa_di_bruno_by_hand():
    terms = {term.blocks: term.coefficient for term in chain_rule((2, 1))}
    x, y, xx, xy = (1, 0), (0, 1), (2, 0), (1, 1)
    assert terms == {((2, 1),): 1, (y, xx): 1, (x, xy): 2, (y, x, x): 1}
    assert closure([(2, 1)]) == ((0, 0), y, x, xy, xx, (2, 1))
    assert sum(term.coefficient for term in chain_rule((4,))) == 15  # Bell's number


@pytest.mark.parametrize(
    "text",
    [
        "a*tanh(b*x)*cos(c*x)",
        "x/(exp(a*x)+exp(-a*x))",
        "max(a*sin(x), b*x)",
        "min(sin(a*x), b*cos(x))",
        "a*(b*x-sin(c*tanh(x)))",
        "atan(a*swish(b*x))/(c*(exp(x)+1))",
        "a*x",
        "id(a*x)**2",
        "a*(1/(exp(-b*x)+1)) + c*(-x)",
        "softplus(a*softsign(b*erf(x)))",
    ],
)
def test_series_through_a_tree_against_nested_autograd(text):
    activation = Activation.parse(text)
    order = 4
    z = torch.as_tensor(np.random.default_rng(0).uniform(0.1, 2, 20)).requires_grad_()
    parameters = torch.as_tensor(
        np.random.default_rng(1).uniform(0.5, 1.5, activation.parameters)
    ).requires_grad_()
    traced = trace(activation, z, parameters, order + 1)
    by_parameter = parameter_series(traced, z, order)
    derivative = activation(z, parameters)
    for k in range(order + 1):
        found = traced.value[k] if k < len(traced.value) else None
        assert torch.allclose(_dense(found, z), derivative, rtol=1e-9, atol=1e-11), k
        for position, series in enumerate(by_parameter):
            expected = _point_gradients(derivative, parameters)[:, position]
            found = series[k] if k < len(series) else None
            assert torch.allclose(_dense(found, z), expected, rtol=1e-9, atol=1e-11), (k, position)
        derivative = (
            torch.autograd.grad(derivative.sum(), z, create_graph=True, materialize_grads=True)[0]
            if derivative.requires_grad
            else torch.zeros_like(z)
        )


def _dense(value, z):
    return torch.zeros_like(z) if value is None else value.expand_as(z)


def _point_gradients(values, parameters):
    if not values.requires_grad:
        return torch.zeros(len(values), len(parameters), dtype=values.dtype)
    rows = [
        torch.autograd.grad(value, parameters, retain_graph=True, materialize_grads=True)[0]
        for value in values
    ]
    return torch.stack(rows)
