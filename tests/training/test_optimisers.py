import math

import numpy as np
import pytest
import torch

from evopinn.engine import AutogradEngine
from evopinn.errors import TrainingError
from evopinn.genome import Genome
from evopinn.training import LBFGS, Adam
from evopinn.training.line_search import (
    CURVATURE,
    SUFFICIENT_DECREASE,
    LinePoint,
    cubic_minimum,
    strong_wolfe,
)


def rosenbrock(theta):
    x = theta.detach().requires_grad_()
    loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    (gradient,) = torch.autograd.grad(loss, x)
    return float(loss.detach()), gradient


def trajectory(optimizer, objective, theta, steps):
    state = optimizer.init(objective, theta)
    states = [state]
    for _ in range(steps):
        state = optimizer.step(objective, state)
        states.append(state)
    return states


def torch_trajectory(make, objective, theta, steps):
    x = theta.clone().requires_grad_()
    optimizer = make(x)

    def closure():
        loss, gradient = objective(x.detach())
        x.grad = gradient.clone()
        return torch.tensor(loss, dtype=torch.float64)

    iterates = [theta]
    for _ in range(steps):
        optimizer.step(closure)
        iterates.append(x.detach().clone())
    return iterates


def torch_lbfgs(x):
    return torch.optim.LBFGS(
        [x],
        lr=1,
        max_iter=1,
        max_eval=26,  # so that a line search may make 25 trials: torch limits it by what is left of these
        history_size=100,
        tolerance_grad=1e-16,
        tolerance_change=1e-16,
        line_search_fn="strong_wolfe",
    )


START = torch.as_tensor(np.random.default_rng(0).uniform(-1.5, 1.5, 10))


def test_lbfgs_takes_the_same_steps_as_torch():
    ours = [state.theta for state in trajectory(LBFGS(), rosenbrock, START, 30)]
    for mine, theirs in zip(ours, torch_trajectory(torch_lbfgs, rosenbrock, START, 30), strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-6, atol=1e-9)


def test_lbfgs_takes_the_same_steps_as_torch_on_a_network(transport):
    engine = AutogradEngine(transport, Genome.parse("layers=3 neurons=20 activation=a*tanh(x)"))
    theta = engine.layout.initial(0)
    objective = engine.loss_and_gradient
    ours = [state.theta for state in trajectory(LBFGS(), objective, theta, 12)]
    for mine, theirs in zip(ours, torch_trajectory(torch_lbfgs, objective, theta, 12), strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-6, atol=1e-8)


def test_adam_takes_the_same_steps_as_torch():
    ours = [state.theta for state in trajectory(Adam(rate=0.01), rosenbrock, START, 50)]
    theirs = torch_trajectory(lambda x: torch.optim.Adam([x], lr=0.01), rosenbrock, START, 50)
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.allclose(mine, other, rtol=1e-12, atol=1e-13)


def test_lbfgs_finds_the_minimum_and_says_that_it_has_converged():
    state = LBFGS().init(rosenbrock, START)
    steps = 0
    while not state.converged and steps < 500:
        state = LBFGS().step(rosenbrock, state)
        steps += 1
    assert state.converged
    assert state.loss < 1e-18
    assert torch.allclose(state.theta, torch.ones(10, dtype=torch.float64), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e-12, 1e-18])
def test_the_units_of_the_loss_do_not_decide_how_well_it_is_minimised(scale):
    """Below a loss of 1, the steps are the same whatever factor the loss carries."""

    def scaled(factor):
        def objective(theta):
            loss, gradient = rosenbrock(theta)
            return factor * loss, factor * gradient

        return objective

    reference = trajectory(LBFGS(), scaled(1e-4), START, 40)
    small = trajectory(LBFGS(), scaled(1e-4 * scale), START, 40)
    for one, other in zip(reference, small, strict=True):
        assert torch.allclose(one.theta, other.theta, rtol=1e-5, atol=1e-8)
        assert one.converged == other.converged


