"""The oracle itself, against closed forms and against differences in high precision."""

import itertools

import mpmath
import numpy as np
import pytest
import torch

from evopinn.engine import AutogradDerivatives, AutogradEngine
from evopinn.genome import Genome
from evopinn.problem import Boundary, Grid, Periodic, Problem, Rectangle

ORDERS = [index for index in itertools.product(range(5), repeat=2) if sum(index) <= 4]


@pytest.mark.parametrize("index", ORDERS)
def test_nested_derivatives_of_a_known_function(index):
    points = torch.as_tensor(np.random.default_rng(0).uniform(-1, 1, (9, 2))).requires_grad_()
    x, y = points.unbind(1)
    derivatives = AutogradDerivatives(points, [torch.exp(2 * x - 3 * y), x * y])
    expected = 2.0 ** index[0] * (-3.0) ** index[1] * torch.exp(2 * x - 3 * y)
    assert torch.allclose(derivatives(0, index), expected, rtol=1e-13)
    polynomial = {(0, 0): x * y, (1, 0): y, (0, 1): x, (1, 1): torch.ones_like(x)}
    assert torch.equal(derivatives(1, index), polynomial.get(index, torch.zeros_like(x)))


def test_functions_that_do_not_depend_on_the_points():
    points = torch.zeros(3, 2, requires_grad=True)
    derivatives = AutogradDerivatives(points, [torch.ones(3)])
    assert torch.equal(derivatives(0, (1, 1)), torch.zeros(3))


def network_in_mpmath(theta, layout, x, y):
    """A plain network with activation sin, in 50 digits."""
    tensors = {name: tensor.tolist() for name, tensor in layout.unpack(theta).items()}
    h = [x, y]
    for layer in range(3):
        weight, bias = tensors[f"layers.{layer}.weight"], tensors[f"layers.{layer}.bias"]
        z = [
            mpmath.fsum(w * v for w, v in zip(row, h, strict=True)) + b
            for row, b in zip(weight, bias, strict=True)
        ]
        h = z if layer == 2 else [mpmath.sin(v) for v in z]
    return h[0]


@pytest.mark.parametrize("index", [(1, 0), (0, 2), (1, 1), (2, 2), (4, 0)])
def test_derivatives_of_a_network_against_fifty_digits(index):
    genome = Genome.parse("layers=3 neurons=20 activation=sin(x)")
    problem = Problem(
        domain=Rectangle((0, 1), (0, 1)),
        fields=["u"],
        residual=lambda u: getattr(u, "x" * index[0] + "y" * index[1]),
        conditions=[],
        scale=False,
        points=Grid(interior=(2, 1)),
    )
    engine = AutogradEngine(problem, genome)
    theta = engine.layout.initial(3) * 0.7
    ((residual,),) = engine.components(theta)
    with mpmath.workdps(50):
        for (x, y), value in zip(engine.terms[0].sides[0].points.tolist(), residual.tolist(), strict=True):
            exact = mpmath.diff(
                lambda a, b: network_in_mpmath(theta, engine.layout, a, b),
                (mpmath.mpf(x), mpmath.mpf(y)),
                index,
            )
            assert value == pytest.approx(float(exact), rel=1e-11)


@pytest.fixture(scope="module")
def system():
    return Problem(
        domain=Rectangle((0, 1), (0, 1)),
        fields=["u", "v"],
        residual=lambda u, v, x: [u.xx + v * v.y - x, u.xy * v],
        conditions=[
            Boundary(lambda u, v, nx: [u.x * nx, v], weight=3, on="right"),
            Periodic("y", weight=2),
        ],
        scale=False,
        points=Grid(interior=(3, 3), boundary=12),
    )


def test_the_loss_is_the_weighted_sum_of_mean_squares(system):
    genome = Genome.parse("layers=3 neurons=20 shortcuts=0-1 activation=a*sin(x)")
    engine = AutogradEngine(system, genome)
    theta = engine.layout.initial(0)
    residuals = engine.components(theta)
    expected = sum(
        term.weight * float(component.detach().square().mean())
        for term, components in zip(engine.terms, residuals, strict=True)
        for component in components
    )
    assert [len(components) for components in residuals] == [2, 2, 4]
    assert engine.loss_and_gradient(theta)[0] == pytest.approx(expected, rel=1e-14)


def test_the_gradient_against_central_differences(system):
    genome = Genome.parse("layers=3 neurons=20 shortcuts=0-1 activation=a*sin(b*x)*cos(x)")
    engine = AutogradEngine(system, genome)
    theta = engine.layout.initial(1) * 0.5
    _, gradient = engine.loss_and_gradient(theta)
    rng = np.random.default_rng(2)
    for _ in range(5):
        direction = torch.as_tensor(rng.standard_normal(len(theta)))
        step = 1e-5
        ahead, behind = (engine.loss_and_gradient(theta + sign * step * direction)[0] for sign in (1, -1))
        assert float(gradient @ direction) == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


def test_single_precision_is_the_same_computation(system):
    genome = Genome.parse("layers=3 neurons=20 activation=tanh(x)")
    double, single = (AutogradEngine(system, genome, dtype) for dtype in (torch.float64, torch.float32))
    theta = double.layout.initial(0)
    loss, gradient = single.loss_and_gradient(theta.float())
    assert gradient.dtype == torch.float32
    assert loss == pytest.approx(double.loss_and_gradient(theta)[0], rel=1e-3)


def test_an_activation_without_curvature_has_zero_second_derivatives():
    problem = Problem(
        domain=Rectangle((0, 1), (0, 1)),
        fields=["u"],
        residual=lambda u: u.xx + u.yyy,
        conditions=[],
        scale=False,
        points=Grid(interior=(2, 2)),
    )
    engine = AutogradEngine(problem, Genome.parse("layers=3 neurons=20 activation=x"))
    loss, gradient = engine.loss_and_gradient(engine.layout.initial(0))
    assert loss == 0
    assert (gradient == 0).all()
