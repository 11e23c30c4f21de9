"""Residuals, Jacobian and products with it, against nested automatic differentiation."""

from dataclasses import replace

import pytest
import torch

from evopinn.catalogue import find_problem
from evopinn.engine import ENGINES, AutogradEngine
from evopinn.genome import Genome
from evopinn.problem import Boundary, Grid, Interval, Periodic, Problem, Time

GENOME = Genome.parse("layers=4 neurons=6 shortcuts=0-1,1-3 activation=a*tanh(b*x)*cos(x)")
FAST = [name for name in ENGINES if name != "autograd"]


def lame():
    points = Grid(interior=(14, 14), interior_at="nodes", boundary={"inner": 6, "outer": 8}, test=(9, 9))
    return replace(find_problem("lame"), points=points)


def periodic():
    return Problem(
        domain=Interval(0, 1) * Time(0, 1),
        fields=["u"],
        residual=lambda u: u.t + u * u.x - 0.1 * u.xx,
        conditions=[Periodic("x")],
        points=Grid(interior=(5, 5), boundary=8),
    )


def mixing():
    return Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.xx - torch.mean(u) * x,
        conditions=[Boundary(lambda u: u - 1)],
        points=Grid(interior=9),
    )


PROBLEMS = {"fields and corners": lame, "two sides": periodic, "points that mix": mixing}


@pytest.fixture(params=PROBLEMS, scope="module")
def problem(request):
    return PROBLEMS[request.param]()


def close(found, expected, tolerance=1e-11):
    assert found.shape == expected.shape
    assert (found - expected).norm() <= tolerance * expected.norm()


@pytest.mark.parametrize("name", FAST)
def test_residuals_and_jacobian(problem, name):
    oracle, engine = AutogradEngine(problem, GENOME), ENGINES[name](problem, GENOME, block=600)
    theta = oracle.layout.initial(3)
    expected, slopes = oracle.residuals_and_jacobian(theta)
    residuals, jacobian = engine.residuals_and_jacobian(theta)
    close(residuals, expected)
    close(jacobian, slopes)
    close(engine.residuals(theta), expected)


@pytest.mark.parametrize("name", ENGINES)
def test_products_with_the_jacobian(problem, name):
    oracle, engine = AutogradEngine(problem, GENOME), ENGINES[name](problem, GENOME)
    theta = oracle.layout.initial(3)
    residuals, jacobian = oracle.residuals_and_jacobian(theta)
    generator = torch.Generator().manual_seed(5)
    direction, weighting = (
        torch.randn(size, generator=generator, dtype=torch.float64) for size in (len(theta), len(residuals))
    )
    close(engine.jacobian_product(theta, direction), jacobian @ direction)
    close(engine.transposed_product(theta, weighting), jacobian.T @ weighting)


@pytest.mark.parametrize("name", ENGINES)
def test_the_loss_is_the_sum_of_squared_residuals(problem, name):
    engine = ENGINES[name](problem, GENOME)
    theta = engine.layout.initial(3)
    residuals, jacobian = engine.residuals_and_jacobian(theta)
    loss, gradient = engine.loss_and_gradient(theta)
    assert float(residuals.square().sum()) == pytest.approx(loss, rel=1e-12)
    close(2 * jacobian.T @ residuals, gradient)


def test_against_finite_differences(problem):
    engine = ENGINES["fused"](problem, GENOME)
    theta = engine.layout.initial(3)
    jacobian = engine.residuals_and_jacobian(theta)[1]
    step = 1e-5
    for column in range(0, len(theta), 17):
        change = torch.zeros_like(theta)
        change[column] = step
        slope = (engine.residuals(theta + change) - engine.residuals(theta - change)) / (2 * step)
        assert torch.allclose(jacobian[:, column], slope, rtol=1e-5, atol=1e-5 * float(jacobian.abs().max()))
