import itertools
import os
import re
import signal
from functools import partial

import numpy as np
import pytest
import torch

from evopinn import training
from evopinn.engine import AutogradEngine
from evopinn.errors import EvopinnError, TrainingError
from evopinn.genome import Genome, published_model
from evopinn.problem import Boundary, Grid, Interval, Problem
from evopinn.training import LBFGS, Adam, Status
from evopinn.training.duration import parse_duration

SMALL = Genome.parse("layers=3 neurons=20 activation=tanh(x)")
train = partial(training.train, optimizer="lbfgs")
"""An optimiser whose steps are epochs, which is easiest to count with."""


def ticking(seconds):
    """A clock that goes on by a fixed time at each look."""
    return map(float, itertools.count(0, seconds)).__next__


def test_training_solves_an_easy_problem(oscillator):
    result = train(oscillator, SMALL, epochs=200, seed=1)
    assert result.status in (Status.FINISHED, Status.CONVERGED)
    assert result.errors["u"] < 1e-4
    assert result.loss == min(result.history.losses)
    points = np.linspace(0, 1, 7)[:, None]
    assert np.allclose(result.predict(points), np.cos(points), atol=1e-3)


def test_adam_lowers_the_loss_too(oscillator):
    result = train(oscillator, SMALL, epochs=300, optimizer=Adam(rate=0.01))
    assert result.optimizer == "adam"
    assert result.loss < result.history.losses[0] / 100
    assert result.evaluations == 301


def test_a_genome_may_be_given_as_text_and_an_optimiser_by_name(oscillator):
    result = train(oscillator, str(SMALL), epochs=2, optimizer="adam")
    assert result.genome == SMALL


def test_the_history_has_a_loss_per_epoch_and_errors_now_and_then(oscillator):
    result = train(oscillator, SMALL, epochs=25, errors_every=10)
    assert len(result.history.losses) == 26
    assert result.history.error_epochs == (0, 10, 20, 25)
    assert result.history.errors["u"][-1] == result.errors["u"]


def test_progress_is_told_after_each_epoch(oscillator):
    seen = []
    train(oscillator, SMALL, epochs=5, errors_every=2, on_progress=seen.append)
    assert [now.epoch for now in seen] == [0, 1, 2, 3, 4, 5]
    assert [now.errors_epoch for now in seen] == [0, 0, 2, 2, 4, 5]
    assert all(now.epochs == 5 and "u" in now.errors for now in seen)


