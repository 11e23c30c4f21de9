"""The starts of trainings: what the rows of the table do to a network on a problem's domain."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

import evopinn as ep
from evopinn import training
from evopinn.catalogue import find_problem
from evopinn.genome import PAPER_START, STARTS, Genome
from evopinn.network import Layout, initial_theta
from evopinn.network.starts import FUNCTIONS, OUTPUT_RMS, sample_inputs

NETWORKS = [
    "layers=5 neurons=14 activation=sin(x)",
    "layers=6 neurons=10 shortcuts=0-2,3-4 activation=a*tanh(b*x)*cos(x)",
    "layers=2 neurons=8 activation=asinh(x)",
]


def by_hand(genome: Genome, theta: torch.Tensor, problem: ep.Problem) -> list[np.ndarray]:
    """The pre-activations, written out in NumPy."""
    tensors = {name: each.numpy() for name, each in Layout.of(genome, problem).unpack(theta).items()}
    inputs, found = [sample_inputs(problem).numpy()], []
    ends = {end: start for start, end in genome.structure.shortcuts}
    for layer in range(genome.structure.layers):
        z = inputs[-1] @ tensors[f"layers.{layer}.weight"].T + tensors[f"layers.{layer}.bias"]
        found.append(z)
        if layer == genome.structure.layers - 1:
            break
        a = torch.as_tensor(tensors.get(f"activations.{layer}", np.zeros(0)))
        h = genome.activation(torch.as_tensor(z), a).numpy()
        if layer + 1 in ends:
            carried = inputs[ends[layer + 1]]
            h = h + np.pad(carried, ((0, 0), (0, h.shape[1] - carried.shape[1])))
        inputs.append(h)
    return found


def test_every_start_has_its_function() -> None:
    assert set(FUNCTIONS) == set(STARTS)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_papers_start_is_the_layouts(dtype: torch.dtype) -> None:
    problem, genome = find_problem("heat"), Genome.parse(NETWORKS[1])
    assert genome.start == PAPER_START
    assert torch.equal(initial_theta(genome, problem, 7, dtype), Layout.of(genome, problem).initial(7, dtype))


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", ["klein-gordon", "lame"])
def test_a_seed_means_one_start(start: str, name: str) -> None:
    problem, genome = find_problem(name), Genome.parse(f"{NETWORKS[0]} start={start}")
    theta = initial_theta(genome, problem, 3)
    assert theta.dtype == torch.float64
    assert not theta.requires_grad
    assert torch.isfinite(theta).all()
    assert torch.equal(theta, initial_theta(genome, find_problem(name), 3))
    assert torch.equal(theta, initial_theta(genome, problem.coarsened(2), 3))
    assert not torch.equal(theta, initial_theta(genome, problem, 4))


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("spread", "first"), [(1, 1), (0.5, 2.0), (2, 0.25)])
@pytest.mark.parametrize("name", ["klein-gordon", "lame"])
def test_unit_gives_pre_activations_the_spread_that_was_asked_for(
    network: str, spread: float, first: float, name: str
) -> None:
    problem, genome = find_problem(name), Genome.parse(f"{network} start=unit({spread},{first})")
    *hidden, output = by_hand(genome, initial_theta(genome, problem, 0), problem)
    for layer, z in enumerate(hidden):
        asked = spread * (1 if layer else first)
        assert np.allclose(z.std(axis=0), asked, rtol=1e-9)
        assert np.abs(z.mean(axis=0)).max() <= asked
        assert np.abs(z.mean(axis=0)).max() > asked / 4  # biases are spread, not zero
    assert np.allclose(np.sqrt((output**2).mean(axis=0)), OUTPUT_RMS, rtol=1e-9)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("spread", "first"), [(1, 1), (0.5, 2.0)])
def test_varied_gives_a_layer_the_spread_and_leaves_its_neurons_different(
    network: str, spread: float, first: float
) -> None:
    problem = find_problem("klein-gordon")
    papers = by_hand(Genome.parse(network), Layout.of(Genome.parse(network), problem).initial(0), problem)
    genome = Genome.parse(f"{network} start=varied({spread},{first})")
    *hidden, output = by_hand(genome, initial_theta(genome, problem, 0), problem)
    for layer, z in enumerate(hidden):
        asked = spread * (1 if layer else first)
        assert math.isclose(np.sqrt(z.var(axis=0).mean()), asked, rel_tol=1e-9)
        assert np.abs(z.mean(axis=0)).max() <= asked
    assert np.allclose(hidden[0].std(axis=0) / papers[0].std(axis=0), asked_ratio(hidden[0], papers[0]))
    assert np.allclose(np.sqrt((output**2).mean(axis=0)), OUTPUT_RMS, rtol=1e-9)


def asked_ratio(scaled: np.ndarray, drawn: np.ndarray) -> float:
    """The one factor by which a layer was scaled."""
    return float(np.sqrt(scaled.var(axis=0).mean() / drawn.var(axis=0).mean()))


@pytest.mark.parametrize("start", STARTS)
def test_a_start_does_not_depend_on_the_units_of_a_problem(start: str) -> None:
    def rod(length: float) -> ep.Problem:
        return ep.Problem(
            domain=ep.Interval(0, length),
            fields=["u"],
            residual=lambda u, x: u.xx + torch.sin(x / length) / length**2,
            conditions=[ep.Boundary(lambda u: u)],
            points=ep.Grid(interior=20, boundary=2),
        )

    genome = Genome.parse(f"{NETWORKS[1]} start={start}")
    one, other = (initial_theta(genome, rod(length), 0) for length in (1.0, 1e-6))
    assert torch.allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("activation", ["recu(x)", "exp(exp(exp(x)))", "1/x", "sin(x)-sin(x)"])
def test_neurons_that_are_constant_or_overflow_keep_their_weights(activation: str) -> None:
    problem = find_problem("heat")
    genome = Genome.parse(f"layers=4 neurons=12 activation={activation} start=unit(10,10)")
    theta = initial_theta(genome, problem, 0)
    assert torch.isfinite(theta).all()
    assert theta.abs().max() < 1e8


def test_a_training_begins_from_the_start_of_its_genome() -> None:
    problem, genome = find_problem("heat"), Genome.parse(f"{NETWORKS[2]} start=unit(0.5,2)")
    result = ep.train(problem, genome, epochs=0, seed=5)
    assert torch.equal(result.theta, initial_theta(genome, problem, 5))
    assert result.loss != ep.train(problem, NETWORKS[2], epochs=0, seed=5).loss


def test_a_saved_network_keeps_its_start(tmp_path: Path) -> None:
    result = ep.train("heat", f"{NETWORKS[2]} start=unit(0.5)", epochs=1)
    ep.save(result, tmp_path / "network")
    assert training.load(tmp_path / "network").genome == result.genome
