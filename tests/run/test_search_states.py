"""States that trainings go on from: lost ones are made again; a disk that fails is no genome's fault."""

import errno
import os
import shutil
from dataclasses import replace

import pytest
from searches import PROBLEM, assert_same_end, attempts, settled_count

import evopinn as ep
from evopinn.errors import RunError
from evopinn.run.checkpoints import CHECKPOINTS, Checkpoints
from evopinn.run.stopping import StopRequest
from evopinn.store.reader import Reader
from evopinn.training import TrainingOptions
from evopinn.workers.evaluation import Assignment, StorageFailure, Trainer
from evopinn.workers.pool import Outcome
from evopinn.workers.problem_source import ProblemSource

POPULATIONS, EPOCHS = (6, 4, 4), (5, 10, 15)
GENOME = "layers=3 neurons=5 activation=tanh(x)"


def searched(directory):
    return ep.search(
        PROBLEM,
        schedule=ep.Schedule(POPULATIONS, EPOCHS),
        settings={"candidates": 1, "evaluations": 1, "continue_elitists": True},
        seed=1,
        workers=1,
        run=directory,
        progress=False,
    )


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A run that was stopped after its second generation, whose elitists continued earlier trainings."""
    count = POPULATIONS[0] + POPULATIONS[1] + 1
    with monkeypatch.context() as patched:
        patched.setattr(StopRequest, "__call__", lambda _: settled_count(tmp_path / "run") >= count)
        assert searched(tmp_path / "run").state == "stopped"
    return tmp_path / "run"


def damage(path):
    path.write_bytes(path.read_bytes()[:-8] + b"12345678")


def test_states_that_are_lost_are_made_again(tmp_path, stopped):
    searched(tmp_path / "undisturbed")
    kept = sorted((stopped / CHECKPOINTS).iterdir())
    assert kept
    for number, path in enumerate(kept):
        (damage if number else type(path).unlink)(path)
    searched(stopped)
    assert_same_end(stopped, tmp_path / "undisturbed")
    with Reader(stopped) as reader:
        tasks = [reader.task(entry.task) for entry in attempts(stopped)]
    assert any(task.continues is not None and tasks[task.continues].continues is not None for task in tasks)


@pytest.fixture
def trainer():
    return Trainer(ProblemSource(PROBLEM), TrainingOptions(optimizer="lbfgs"))


@pytest.mark.parametrize("lost", [["second"], ["first", "second"], []])
def test_a_training_goes_on_from_what_is_left(trainer, tmp_path, lost):
    """Trained for 5, 10 and 15 epochs, the first ones on fewer points: the same bits whatever was lost."""
    first = Assignment(GENOME, 5, seed=1, coarseness=2.0, keep=tmp_path / "first")
    second = Assignment(GENOME, 10, seed=2, before=(first,), keep=tmp_path / "second")
    third = Assignment(GENOME, 15, seed=3, before=(second, first))
    trainer(first)
    trainer(second)
    expected = trainer(third)
    for name in lost:
        damage(tmp_path / name)
    again = trainer(third)
    assert expected.settings["start_epoch"] == 10
    assert again.history == expected.history
    assert again.theta.equal(expected.theta)


def test_a_state_that_cannot_be_kept_is_trouble(trainer, tmp_path):
    (tmp_path / "file").touch()
    answer = trainer(Assignment(GENOME, 2, seed=1, keep=tmp_path / "file" / "state"))
    assert isinstance(answer, StorageFailure)
    assert str(tmp_path / "file" / "state") in answer.text


class FullDisk:
    """In the place of workers: there is no room for the state of any training."""

    outstanding = 0

    @property
    def room(self):
        return 2 - self.outstanding

    def submit(self, number, _work, _seconds, _expected=None):
        self.outstanding += 1
        self._number = number

    def wait(self, timeout):
        del timeout
        return [Outcome(self._number, 1, 1, 0.1, StorageFailure("there is no room."))]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_a_disk_that_fails_ends_the_session_and_is_not_recorded(stopped, monkeypatch):
    before = repr(attempts(stopped))  # a not-a-number is not equal to itself
    monkeypatch.setattr("evopinn.run.session.LocalPool", lambda *_, **__: FullDisk())
    with pytest.raises(RunError, match=r"there is no room\."):
        searched(stopped)
    assert repr(attempts(stopped)) == before


def test_a_place_for_states_that_is_none_is_named(stopped):
    states = stopped / CHECKPOINTS
    shutil.rmtree(states)
    states.touch()
    with pytest.raises(RunError, match=rf"checkpoints .*: {os.strerror(errno.EEXIST)}\."):
        searched(stopped)


def test_no_state_is_kept_that_nobody_needs(stopped):
    """None of the last generation, none of the final evaluations, and none once all is done."""
    with Reader(stopped) as reader:
        task = reader.task(0)
    checkpoints = Checkpoints(stopped, 2, last=3)
    for generation, kept in [(1, True), (2, True), (3, False), (4, False)]:
        asked = checkpoints.assignment(replace(task, generation=generation))
        assert (asked.keep is not None) is kept
    assert searched(stopped).state == "finished"
    assert not (stopped / CHECKPOINTS).exists()
