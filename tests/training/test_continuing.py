"""Going on with a training from where another has ended."""

import itertools
import math
from functools import partial

import pytest
import torch

from evopinn import training
from evopinn.engine import make_engine
from evopinn.errors import EvopinnError, TrainingError
from evopinn.genome import Genome
from evopinn.problem import Grid, Interval, Problem
from evopinn.training import Adam, Status, load_checkpoint, save_checkpoint

SMALL = Genome.parse("layers=3 neurons=20 activation=a*tanh(x)")
train = partial(training.train, optimizer="lbfgs")
"""An optimiser whose steps are epochs, which is easiest to count with."""


def ticking(seconds):
    """A clock that goes on by a fixed time at each look."""
    return map(float, itertools.count(0, seconds)).__next__


def trained(problem, genome=SMALL, **settings):
    """A result, and the checkpoint of its end if there is one."""
    kept = []
    result = train(problem, genome, on_end=kept.append, **settings)
    assert len(kept) <= 1
    return result, (kept or [None])[0]


def through_a_file(checkpoint, folder):
    save_checkpoint(checkpoint, folder / "state.safetensors")
    return load_checkpoint(folder / "state.safetensors")


@pytest.mark.parametrize("optimizer", ["lbfgs", Adam(rate=0.01)], ids=["lbfgs", "adam"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("engine", ["autograd", "taylor", "fused"])
def test_two_trainings_in_a_row_are_one_to_the_last_bit(transport, tmp_path, optimizer, precision, engine):
    settings = {"optimizer": optimizer, "precision": precision, "engine": engine}
    whole, _ = trained(transport, epochs=75, seed=3, **settings)
    first, state = trained(transport, epochs=20, seed=3, **settings)
    second, state = trained(transport, epochs=60, start=through_a_file(state, tmp_path), **settings)
    third, _ = trained(transport, epochs=75, start=state, **settings)
    assert (first.epochs, second.epochs, third.epochs) == (20, 60, whole.epochs)
    assert third.history.losses == whole.history.losses
    assert torch.equal(third.theta, whole.theta)
    assert (third.loss, third.errors, third.status) == (whole.loss, whole.errors, whole.status)
    assert first.evaluations + second.evaluations + third.evaluations == whole.evaluations + 2


def test_two_continuations_of_one_file_are_the_same_to_the_last_bit(transport, tmp_path):
    _, state = trained(transport, epochs=30)
    save_checkpoint(state, tmp_path / "state")
    one, other = (train(transport, SMALL, epochs=60, start=load_checkpoint(tmp_path / "state")) for _ in "ab")
    assert torch.equal(one.theta, other.theta)
    assert one.history == other.history


def test_another_engine_goes_on_as_well(transport):
    """Loss and gradient differ in their last digits: the course stays close for some steps."""
    whole, _ = trained(transport, epochs=28, engine="taylor")
    _, state = trained(transport, epochs=20, engine="taylor")
    result, _ = trained(transport, epochs=28, engine="autograd", start=state)
    assert result.history.losses[:20] == whole.history.losses[:20]
    assert result.history.losses[20:] == pytest.approx(whole.history.losses[20:], rel=1e-6)


def test_the_history_is_that_of_one_training(oscillator):
    _, state = trained(oscillator, epochs=12, errors_every=5)
    seen = []
    result = train(oscillator, SMALL, epochs=23, errors_every=5, start=state, seed=7, on_progress=seen.append)
    assert result.epochs == 23
    assert len(result.history.losses) == 24
    assert result.history.losses[:13] == state.losses
    assert result.history.error_epochs == (15, 20, 23)
    assert result.history.errors["u"][-1] == result.errors["u"]
    assert [now.epoch for now in seen] == list(range(12, 24))
    assert all(now.epochs == 23 for now in seen)
    assert result.seed == 7
    assert result.settings["start_epoch"] == 12


@pytest.mark.parametrize("epochs", [0, 7, 8])
def test_a_checkpoint_with_all_epochs_is_not_trained_further(oscillator, epochs):
    first, state = trained(oscillator, epochs=8)
    result, again = trained(oscillator, epochs=epochs, start=state)
    assert (result.status, result.epochs, result.evaluations) == (Status.FINISHED, 8, 1)
    assert torch.equal(result.theta, first.theta)
    assert (result.loss, result.errors) == (first.loss, first.errors)
    assert result.history.losses == first.history.losses
    assert again.epoch == 8


def flat():
    return Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=lambda u: u,
        conditions=[],
        scale=False,
        points=Grid(interior=5),
        name="flat",
    )


def test_what_has_converged_stays_converged(tmp_path):
    line = "layers=3 neurons=20 activation=x"
    first, state = trained(flat(), line, epochs=5000)
    assert first.status is Status.CONVERGED
    result, _ = trained(flat(), line, epochs=6000, start=through_a_file(state, tmp_path))
    assert result.status is Status.CONVERGED
    assert (result.epochs, result.loss, result.evaluations) == (first.epochs, first.loss, 1)


def test_the_best_parameters_are_carried_on(oscillator):
    """Adam at a huge rate: the best of the first part is better than all that comes after."""
    _, state = trained(oscillator, epochs=20, optimizer=Adam(rate=0.01))
    result, _ = trained(oscillator, epochs=24, optimizer=Adam(rate=0.5), start=state)
    assert min(result.history.losses[21:]) > state.best_loss
    assert result.loss == state.best_loss == min(result.history.losses)
    assert torch.equal(result.theta, state.best_theta)


def test_limits_are_those_of_the_call(oscillator):
    _, state = trained(oscillator, epochs=10)
    stepped, later = trained(oscillator, epochs=1000, start=state, max_evaluations=5)
    assert stepped.status is Status.STEP_BUDGET
    assert stepped.evaluations == 5
    assert stepped.epochs == later.epoch > 10
    timed, _ = trained(oscillator, epochs=1000, start=state, time_limit=20, clock=ticking(1.0))
    assert timed.status is Status.TIME_LIMIT
    assert 0 < timed.evaluations < 12
    assert timed.epochs > 10


def test_without_time_to_begin_all_is_as_it_was(oscillator):
    first, state = trained(oscillator, epochs=10)
    result, again = trained(oscillator, epochs=20, start=state, time_limit=1, clock=ticking(2.0))
    assert result.status is Status.TIME_LIMIT
    assert (result.epochs, result.evaluations, result.loss) == (10, 0, first.loss)
    assert result.errors == first.errors
    assert result.history.losses == first.history.losses
    assert again is state


def loss_of(problem, theta):
    return make_engine("taylor", problem, SMALL).loss_and_gradient(theta)[0]


def denser(problem):
    return Problem(
        domain=problem.domain,
        fields=problem.fields,
        residual=problem.residual,
        conditions=problem.conditions,
        scale=False,
        points=Grid(interior=(23, 23), initial=31, boundary=62, test=(11, 11)),
        solution=problem.solution,
    )


@pytest.mark.parametrize("optimizer", ["lbfgs", Adam(rate=0.02)], ids=["lbfgs", "adam"])
def test_on_other_points_losses_are_those_of_the_other_points(transport, optimizer):
    fine = denser(transport)
    _, state = trained(transport, epochs=40, optimizer=optimizer)
    at_once, _ = trained(fine, epochs=40, optimizer=optimizer, start=state, engine="taylor")
    assert at_once.loss == loss_of(fine, at_once.theta) != state.best_loss
    assert at_once.history.losses[-1] == loss_of(fine, state.state["theta"])
    later, _ = trained(fine, epochs=80, optimizer=optimizer, start=state, engine="taylor")
    assert later.epochs == 80
    assert later.loss == loss_of(fine, later.theta) < at_once.loss / 2


def test_on_other_points_the_best_parameters_are_judged_anew(transport):
    """Adam has jumped away from what was best: that is compared by its loss on the new points."""
    fine = denser(transport)
    _, state = trained(transport, epochs=30, optimizer=Adam(rate=0.5))
    assert state.best_loss < state.losses[-1]
    result, _ = trained(fine, epochs=30, optimizer=Adam(rate=0.5), start=state, engine="taylor")
    assert torch.equal(result.theta, state.best_theta)
    assert result.loss == loss_of(fine, state.best_theta)
    assert result.evaluations == 2
    short, _ = trained(fine, epochs=30, optimizer=Adam(rate=0.5), start=state, max_evaluations=1)
    assert short.status is Status.STEP_BUDGET
    assert short.loss == loss_of(fine, short.theta) > result.loss


def test_a_state_that_is_not_finite_is_not_handed_on(oscillator):
    failed, nothing = trained(oscillator, "layers=11 neurons=50 activation=exp(exp(exp(x)))", epochs=3)
    assert failed.status.failed
    assert nothing is None


def test_an_interrupted_training_can_be_gone_on_from(oscillator):
    def interrupt(now):
        if now.epoch == 7:
            raise KeyboardInterrupt

    stopped, state = trained(oscillator, epochs=30, on_progress=interrupt)
    assert stopped.status is Status.INTERRUPTED
    assert state.epoch == stopped.epochs == 7
    whole, _ = trained(oscillator, epochs=30)
    result, _ = trained(oscillator, epochs=30, start=state)
    assert result.history.losses == whole.history.losses


def test_an_interrupt_while_the_end_is_told_keeps_the_result(oscillator):
    def interrupt(_):
        raise KeyboardInterrupt

    result = train(oscillator, SMALL, epochs=5, on_end=interrupt)
    assert result.status is Status.INTERRUPTED
    assert math.isfinite(result.loss)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimizer": "adam"}, r"\boptimizer .*\blbfgs\b.*\badam\b"),
        ({"precision": "float32"}, r"\bprecision .*\bfloat64\b.*\bfloat32\b"),
        ({"genome": "layers=3 neurons=20 activation=tanh(x)"}, r"genome is layers=3 .* activation=a\*tanh"),
        (
            {"genome": "layers=3 neurons=22 activation=a*tanh(x)"},
            r"\bgenome .*\bneurons=20\b.*\bneurons=22\b",
        ),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(oscillator, settings, message):
    _, state = trained(oscillator, epochs=2)
    with pytest.raises(TrainingError, match=message):
        train(oscillator, settings.pop("genome", SMALL), epochs=4, start=state, **settings)


def test_a_checkpoint_of_a_problem_with_other_coordinates_is_refused(oscillator, transport):
    _, state = trained(oscillator, epochs=2)
    with pytest.raises(TrainingError, match=r"parameters .*\b483\b.*\b503\b"):
        train(transport, SMALL, epochs=4, start=state)


def test_an_optimiser_that_cannot_put_its_state_away_trains_but_is_not_continued(oscillator):
    class Plain:
        init, step = Adam.init, Adam.step
        rate, decay, epsilon = 0.01, (0.9, 0.999), 1e-8

    assert train(oscillator, SMALL, epochs=2, optimizer=Plain()).epochs == 2
    with pytest.raises(EvopinnError, match=r"Plain .*state_tensors.*resume"):
        trained(oscillator, epochs=2, optimizer=Plain())
