"""A network on a scaled problem: its maps go wherever it goes, and engines agree."""

import json
import math

import numpy as np
import pytest
import torch

import evopinn as ep
from evopinn.engine import ENGINES, AutogradEngine
from evopinn.genome import Genome
from evopinn.network import forward
from evopinn.problem import UNSCALED
from evopinn.training import load, save
from evopinn.view.terminal.training_tables import training_data

GENOME = Genome.parse("layers=4 neurons=10 shortcuts=0-1,1-3 activation=a*tanh(b*x)")


@pytest.fixture(scope="module")
def problem():
    """Two fields far from zero and from each other, on a domain far from the unit square."""
    return ep.Problem(
        domain=ep.Interval(1000, 1300) * ep.Time(0, 5e-3),
        fields=["T", "q"],
        residual=lambda T, q, x: [T.t + q.x * (x / 1000), q + 4e4 * T.x - 3e3 * T.xx * T.x],
        conditions=[
            ep.Initial(lambda T, x: T - 300 - 20 * torch.sin(math.pi * x / 150)),
            ep.Boundary(lambda T: T - 300),
            ep.Periodic("x", fields=["q"]),
        ],
        points=ep.Grid(interior=(9, 7), initial=11, boundary=12, test=(5, 4)),
        solution=lambda x, t: (300 + 20 * torch.sin(math.pi * x / 150) * torch.exp(-t), 0 * x + 1e3),
    )


@pytest.fixture(scope="module")
def result(problem):
    return ep.train(problem, GENOME, optimizer="lm", epochs=3)


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "autograd"])
def test_engines_agree_on_a_scaled_problem(problem, name):
    assert all(field.shift or field.size != 1 for field in problem.scales.fields)
    oracle, engine = AutogradEngine(problem, GENOME), ENGINES[name](problem, GENOME)
    theta = oracle.layout.initial(0)
    (loss, gradient), (expected, slopes) = engine.loss_and_gradient(theta), oracle.loss_and_gradient(theta)
    assert loss == pytest.approx(expected, rel=1e-12)
    assert (gradient - slopes).norm() < 1e-11 * slopes.norm()
    residuals, jacobian = engine.residuals_and_jacobian(theta)
    expected, rows = oracle.residuals_and_jacobian(theta)
    assert (residuals - expected).norm() < 1e-11 * expected.norm()
    assert (jacobian - rows).norm() < 1e-11 * rows.norm()
    direction = torch.cos(torch.arange(len(theta), dtype=torch.float64))
    product = engine.jacobian_product(theta, direction)
    assert (product - rows @ direction).norm() < 1e-11 * product.norm()
    transposed = engine.transposed_product(theta, residuals)
    assert (transposed - rows.T @ residuals).norm() < 1e-10 * transposed.norm()


def test_the_maps_belong_to_the_network(problem, result):
    points = np.array([[1000.0, 0.0], [1100.0, 2e-3], [1300.0, 5e-3]])
    fields = result.predict(points)
    expected = forward(
        result.genome, result.layout.unpack(result.theta), torch.as_tensor(points), result.scales
    )
    assert np.array_equal(fields, expected.numpy())
    assert result.scales == problem.scales
    module = result.to_torch()
    assert np.allclose(module(torch.as_tensor(points)).detach().numpy(), fields, rtol=1e-15)
    other = ep.Network(GENOME, 2, 2, torch.zeros_like(result.theta), result.scales)
    other.load_state_dict(module.state_dict())
    assert torch.equal(other(torch.as_tensor(points)), module(torch.as_tensor(points)))
    assert {name for name, _ in module.named_parameters()} == set(result.layout.shapes)


def test_the_data_of_a_training_have_the_maps(result, oscillator):
    assert training_data(result)["scales"] == result.scales.to_json()
    assert "scales" not in training_data(
        ep.train(oscillator, "layers=3 neurons=5 activation=sin(x)", epochs=0)
    )


def test_errors_are_those_of_the_mapped_network(problem, result):
    assert result.errors == problem.errors(result.predict)


def test_a_saved_network_keeps_its_maps(result, tmp_path):
    _, sidecar = save(result, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.scales == result.scales
    points = np.array([[1100.0, 2e-3]])
    assert np.array_equal(loaded.predict(points), result.predict(points))
    data = json.loads(sidecar.read_text())
    del data["scales"]  # as in a file from before there were any
    sidecar.write_text(json.dumps(data))
    assert load(tmp_path / "model").scales == UNSCALED
    data["scales"] = {"coordinates": [[0.0, 1.0]], "fields": [], "terms": []}
    sidecar.write_text(json.dumps(data))
    with pytest.raises(ep.EvopinnError, match="scales"):
        load(tmp_path / "model")


def test_a_network_without_maps_has_the_tensors_of_before(oscillator):
    module = ep.train(oscillator, "layers=3 neurons=5 activation=sin(x)", epochs=1).to_torch()
    assert set(module.state_dict()) == {name for name, _ in module.named_parameters()}
