"""How often the host waits for a device: on one that has shapes and no numbers, whatever is read raises."""

import itertools

import pytest
import torch

from evopinn.catalogue import find_problem
from evopinn.engine import TaylorEngine, autograd, plan, taylor
from evopinn.engine.protocol import read_numbers, read_together
from evopinn.genome import Genome
from evopinn.training import LBFGS, LM, Adam, Status, lbfgs, levenberg, linearised, optimiser, recorder, train
from evopinn.training.adam import AdamState
from evopinn.training.chain import Chain, ChainStage
from evopinn.training.limits import Budgeted

GENOME = Genome.parse("layers=3 neurons=5 shortcuts=0-2 activation=tanh(x)-a*sin(x)")
BURGERS = find_problem("burgers").coarsened(6)
STEEP = Genome.parse("layers=3 neurons=5 activation=exp(x)")


@pytest.fixture
def objective(monkeypatch):
    """Loss and gradient on a device that nothing can be read from."""
    monkeypatch.setattr(plan, "_same_sides", lambda first, second: False)  # found out once, from numbers
    engine = TaylorEngine(BURGERS, GENOME, torch.float64, "meta")
    return Budgeted(engine, clock=lambda: 0.0)


@pytest.fixture
def theta(objective):
    return torch.zeros(objective._objective.layout.size, dtype=torch.float64, device="meta")


@pytest.fixture
def reads(monkeypatch):
    """How many numbers were read each time; they are made up so that the loss falls at every trial."""
    losses = (0.5**power for power in itertools.count())
    made_up = {
        "state": lambda: [next(losses), 1.0],
        "direction": lambda: [-1.0, 1.0, 1.0],
        "trial": lambda: [next(losses), -0.1, 1.0, 1.0, 1.0],
    }
    by_count = {2: "state", 3: "direction", 5: "trial"}
    counts = []

    def read(*numbers):
        counts.append(len(numbers))
        if len(numbers) == 1:
            # Whether something failed or goes on, how large a gradient is, or a loss.
            whole = numbers[0].dtype in (torch.int32, torch.bool)
            return [0.0] if whole else [next(losses)]
        return made_up[by_count[len(numbers)]]()

    for module in (lbfgs, levenberg, linearised, optimiser):
        monkeypatch.setattr(module, "read_numbers", read)
    return counts


def test_numbers_are_fetched_together_and_in_order():
    there = torch.tensor([2.0, 3.0], dtype=torch.float32)
    assert read_numbers(0.1, there[1], True, there[0]) == [0.1, 3.0, 1.0, 2.0]
    assert read_numbers(there[0], torch.tensor(True), torch.tensor(0.1, dtype=torch.float64)) == [
        2.0,
        1.0,
        0.1,
    ]
    assert read_numbers() == []
    assert read_together([torch.tensor(True), there[1], torch.tensor(0.1, dtype=torch.float64)]) == [
        1.0,
        3.0,
        0.1,
    ]
    with pytest.raises(NotImplementedError):  # what is elsewhere is copied from there, for once
        read_numbers(0.5, there[0].to("meta"), there[1].to("meta"))


def test_adam_steps_without_reading_anything(objective, theta):
    state = AdamState(theta, 1.0, objective(theta)[1])
    for _ in range(3):
        state = Adam().step(objective, state)
    assert (state.steps, state.unread.device.type) == (3, "meta")


def test_lbfgs_reads_once_for_a_direction_and_once_for_a_trial(objective, theta, reads):
    state = LBFGS().init(objective, theta)
    assert reads == [2]
    for _ in range(3):
        state = LBFGS().step(objective, state)
    assert reads == [2] + 3 * [3, 5]
    assert len(state.history) == 3


def test_lm_reads_two_numbers_for_a_damping_and_one_for_a_step(objective, theta, reads):
    state = LM().init(objective, theta)
    assert reads == [2]
    for _ in range(3):
        state = LM().step(objective, state)
    assert reads == [2] + 3 * [1, 1, 1]


def test_lm_without_its_jacobian_reads_one_number_for_an_iteration(objective, theta, reads):
    method = LM(memory=1.0)
    state = method.step(objective, method.init(objective, theta))
    assert reads == [2, 1, 1, 1, 1]  # two systems that are solved at once, the loss, the gradient
    assert state.loss == 0.5


@pytest.fixture
def left_there(monkeypatch):
    """Losses as they come from a device."""
    for module in (taylor, autograd):
        monkeypatch.setattr(module, "read_if_free", lambda number: number)


def outcome(result):
    theta, history = result.theta.tolist(), repr(result.history)  # not-a-number is not equal to itself
    return theta, result.loss, result.status, result.epochs, history, result.settings["remark"]


CHAIN = Chain("adam:7+lm", (ChainStage(Adam(), 7), ChainStage(LM())))
CASES = {
    "adam": {"optimizer": "adam", "epochs": 75, "errors_every": 10},
    "a chain": {"optimizer": CHAIN, "epochs": 40},
    "lbfgs": {"optimizer": "lbfgs", "epochs": 20},
    "few evaluations": {"optimizer": "adam", "epochs": 75, "max_evaluations": 41},
    "one that overflows": {"optimizer": Adam(rate=1.0), "epochs": 75, "problem": BURGERS, "genome": STEEP},
}


@pytest.mark.parametrize("name", CASES)
def test_losses_that_are_read_late_change_nothing(name, oscillator, request):
    settings = {"problem": oscillator, "genome": GENOME, "engine": "taylor", "seed": 3} | CASES[name]
    usual, kept = outcome(train(**settings)), []
    request.getfixturevalue("left_there")
    late = outcome(train(**settings, on_end=kept.append))
    assert late == usual
    assert (late[2] is Status.NOT_FINITE) == (name == "one that overflows") == (not kept)
    assert all(torch.isfinite(each.state.get("loss", torch.tensor(0.0))) for each in kept)


def test_losses_on_a_device_are_read_some_steps_at_a_time(oscillator, left_there, monkeypatch):
    together = []
    settle = recorder.read_states
    monkeypatch.setattr(
        recorder, "read_states", lambda states: together.append(len(states)) or settle(states)
    )
    train(oscillator, GENOME, optimizer="adam", epochs=75, engine="taylor")
    assert [count for count in together if count] == [1, 32, 32, 11]
