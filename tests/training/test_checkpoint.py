"""A checkpoint as a file: what is read is what was written, and damage is noticed."""

import os
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from evopinn.errors import StoredModelError
from evopinn.training import LBFGS, Adam, load_checkpoint, save, save_checkpoint, train
from evopinn.training.lbfgs_memory import BLOCK_ROWS

SMALL = "layers=3 neurons=20 activation=a*tanh(x)"


def ended(problem, **settings):
    """The checkpoint that a training ends with."""
    kept = []
    train(problem, SMALL, on_end=kept.append, **settings)
    (checkpoint,) = kept
    return checkpoint


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("epochs", [0, 12])
def test_what_is_saved_is_loaded_bit_for_bit(oscillator, tmp_path, optimizer, precision, epochs):
    checkpoint = ended(oscillator, epochs=epochs, optimizer=optimizer, precision=precision)
    save_checkpoint(checkpoint, tmp_path / "some" / "where.safetensors")
    again = load_checkpoint(tmp_path / "some" / "where.safetensors")
    for name in ("optimizer", "genome", "epoch", "best_loss", "losses"):
        assert getattr(again, name) == getattr(checkpoint, name)
    assert again.best_theta.dtype == getattr(torch, precision)
    assert torch.equal(again.best_theta, checkpoint.best_theta)
    assert again.state.keys() == checkpoint.state.keys()
    for name, tensor in checkpoint.state.items():
        assert again.state[name].dtype == tensor.dtype
        assert torch.equal(again.state[name], tensor)


def test_there_is_one_file_and_nothing_beside_it(oscillator, tmp_path):
    save_checkpoint(ended(oscillator, epochs=2), tmp_path / "state")
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(oscillator, tmp_path, monkeypatch):
    old, new = (ended(oscillator, epochs=epochs) for epochs in (2, 3))
    save_checkpoint(old, tmp_path / "state")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoredModelError, match=r"state.*No space"):
        save_checkpoint(new, tmp_path / "state")
    assert load_checkpoint(tmp_path / "state").epoch == 2
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_new_name_is_forced_to_disk_after_it_is_there(oscillator, tmp_path, monkeypatch):
    """Without that, a loss of power could take a file away that its writer was told is safe."""
    path = tmp_path / "state"
    forced = []

    def fsync(descriptor):
        forced.append((os.path.samestat(os.fstat(descriptor), tmp_path.stat()), path.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    save_checkpoint(ended(oscillator, epochs=1), path)
    assert forced == [(False, False), (True, True)]


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip_last(path):
    written = bytearray(path.read_bytes())
    written[-1] ^= 1
    path.write_bytes(written)


def flip_genome(path):
    path.write_bytes(path.read_bytes().replace(b'"genome":"layers=3', b'"genome":"layers=4'))


def newer(path):
    path.write_bytes(path.read_bytes().replace(b'"format":"2"', b'"format":"9"'))


def empty(path):
    path.write_bytes(b"")


def text(path):
    path.write_text("not what it says it is, though long enough for a header")


def without_words(path):
    save_file(load_file(path), path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "state .*damaged"),
        (empty, "state .*damaged"),
        (text, "state .*damaged"),
        (flip_last, r"\bstate .*\bdamaged\b.*\bchanged\b"),
        (flip_genome, r"\bstate .*\bdamaged\b.*\bchanged\b"),
        (newer, "state .*format 9.*format 2"),
        (without_words, r"\bstate .*\btensors\b.*\bcheckpoint\b"),
        (os.remove, r"\bfile .*/state\b.*\bcheckpoint\b"),
    ],
)
def test_damage_is_noticed_and_named(oscillator, tmp_path, damage, message):
    path = tmp_path / "state"
    save_checkpoint(ended(oscillator, epochs=12), path)
    shutil.copy(path, tmp_path / "before")
    damage(path)
    with pytest.raises(StoredModelError, match=message):
        load_checkpoint(path)
    assert load_checkpoint(tmp_path / "before").epoch == 12


def test_a_saved_network_and_a_folder_are_no_checkpoints(oscillator, tmp_path):
    weights, _ = save(train(oscillator, SMALL, epochs=1), tmp_path / "model")
    with pytest.raises(StoredModelError, match=rf"{weights} .*\bcheckpoint\b"):
        load_checkpoint(weights)
    with pytest.raises(StoredModelError, match=rf"\bfile {tmp_path}\b.*\bcheckpoint\b"):
        load_checkpoint(tmp_path)


def quartic(theta):
    weights = torch.logspace(0, 4, theta.shape[0], dtype=theta.dtype)
    return float((weights * theta**2 / 2 + theta**4 / 4).sum()), weights * theta + theta**3