@pytest.mark.parametrize(
    "make", [lambda: LBFGS(memory=0), lambda: LBFGS(rate=0), lambda: Adam(rate=-1), lambda: Adam(rate="fast")]
)
def test_settings_that_make_no_sense_are_refused(make):
    with pytest.raises(TrainingError):
        make()


def test_the_memory_is_limited():
    states = trajectory(LBFGS(memory=3), rosenbrock, START, 10)
    assert [len(state.history) for state in states[:5]] == [0, 1, 2, 3, 3]


@pytest.mark.parametrize("optimizer", [LBFGS(), Adam(rate=0.01)], ids=["lbfgs", "adam"])
def test_a_step_is_a_pure_function_of_the_state(optimizer):
    state = trajectory(optimizer, rosenbrock, START, 5)[-1]
    before = state.theta.clone(), state.gradient.clone()
    first, second = optimizer.step(rosenbrock, state), optimizer.step(rosenbrock, state)
    assert torch.equal(first.theta, second.theta)
    assert torch.equal(state.theta, before[0])
    assert torch.equal(state.gradient, before[1])


def test_a_start_without_gradient_has_converged():
    def bowl(theta):
        return float(theta @ theta), 2 * theta

    assert LBFGS().init(bowl, torch.zeros(3)).converged


def test_a_trial_that_overflows_is_backed_away_from():
    """The first step leads to e^700: the search must come back instead of giving up."""

    def cliff(theta):
        x = theta.detach().requires_grad_()
        loss = torch.exp(x * x * 100).sum() + (x - 3).square().sum()
        (gradient,) = torch.autograd.grad(loss, x)
        return float(loss.detach()), gradient

    states = trajectory(LBFGS(), cliff, torch.tensor([0.5], dtype=torch.float64), 15)
    assert all(math.isfinite(state.loss) for state in states)
    assert states[-1].loss < states[0].loss / 1e8


FUNCTIONS = {
    "cubic": (lambda t: (t - 1) ** 2 * (t + 3), lambda t: 2 * (t - 1) * (t + 3) + (t - 1) ** 2),
    "far away": (lambda t: (t - 40) ** 2, lambda t: 2 * (t - 40)),
    "wiggly": (
        lambda t: 0.1 * t * t - math.sin(3 * t),
        lambda t: 0.2 * t - 3 * math.cos(3 * t),
    ),
    "steep": (lambda t: math.exp(t) - 30 * t, lambda t: math.exp(t) - 30),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("first", [1e-3, 1.0, 20.0])
def test_the_line_search_meets_the_strong_wolfe_conditions(name, first):
    value, slope = FUNCTIONS[name]

    def line(t):
        return LinePoint(t, value(t), slope(t), torch.zeros(1))

    start = line(0.0)
    assert start.slope < 0
    found = strong_wolfe(line, start, first, 1.0)
    assert found.loss <= start.loss + SUFFICIENT_DECREASE * found.step * start.slope
    assert abs(found.slope) <= CURVATURE * abs(start.slope)


@pytest.mark.parametrize("slope", [1e200, -1e200, 1e308])
def test_where_the_cubic_overflows_the_middle_is_tried(slope):
    trials = (LinePoint(0.0, 1.0, -1e200, torch.zeros(1)), LinePoint(1.0, 1e250, slope, torch.zeros(1)))
    assert cubic_minimum(*trials, (0.0, 1.0)) == 0.5


def test_the_cubic_through_two_trials_has_its_minimum_where_a_cubic_has():
    value, slope = FUNCTIONS["cubic"]
    trials = [LinePoint(t, value(t), slope(t), torch.zeros(1)) for t in (0.2, 2.5)]
    assert cubic_minimum(*trials, (0.0, 3.0)) == pytest.approx(1, rel=1e-12)
    assert cubic_minimum(*reversed(trials), (0.0, 3.0)) == pytest.approx(1, rel=1e-12)
    assert cubic_minimum(*trials, (1.5, 3.0)) == 1.5