def test_a_seed_means_one_result(oscillator):
    first, second, other = (train(oscillator, SMALL, epochs=20, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(first.theta, second.theta)
    assert first.history == second.history
    assert not torch.equal(first.theta, other.theta)


def test_the_engines_train_alike(transport):
    one, other = (train(transport, SMALL, epochs=10, engine=name) for name in ("autograd", "taylor"))
    assert one.history.losses == pytest.approx(other.history.losses, rel=1e-6)


def test_single_precision(oscillator):
    result = train(oscillator, SMALL, epochs=20, precision="float32")
    assert result.theta.dtype == torch.float32
    assert result.loss < result.history.losses[0]


def broken(function):
    return Problem(
        domain=Interval(0, 1),
        fields=["u"],
        residual=function,
        conditions=[],
        scale=False,
        points=Grid(interior=5),
        name="broken",
    )


def test_a_loss_that_is_not_a_number_is_a_status():
    result = train(broken(lambda u: torch.log(abs(u) - 0.4)), SMALL, epochs=10)
    assert result.status is Status.NOT_FINITE
    assert result.status.failed
    assert result.epochs == 0


def test_a_loss_that_overflows_is_a_status():
    result = train(broken(lambda u: 1e300 * (u.x + 1e3)), SMALL, epochs=10)
    assert result.status is Status.NOT_FINITE


def test_a_gradient_that_is_not_a_number_is_a_status():
    result = train(broken(lambda u: torch.sqrt(torch.abs(u * 0)) + u), SMALL, epochs=10)
    assert result.status is Status.NOT_FINITE


def test_an_activation_that_overflows_is_a_status(oscillator):
    result = train(oscillator, "layers=11 neurons=50 activation=exp(exp(exp(x)))", epochs=10)
    assert result.status.failed
    assert not np.isfinite(result.loss)


def test_the_step_budget_ends_it_in_the_middle_of_a_line_search(oscillator):
    result = train(oscillator, SMALL, epochs=1000, max_evaluations=17)
    assert result.status is Status.STEP_BUDGET
    assert result.evaluations == 17
    assert result.loss == min(result.history.losses)


def test_the_time_limit_is_kept(oscillator):
    clock = ticking(1.0)
    result = train(oscillator, SMALL, epochs=1000, time_limit="20s", clock=clock)
    assert result.status is Status.TIME_LIMIT
    assert 0 < result.evaluations < 12
    assert clock() <= 20 + 8  # the clock also ticks while the result is put together


def test_an_evaluation_that_would_end_too_late_is_not_begun(oscillator):
    times = iter([0.0, 1.0, 9.0, 9.5, 10.0, 12.5, 13.0, 13.5, 14.0, 14.5, 15.0])
    result = train(oscillator, SMALL, epochs=1000, time_limit=15, clock=lambda: next(times))
    assert result.status is Status.TIME_LIMIT
    assert result.evaluations == 1


def test_a_time_limit_before_the_first_evaluation_leaves_a_result(oscillator):
    result = train(oscillator, SMALL, epochs=5, time_limit=1, clock=ticking(2.0))
    assert result.status is Status.TIME_LIMIT
    assert np.isnan(result.loss)
    assert result.errors["u"] > 0


def test_ctrl_c_keeps_the_result(oscillator, monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored where we are run

    def interrupt_at_seven(now):
        if now.epoch == 7:
            os.kill(os.getpid(), signal.SIGINT)

    try:
        result = train(oscillator, SMALL, epochs=1000, on_progress=interrupt_at_seven)
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.status is Status.INTERRUPTED
    assert result.epochs >= 7
    assert result.loss < result.history.losses[0]


def test_no_epochs_is_an_evaluation(oscillator):
    result = train(oscillator, SMALL, epochs=0)
    assert result.status is Status.FINISHED
    assert len(result.history.losses) == 1


def test_convergence_ends_it_early():
    problem = broken(lambda u: u)
    result = train(problem, "layers=3 neurons=20 activation=x", epochs=5000, optimizer=LBFGS())
    assert result.status is Status.CONVERGED
    assert result.epochs < 5000
    assert result.loss < 1e-12


def test_the_errors_of_the_result_are_those_of_its_parameters(oscillator):
    """Adam at a huge rate ends worse than it was: the best state is kept, and the history stays the truth."""
    result = train(oscillator, SMALL, epochs=30, optimizer=Adam(rate=0.5), errors_every=1)
    best = int(np.argmin(result.history.losses))
    assert best < 30
    assert result.loss == result.history.losses[best]
    assert result.errors["u"] == result.history.errors["u"][best]
    assert result.history.error_epochs == tuple(range(31))


def test_a_problem_may_be_given_by_name(oscillator):
    assert train("euler-bernoulli", SMALL, epochs=0).problem == "euler-bernoulli"


def test_a_published_model_may_be_given_by_name_or_itself():
    for genome in ("paper:bo-fcresnet-3", published_model("burgers", "bo-fcresnet-3")):
        result = train("burgers", genome, max_evaluations=1)
        assert result.genome.structure.shortcuts == ((0, 2),)
    with pytest.raises(EvopinnError, match="paper:klein-gordon/evo-dpste-1"):
        train("heat", "paper:evo-dpste-1")


def test_a_result_is_told_in_a_line(oscillator):
    text = repr(train(oscillator, SMALL, epochs=3))
    assert "problem='oscillator'" in text
    assert "errors={u: " in text
    assert len(text) < 300


def test_numpy_integers_are_whole_numbers(oscillator):
    assert train(oscillator, SMALL, epochs=np.int64(2)).epochs == 2


@pytest.mark.parametrize(
    ("problem", "genome", "message"),
    [
        (3, str(SMALL), r"\bproblem is a int\b.* Problem\b"),
        ("heat", None, r"\bgenome is a NoneType\b.* Genome\b.*\bactivation="),
        ("heta", str(SMALL), "heat"),
    ],
)
def test_what_is_neither_problem_nor_genome_is_refused(problem, genome, message):
    with pytest.raises(EvopinnError, match=message):
        train(problem, genome)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"epochs": -1}, r"\bepochs is -1\b.*\bat least 0\b"),
        ({"epochs": 1.5}, r"\bepochs is 1\.5\b.*\bwhole number\b"),
        ({"seed": -1}, r"\bseed is -1\b.*\bat least 0\b"),
        ({"errors_every": 0}, r"\berrors_every is 0\b.*\bat least 1\b"),
        ({"time_limit": 0}, r"\btime_limit is 0\.0\b.*\bpositive\b"),
        ({"time_limit": "soon"}, r"'soon' .*\bduration\b.* 20s\b.* 2h\b"),
        ({"max_evaluations": 0}, r"\bmax_evaluations is 0\b.*\bat least 1\b"),
        ({"optimizer": "lbgfs"}, r"\boptimizer .*'lbgfs'.* lbfgs\?.*\badam, lm\b"),
        ({"precision": "float16"}, r"\bprecision .*'float16'.*\bfloat64, float32\b"),
        ({"precision": torch.float32}, r"\bprecision .*'torch\.float32'.*\bfloat64, float32\b"),
        ({"optimizer": Adam}, r"\boptimizer is .*\bAdam\b.*\blbfgs or adam or lm\b.*\bAdam\("),
        ({"optimizer": 3}, r"\boptimizer is 3\b.*\blbfgs or adam or lm\b"),
        ({"engine": "tailor"}, r"\bengine .*'tailor'.* taylor\?.*\bauto, autograd, taylor, fused\b"),
        ({"device": "meta"}, r"\bdevice 'meta'.*\bcpu\b"),
        ({"device": "warp"}, r"\bdevice 'warp'.*\bcpu\b"),
        ({"time_limit": [1]}, r"\[1\] .*\bduration\b.* 20s\b.* 2h\b"),
    ],
)
def test_settings_that_make_no_sense_are_refused(oscillator, setting, message):
    with pytest.raises(EvopinnError, match=message):
        train(oscillator, SMALL, **setting)


