"""Saved networks and checkpoints: whatever is in their files, they are loaded as they were or refused."""

import hashlib
import json
import os

import numpy as np
import pytest
import torch
from fuzzing import HUGE, LAW, mutated_bytes, mutated_tree, tries
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from evopinn.training import load, load_checkpoint, save_checkpoint, train
from evopinn.training import save as save_model
from evopinn.training.checkpoint import _digest
from evopinn.view.terminal.run_summary import as_text
from evopinn.view.terminal.training_tables import training_data, training_facts

GENOME = "layers=3 neurons=2 shortcuts=0-2 activation=a*tanh(x)"
DTYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.bool,
    torch.complex64,
)
SHAPES = ((), (0,), (1,), (2,), (2, 2), (2, 2, 1), (1000,))


class Saved:
    """A network and a checkpoint that were saved, and where to put changed ones."""

    def __init__(self, place, problem):
        self.model, self.checkpoint = place / "model", place / "state.safetensors"
        result = train(
            problem, GENOME, epochs=2, on_end=lambda state: save_checkpoint(state, self.checkpoint)
        )
        weights, sidecar = save_model(result, self.model)
        self.weights, self.sidecar = weights.read_bytes(), sidecar.read_text()
        self.tensors = result.layout.unpack(result.theta)
        self.state = self.checkpoint.read_bytes()

    def put(self, weights, sidecar):
        """Write both files; the digest is right, so that damage gets further than that."""
        self.model.with_suffix(".safetensors").write_bytes(weights)
        self.model.with_suffix(".json").write_text(sidecar, errors="surrogatepass")

    def described(self, weights, **changes):
        digest = hashlib.sha256(weights).hexdigest()
        return json.dumps(json.loads(self.sidecar) | {"weights_sha256": digest} | changes)

    def use(self):
        """Load the network and do with it what people do."""
        result = load(self.model)
        assert result.predict(np.zeros((3, len(result.coordinates)))).shape == (3, len(result.fields))
        assert repr(result)
        assert result.latex()
        assert as_text(training_facts(result, []).rich())
        json.dumps(training_data(result), allow_nan=False)
        save_model(result, self.model.with_name("again"))


@pytest.fixture(scope="module")
def saved(tmp_path_factory, oscillator):
    return Saved(tmp_path_factory.mktemp("saved"), oscillator)


def test_what_was_saved_is_used(saved):
    saved.put(saved.weights, saved.sidecar)
    saved.use()


def test_a_sidecar_with_anything_in_it_is_read_or_refused(saved):
    data = json.loads(saved.sidecar)

    @tries(150, 2000)
    @given(mutated_tree(data) | mutated_tree(data["genome"]).map(lambda genome: data | {"genome": genome}))
    def hold(changed):
        saved.put(saved.weights, dumped(changed))
        LAW.holds(saved.use)

    hold()


def dumped(data):
    """Plain data as JSON; in place of a number that Python does not write, a file of that alone."""
    try:
        return json.dumps(data)
    except ValueError:
        return f'{{"format": {"9" * 5000}}}'


def test_a_sidecar_of_any_bytes_is_read_or_refused(saved):
    @tries(60, 600)
    @given(mutated_bytes(saved.sidecar.encode()) | st.binary())
    def hold(content):
        saved.put(saved.weights, "")
        saved.model.with_suffix(".json").write_bytes(content)
        LAW.holds(saved.use)

    hold()


def test_tensors_of_any_bytes_are_read_or_refused(saved):
    @tries(60, 600)
    @given(mutated_bytes(saved.weights) | st.binary())
    def hold(content):
        saved.put(content, saved.described(content))
        LAW.holds(saved.use)

    hold()


TENSOR = st.builds(
    lambda shape, dtype, value: torch.full(shape, value, dtype=torch.float64).to(dtype),
    st.sampled_from(SHAPES),
    st.sampled_from(DTYPES),
    st.sampled_from([0.0, 1.0, float("nan"), float("inf"), 1e300]),
)


@tries(60, 500)
@given(data=st.data())
def test_other_tensors_are_taken_or_refused(saved, data):
    names = st.sampled_from([*saved.tensors, "", "layers.0.weight\0", "x" * 300])
    changed = dict(saved.tensors) | data.draw(st.dictionaries(names, TENSOR, max_size=3))
    for name in data.draw(st.lists(st.sampled_from(list(saved.tensors)), max_size=2)):
        changed[name] = saved.tensors[name].to(data.draw(st.sampled_from(DTYPES)))
    content = save({name: tensor.contiguous() for name, tensor in changed.items()})
    saved.put(content, saved.described(content))
    LAW.holds(saved.use)


@pytest.mark.parametrize("huge", HUGE)
def test_too_much_of_something_is_refused_soon(saved, huge):
    for text in (
        HUGE[huge],
        f'{{"format": {HUGE[huge]}}}',
        saved.sidecar.replace('"heat"', f'"{HUGE[huge]}"'),
    ):
        saved.put(saved.weights, text)
        LAW.holds(saved.use)


def test_a_checkpoint_of_any_bytes_is_read_or_refused(saved):
    @tries(60, 600)
    @given(mutated_bytes(saved.state) | st.binary())
    def hold(content):
        saved.checkpoint.write_bytes(content)
        LAW.holds(load_checkpoint, saved.checkpoint)

    hold()


WORDS = {"format": "2", "optimizer": "lbfgs", "genome": GENOME}


@tries(60, 500)
@given(data=st.data())
def test_a_checkpoint_of_other_tensors_is_taken_or_refused(saved, data):
    """Also one whose digest is right: it was made, not damaged."""
    names = ("losses", "epochs", "best.loss", "best.theta", "state.theta")
    tensors = data.draw(st.dictionaries(st.sampled_from(names), TENSOR, min_size=3))
    words = {name: word for name, word in WORDS.items() if data.draw(st.integers(0, 9))}
    if not any(tensor.dtype == torch.bfloat16 for tensor in tensors.values()):
        words["digest"] = _digest(words, tensors)
    saved.checkpoint.write_bytes(save(tensors, words | {"digest": words.get("digest", "")}))
    checkpoint = LAW.holds(load_checkpoint, saved.checkpoint)
    assert checkpoint is None or checkpoint.epoch is not None


@pytest.mark.parametrize("ending", ["json", "safetensors"])
@pytest.mark.parametrize("make", ["directory", "loop", "pipe", "device", "nothing"])
def test_what_is_no_file_is_refused_and_not_waited_for(saved, ending, make):
    saved.put(saved.weights, saved.sidecar)
    path = saved.model.with_suffix(f".{ending}")
    path.unlink()
    match make:
        case "directory":
            path.mkdir()
        case "loop":
            path.symlink_to(path)
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
    refused = LAW.refused
    LAW.holds(load, saved.model)
    LAW.holds(load_checkpoint, path)
    assert LAW.refused == refused + 2
    if make == "directory":
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "\ud800", "", "."])
def test_a_name_that_no_file_has_is_refused(name):
    refused = LAW.refused
    LAW.holds(load, name)
    LAW.holds(load_checkpoint, name)
    assert LAW.refused == refused + 2
