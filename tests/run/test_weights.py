import os

import pytest

from evopinn.errors import StoredModelError
from evopinn.store.kept_networks import kept_weights
from evopinn.store.store import Store
from evopinn.store.weights import load_weights, prune_weights, save_weights
from evopinn.training import train


@pytest.fixture(scope="module")
def result(request):
    return train(request.getfixturevalue("oscillator"), "layers=2 neurons=20 activation=tanh(x)", epochs=3)


@pytest.fixture
def directory(tmp_path):
    Store.create(tmp_path / "run", "", {}).close()
    return tmp_path / "run"


def test_weights_are_kept_under_the_numbers_of_tasks(directory, result):
    for number in (3, 41, 100_000):
        save_weights(directory, number, result)
    assert kept_weights(directory) == {3, 41, 100_000}
    assert load_weights(directory, 41).theta.equal(result.theta)
    with pytest.raises(StoredModelError, match=r"\b00000004\."):
        load_weights(directory, 4)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_weights_may_be_read_by_whom_the_user_lets_read(directory, result, mask, mode):
    before = os.umask(mask)
    try:
        save_weights(directory, 3, result)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (directory / "weights").iterdir()} == {mode}


def test_pruning_leaves_what_is_kept_and_nothing_half_written(directory, result):
    for number in (3, 41, 100_000):
        save_weights(directory, number, result)
    (directory / "weights" / ".00000007.safetensors.123.tmp").touch()
    (directory / "weights" / "00000008.safetensors").touch()
    prune_weights(directory, {41, 3, 9})
    assert kept_weights(directory) == {3, 41}
    assert len(list((directory / "weights").iterdir())) == 4
    assert load_weights(directory, 3).loss == result.loss


def test_weights_that_were_cut_short_are_refused(directory, result):
    save_weights(directory, 3, result)
    path = directory / "weights" / "00000003.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StoredModelError, match="damaged"):
        load_weights(directory, 3)