def shifted(theta):
    loss, gradient = quartic(theta)
    return loss + float(theta.sum()), gradient + 1


def course(optimizer, objective, state, steps):
    states = [state]
    for _ in range(steps):
        states.append(optimizer.step(objective, states[-1]))
    return states


OPTIMISERS = [LBFGS(), LBFGS(memory=3), LBFGS(memory=BLOCK_ROWS + 7), Adam(rate=0.01)]
START = torch.linspace(-1, 2, 300, dtype=torch.float64)


@pytest.mark.parametrize("optimizer", OPTIMISERS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["double", "single"])
def test_a_state_put_away_and_taken_up_again_makes_the_same_steps_to_the_last_bit(optimizer, dtype):
    length = 2 * BLOCK_ROWS + 30
    states = course(optimizer, quartic, optimizer.init(quartic, START.to(dtype)), length)
    for kept in (0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 1, length - 10):
        tensors = {name: each.clone() for name, each in optimizer.state_tensors(states[kept]).items()}
        again = course(optimizer, quartic, optimizer.resume(quartic, tensors), 10)
        for one, other in zip(again, states[kept:], strict=False):
            assert (one.loss, one.converged) == (other.loss, other.converged)
            assert torch.equal(one.theta, other.theta)
            assert torch.equal(one.gradient, other.gradient)


@pytest.mark.parametrize("memory", [3, BLOCK_ROWS + 7, 100])
def test_remembered_steps_are_cut_into_the_same_pieces_again(memory):
    optimizer = LBFGS(memory=memory)
    states = course(optimizer, quartic, optimizer.init(quartic, START), 2 * BLOCK_ROWS + 30)
    for state in states:
        again = optimizer.resume(quartic, optimizer.state_tensors(state))
        for one, other in ((again.history.s, state.history.s), (again.history.y, state.history.y)):
            assert [len(part) for part in one.parts] == [len(part) for part in other.parts]
            assert (one.end, one.count) == (other.end, other.count)


def test_steps_taken_up_again_do_not_share_memory_with_those_that_go_on():
    """Two continuations of one set of tensors must not write where the other reads."""
    optimizer = LBFGS()
    state = course(optimizer, quartic, optimizer.init(quartic, START), 7)[-1]
    tensors = optimizer.state_tensors(state)
    before = {name: each.clone() for name, each in tensors.items()}
    one = course(optimizer, quartic, optimizer.resume(quartic, tensors), 10)[-1]
    course(optimizer, shifted, optimizer.resume(shifted, tensors), 10)
    again = course(optimizer, quartic, optimizer.resume(quartic, tensors), 10)[-1]
    assert torch.equal(one.theta, again.theta)
    assert all(torch.equal(tensors[name], before[name]) for name in tensors)


@pytest.mark.parametrize("optimizer", [LBFGS(), Adam(rate=0.01)], ids=["lbfgs", "adam"])
def test_where_the_objective_is_another_loss_and_gradient_are_its_own(optimizer):
    state = course(optimizer, quartic, optimizer.init(quartic, START), 7)[-1]
    moved = optimizer.resume(shifted, optimizer.state_tensors(state))
    loss, gradient = shifted(state.theta)
    assert torch.equal(moved.theta, state.theta)
    assert moved.loss == loss != state.loss
    assert torch.equal(moved.gradient, gradient)
    assert optimizer.step(shifted, moved).loss < loss


def test_what_has_converged_on_one_objective_has_not_on_another():
    optimizer = LBFGS()
    state = optimizer.init(quartic, torch.zeros(5, dtype=torch.float64))
    assert state.converged
    tensors = optimizer.state_tensors(state)
    assert optimizer.resume(quartic, tensors).converged
    assert not optimizer.resume(shifted, tensors).converged


def test_lbfgs_sees_its_steps_from_the_new_gradient():
    """The direction is that of steps which were made anew where the gradient is the other."""
    optimizer = LBFGS()
    state = course(optimizer, quartic, optimizer.init(quartic, START), 7)[-1]
    moved = optimizer.resume(shifted, optimizer.state_tensors(state))
    s, y = (torch.cat(rows.parts) for rows in (state.history.s, state.history.y))
    dense = moved.scale * torch.eye(len(START), dtype=torch.float64)
    for step, change in zip(s, y, strict=True):
        curvature = change @ step
        left = torch.eye(len(START), dtype=torch.float64) - torch.outer(step, change) / curvature
        dense = left @ dense @ left.T + torch.outer(step, step) / curvature
    assert torch.allclose(
        moved.history.descent(moved.gradient, moved.scale), -dense @ moved.gradient, rtol=1e-9
    )
