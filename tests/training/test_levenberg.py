"""Levenberg-Marquardt as a whole, against closed forms; its parts have tests of their own."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from sums_of_squares import SumOfSquares

from evopinn.engine import make_engine
from evopinn.errors import TrainingError, UnknownNameError
from evopinn.genome import Genome
from evopinn.problem import Boundary, Grid, Interval, Problem
from evopinn.training import (
    LBFGS,
    LM,
    Chain,
    ChainStage,
    Status,
    find_optimiser,
    train,
)

SMALL = Genome.parse("layers=3 neurons=20 activation=a*tanh(x)")


def stepped(optimizer, objective, theta, steps):
    states = [optimizer.init(objective, theta)]
    for _ in range(steps):
        if states[-1].converged:
            break
        states.append(optimizer.step(objective, states[-1]))
    return states


def rosenbrock(x):
    return torch.cat([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


def test_a_linear_problem_is_solved_exactly():
    """The output layer of a network on a linear equation: ordinary least squares."""
    problem = Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.xx + torch.sign(x - 0.4),
        conditions=[Boundary(lambda u: u)],
        points=Grid(interior=60, boundary=2),
    )
    engine = make_engine("fused", problem, Genome.parse("layers=3 neurons=6 activation=sin(x)"))
    theta = engine.layout.initial(0, torch.float64)
    last = slice(engine.layout.layers[-1].weight.start, None)

    class OutputLayer(SumOfSquares):
        def residuals_and_jacobian(self, weights):
            r, jacobian = engine.residuals_and_jacobian(inserted(weights))
            return r, jacobian[:, last]

    def inserted(weights):
        return torch.cat([theta[: last.start], weights])

    objective = OutputLayer(lambda weights: engine.residuals(inserted(weights)))
    start = theta[last]
    r, jacobian = objective.residuals_and_jacobian(start)
    best = torch.linalg.lstsq(jacobian, -r, driver="gelsd").solution
    least = float((r + jacobian @ best).square().sum())
    losses = [state.loss for state in stepped(LM(damping=1e-10), objective, start, 8)]
    assert losses[-1] == pytest.approx(least, rel=1e-3)
    assert losses[1] < 1.1 * least  # a single step does almost all of it
    assert losses[0] > 10 * least


def test_convergence_is_quadratic_where_the_residuals_vanish():
    objective = SumOfSquares(rosenbrock)
    states = stepped(LM(damping=1e-12), objective, torch.full((6,), 1.5, dtype=torch.float64), 30)
    errors = [float((state.theta - 1).norm()) for state in states]
    pairs = [(a, b) for a, b in itertools.pairwise(errors) if 1e-7 < a < 0.5]
    assert len(pairs) >= 2, errors
    assert all(b < 30 * a**2 + 1e-13 for a, b in pairs), errors
    assert errors[-1] < 1e-12


def test_the_valley_of_rosenbrock_takes_far_fewer_steps_than_with_a_gradient():
    theta = torch.as_tensor([-1.2, 1.0], dtype=torch.float64)
    objective = SumOfSquares(rosenbrock)
    second = stepped(LM(), objective, theta, 30)
    first = stepped(LBFGS(), objective, theta, 100)
    assert second[-1].loss < 1e-20
    below = [next(k for k, s in enumerate(states) if s.loss < 1e-8) for states in (second, first)]
    assert below[0] < below[1]


def test_a_parameter_that_nothing_depends_on_stays_where_it_is():
    objective = SumOfSquares(lambda x: torch.stack([x[0] - 2, x[0] * x[1] - 6, 0 * x[2]]))
    state = stepped(LM(), objective, torch.ones(3, dtype=torch.float64), 40)[-1]
    assert torch.allclose(state.theta, torch.as_tensor([2.0, 3.0, 1.0], dtype=torch.float64), atol=1e-9)


def test_columns_that_are_alike_share_the_step():
    objective = SumOfSquares(lambda x: torch.stack([x[0] + x[1] - 4, 3 * (x[0] + x[1]) - 12]))
    state = stepped(LM(), objective, torch.zeros(2, dtype=torch.float64), 40)[-1]
    assert torch.allclose(state.theta, torch.full((2,), 2.0, dtype=torch.float64))
    assert state.loss < 1e-20


def test_residuals_that_are_zero_are_the_end():
    objective = SumOfSquares(lambda x: x - 1)
    state = LM().init(objective, torch.ones(4, dtype=torch.float64))
    assert (state.loss, state.converged) == (0.0, True)


def test_a_start_that_overflows_is_said_to(oscillator):
    result = train(oscillator, "layers=4 neurons=20 activation=exp(exp(exp(x)))", optimizer="lm", epochs=50)
    assert result.status is Status.NOT_FINITE


def test_a_step_into_overflow_is_taken_back():
    objective = SumOfSquares(lambda x: torch.stack([torch.exp(300 * x[0]) - 2, x[0] - 1]))
    states = stepped(LM(damping=1e-9), objective, torch.zeros(1, dtype=torch.float64), 60)
    losses = [state.loss for state in states]
    assert all(b < a for a, b in itertools.pairwise(losses[:5]))
    assert all(map(math.isfinite, losses))


@pytest.mark.parametrize(("points", "kind"), [(600, "primal"), (20, "dual")])
def test_fewer_and_more_parameters_than_residuals(points, kind):
    problem = Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.xx + u - torch.sin(3 * x),
        conditions=[Boundary(lambda u: u)],
        points=Grid(interior=points, boundary=2),
    )
    result = train(problem, SMALL, optimizer="lm", epochs=100_000, max_evaluations=200)
    assert (result.parameters < points) == (kind == "primal")
    assert result.loss < 1e-8 * result.history.losses[0]


def test_without_memory_it_works_without_a_jacobian(transport):
    free = train(transport, SMALL, optimizer=LM(memory=1), epochs=10**6, max_evaluations=3000)
    assert free.settings["remark"]
    assert free.loss < 1e-3 * free.history.losses[0]


def test_a_user_hears_that_it_works_without_a_jacobian(transport):
    chained = Chain("adam:1+lm", (ChainStage(find_optimiser("adam"), 1), ChainStage(LM(memory=1e5))))
    for optimizer in (LM(memory=1e5), chained):
        remark = train(transport, SMALL, optimizer=optimizer, epochs=50).settings["remark"]
        parameters = train(transport, SMALL, epochs=0).parameters
        assert re.search(rf"Jacobian .* by {parameters:,} parameters.* GB.* 0\.0001 GB.*LM\(memory=", remark)
    assert not train(transport, SMALL, optimizer="lm", epochs=2).settings["remark"]


def test_steps_count_for_what_they_cost(transport):
    cheap = train(transport, SMALL, optimizer="lm", epochs=3)
    dear = train(transport, "layers=5 neurons=40 activation=a*tanh(x)", optimizer="lm", epochs=3)
    assert cheap.epochs <= 3
    assert dear.epochs <= 3
    assert len(cheap.history.losses) > 2 * len(dear.history.losses)
    costs = np.diff(cheap.history.epochs)
    assert (costs > 0).all()
    assert cheap.history.epochs[-1] <= 3


def test_it_is_the_same_to_the_last_bit_again(transport):
    one, other = (train(transport, SMALL, optimizer="lm", epochs=2, seed=4) for _ in "ab")
    assert torch.equal(one.theta, other.theta)
    assert one.history == other.history


@pytest.mark.parametrize("optimizer", ["lm", "adam:1+lm"])
def test_two_trainings_in_a_row_are_one_to_the_last_bit(transport, optimizer):
    kept = []
    settings = {"optimizer": optimizer, "seed": 3}
    whole = train(transport, SMALL, epochs=5, **settings)
    train(transport, SMALL, epochs=2, on_end=kept.append, **settings)
    second = train(transport, SMALL, epochs=5, start=kept[0], **settings)
    assert second.history.losses == whole.history.losses
    assert second.history.epochs == whole.history.epochs
    assert torch.equal(second.theta, whole.theta)


@pytest.mark.parametrize("setting", ["damping", "memory"])
def test_settings_must_be_positive(setting):
    with pytest.raises(TrainingError, match=f"LM\\({setting}=-1"):
        LM(**{setting: -1})


def test_a_loss_alone_is_not_enough():
    with pytest.raises(TrainingError, match=r"^lm .*residuals"):
        LM().init(lambda theta: (0.0, theta), torch.zeros(2))


def test_a_chain_hands_over(transport):
    result = train(transport, SMALL, optimizer="adam:1+lm", epochs=4, seed=1)
    alone = train(transport, SMALL, optimizer="adam", epochs=10, seed=1)
    same = [a == b for a, b in zip(result.history.losses, alone.history.losses, strict=False)]
    assert sum(same) >= 3  # adam's beginning
    assert result.loss < 0.1 * alone.loss
    assert result.optimizer == "adam:1+lm"


def test_a_chain_goes_on_when_a_stage_has_converged():
    objective = SumOfSquares(lambda x: x - 3)
    chain = Chain("lm+lbfgs", (ChainStage(LM()), ChainStage(LBFGS())))
    states = stepped(chain, objective, torch.zeros(2, dtype=torch.float64), 100)
    assert states[-1].stage == 1
    assert states[-1].converged


@pytest.mark.parametrize("text", ["adam:0+lm", "adam:x+lm", "lm:"])
def test_a_stage_has_a_number_of_epochs(text):
    with pytest.raises(TrainingError, match=f"'{text.split('+')[0]}'.*adam:500"):
        find_optimiser(text)


def test_an_unknown_stage_is_named():
    with pytest.raises(UnknownNameError, match=r"optimizer .*'newton'"):
        find_optimiser("adam:10+newton")


def test_lm_takes_no_rate():
    with pytest.raises(TrainingError, match=r"^lm .*0\.1"):
        find_optimiser("lm", rate=0.1)
