"""The fit of the last layer before the first step, against NumPy's least squares on nested autograd."""

import numpy as np
import pytest
import torch

import evopinn as ep
from evopinn.catalogue import find_problem
from evopinn.engine import make_engine
from evopinn.genome import Genome
from evopinn.network import initial_theta
from evopinn.training import last_layer
from evopinn.training.cost import Work
from evopinn.training.last_layer import fit_last_layer
from evopinn.training.limits import Budgeted

NETWORK = "layers=4 neurons=10 shortcuts=1-2 activation=a*sin(b*x)"


def fitted(name: str):
    problem, genome = find_problem(name).coarsened(5), Genome.parse(f"{NETWORK} start=unit")
    made = make_engine("taylor", problem, genome)
    objective = Budgeted(made, clock=lambda: 0.0, work=Work(1.0, 1e-6, 1e-8))
    theta = initial_theta(genome, problem, 0)
    return objective, made.layout, theta, *fit_last_layer(objective, made.layout, theta)


@pytest.mark.parametrize("name", ["heat", "lame", "kovasznay"])
def test_the_first_change_solves_the_linearised_problem(name, monkeypatch):
    monkeypatch.setattr(last_layer, "CHANGES", 1)
    objective, layout, theta, found, _ = fitted(name)
    oracle = make_engine("autograd", find_problem(name).coarsened(5), Genome.parse(NETWORK))
    residuals, jacobian = (each.numpy() for each in oracle.residuals_and_jacobian(theta))
    first = layout.layers[-1].weight.start
    columns = jacobian[:, first:]
    damping = np.diag(0.1 * np.linalg.norm(columns, axis=0))  # √ρ·S with ρ = 0.01
    rows = np.vstack([columns, damping])
    change = np.linalg.lstsq(rows, np.concatenate([-residuals, np.zeros(len(damping))]), rcond=None)[0]
    assert torch.equal(found[:first], theta[:first])  # nothing but the last layer
    assert np.allclose((found - theta)[first:].numpy(), change, rtol=1e-8, atol=1e-10 * abs(change).max())
    assert objective.residuals(found).square().sum() < np.square(residuals).sum()


def test_a_further_change_helps_where_the_problem_is_not_linear(monkeypatch):
    losses = []
    for changes in (1, 2):
        monkeypatch.setattr(last_layer, "CHANGES", changes)
        objective, _, _, found, _ = fitted("kovasznay")
        losses.append(float(objective.residuals(found).square().sum()))
    assert losses[1] < losses[0]


@pytest.mark.parametrize("name", ["heat", "kovasznay"])
def test_columns_made_one_by_one_are_those_of_the_jacobian(name, monkeypatch):
    *_, whole, cheap = fitted(name)
    monkeypatch.setattr(last_layer, "_MEMORY", 0)
    *_, single, dear = fitted(name)
    assert torch.allclose(single, whole, rtol=1e-6, atol=1e-8)
    assert dear > cheap > 0


def test_a_fit_that_cannot_be_computed_leaves_the_start():
    genome = Genome.parse("layers=3 neurons=6 activation=exp(exp(exp(x))) start=unit(10,10)")
    problem = find_problem("heat")
    engine = make_engine("taylor", problem, genome)
    theta = initial_theta(genome, problem, 0)
    found, _ = fit_last_layer(Budgeted(engine, clock=lambda: 0.0), engine.layout, theta)
    assert torch.equal(found, theta)


def test_the_fit_counts_as_epochs_of_lm_and_not_as_steps_of_others():
    network = f"{NETWORK} start=fitted"
    result = ep.train("heat", network, epochs=20, optimizer="lm")
    assert 0 < result.history.epochs[0] < 5
    assert result.history.epochs[-1] <= 20
    assert ep.train("heat", network, epochs=4, optimizer="lbfgs").history.epochs == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("optimizer", ["lm", "lbfgs", "adam:3+lm"])
def test_a_training_from_a_fitted_start_continues_to_the_last_bit(optimizer):
    network, ends = f"{NETWORK} start=fitted", []
    whole = ep.train("heat", network, epochs=16, seed=3, optimizer=optimizer)
    ep.train("heat", network, epochs=8, seed=3, optimizer=optimizer, on_end=ends.append)
    rest = ep.train("heat", network, epochs=16, seed=3, optimizer=optimizer, start=ends[0])
    assert torch.equal(whole.theta, rest.theta)
    assert whole.history.losses == rest.history.losses
    assert whole.history.epochs == rest.history.epochs


def test_limits_end_a_fit_like_a_step():
    result = ep.train("heat", f"{NETWORK} start=fitted", epochs=5, max_evaluations=2)
    assert result.status == "step-budget"
