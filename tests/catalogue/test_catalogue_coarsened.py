"""Every problem of the catalogue with fewer points: the same terms, derivatives and errors."""

from functools import cache

import numpy as np
import pytest
import torch

from evopinn.catalogue import names, problem
from evopinn.engine import make_engine
from evopinn.genome import Genome
from evopinn.network import Layout, Network
from evopinn.problem import Data

GENOME = Genome.parse("layers=3 neurons=20 activation=tanh(x)")


@cache
def built(name):
    return problem(name)


def described(problem):
    return [(term.name, term.weight, term.derivatives, term.components) for term in problem.terms()]


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(("factor", "tolerance"), [(2, 0.15), (4, 0.3)])
def test_points_become_fewer_and_terms_stay(name, factor, tolerance):
    """The tolerance is for few points: 11 instants become 6, not 5.5, a side of 21 has 11, 10 / 4 is 2."""
    full = built(name)
    coarse = full.coarsened(factor)
    assert described(coarse) == described(full)
    before, after = full.terms(), coarse.terms()
    assert before[0].count / after[0].count == pytest.approx(factor ** len(full.axes), rel=tolerance)
    for condition, one, other in zip(full.conditions, before[1:], after[1:], strict=True):
        if isinstance(condition, Data) or len(full.axes) == 1:
            assert torch.equal(one.sides[0].points, other.sides[0].points)
        else:
            axes = len(full.axes) - 1
            assert one.count / other.count == pytest.approx(factor**axes, rel=tolerance)


@pytest.mark.parametrize("name", names())
def test_errors_are_measured_on_the_same_points(name):
    full = built(name)
    coarse = full.coarsened(3)
    inputs, outputs = len(full.axes), len(full.fields)
    theta = Layout.of_network(GENOME, inputs, outputs).initial(seed=0)
    network = Network(GENOME, inputs, outputs, theta)

    def predict(points):
        with torch.no_grad():
            return network(torch.as_tensor(points)).numpy()

    assert np.array_equal(coarse.test_points, full.test_points)
    assert coarse.errors(predict) == full.errors(predict)


@pytest.mark.parametrize("name", names())
def test_engines_take_a_coarser_problem(name):
    """Losses and gradients agree as they do on all points."""
    coarse = built(name).coarsened(4)
    reference, other = (make_engine(engine, coarse, GENOME) for engine in ("autograd", "taylor"))
    theta = reference.layout.initial(seed=1)
    loss, gradient = reference.loss_and_gradient(theta)
    assert loss > 0
    assert other.loss_and_gradient(theta)[0] == pytest.approx(loss, rel=1e-8)
    difference = other.loss_and_gradient(theta)[1] - gradient
    assert torch.linalg.norm(difference) <= 1e-8 * torch.linalg.norm(gradient)