def test_points_of_the_wrong_shape_are_refused(oscillator):
    result = train(oscillator, SMALL, epochs=0)
    with pytest.raises(TrainingError, match=r"shape \(3,\).*\(n, 1\).* x\.$"):
        result.predict([0.0, 0.5, 1.0])
    with pytest.raises(TrainingError, match=r"predict .*dict"):
        result.predict({"x": [0.0]})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20s", 20),
        ("10m", 600),
        ("10 min", 600),
        ("1h30m", 5400),
        ("2h", 7200),
        ("1.5", 1.5),
        (".5m", 30),
        (3, 3),
        ("2 minutes", 120),
        ("1 day", 86400),
        ("500ms", 0.5),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "10 parsecs", "-5s", "0s", "1m!"])
def test_what_is_no_duration(text):
    with pytest.raises(TrainingError, match=f"{re.escape(repr(text))} .*20s"):
        parse_duration(text)


def test_the_residual_on_other_points_is_told(transport):
    result = train(transport, SMALL, epochs=40)
    engine = AutogradEngine(transport, SMALL)
    equation = transport.terms()[0]
    rows = engine.residuals(result.theta)[: equation.components * equation.count]
    assert result.residuals["training"] == pytest.approx(float(rows.square().sum().sqrt()), rel=1e-9)
    assert 0.1 < result.residuals["held_out"] / result.residuals["training"] < 10
    assert not result.overfitted


def test_an_overfitted_network_is_recognised():
    problem = Problem(
        domain=Interval(0, 6),
        fields=["u"],
        residual=lambda u, x: u.xx + u,
        conditions=[Boundary(lambda u, x: u - x)],
        scale=False,
        points=Grid(interior=6, boundary=2),
    )
    result = train(problem, "layers=4 neurons=20 activation=sin(x)", optimizer="lm", epochs=50)
    assert result.loss < 1e-20
    assert result.residuals["held_out"] > 1
    assert result.overfitted
