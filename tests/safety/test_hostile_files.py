"""Files that were made to run code when they are opened: they are refused, and nothing of theirs happens."""

import io
import json
import os
import pickle
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch

import evopinn as ep
from evopinn.engine.fused import compiler
from evopinn.errors import EvopinnError, GenomeSyntaxError, ProblemError, SearchError, StoredModelError
from evopinn.genome import Activation, Genome, Space
from evopinn.problem.reference import Reference
from evopinn.run.budget_plan import known_plan
from evopinn.run.config import Config, read_config
from evopinn.store.directory import DATABASE
from evopinn.store.store import Store
from evopinn.training import load, load_checkpoint, parse_duration, save, train

GENOME = "layers=3 neurons=2 activation=a*tanh(x)"


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


@pytest.fixture
def mark(tmp_path):
    """A file that is there if something was run; so a test can fail."""
    mark = tmp_path / "was-run"
    pickle.loads(pickle.dumps(Payload(mark)))
    assert mark.exists()
    mark.unlink()
    yield mark
    assert not mark.exists()


def payloads(mark):
    """The same pickle as a file by itself, as torch's, in an archive, and as an array of NumPy's."""
    plain = pickle.dumps(Payload(mark))
    stored, archive, array = io.BytesIO(), io.BytesIO(), io.BytesIO()
    torch.save({"theta": Payload(mark)}, stored)
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("model/data.pkl", plain)
    np.save(array, np.array([Payload(mark)], dtype=object), allow_pickle=True)
    return {
        "pickle": plain,
        "torch": stored.getvalue(),
        "archive": archive.getvalue(),
        "numpy": array.getvalue(),
    }


KINDS = ("pickle", "torch", "archive", "numpy")


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_in_the_place_of_tensors_is_not_run(mark, tmp_path, oscillator, kind):
    content = payloads(mark)[kind]
    weights, sidecar = save(train(oscillator, GENOME, epochs=0), tmp_path / "model")
    weights.write_bytes(content)
    described = json.loads(sidecar.read_text()) | {"weights_sha256": sha256(content).hexdigest()}
    sidecar.write_text(json.dumps(described))
    with pytest.raises(StoredModelError, match="damaged"):
        load(tmp_path / "model")
    with pytest.raises(StoredModelError, match="damaged"):
        load_checkpoint(weights)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_in_the_place_of_a_sidecar_a_run_or_a_configuration_is_not_run(
    mark, tmp_path, oscillator, kind
):
    content = payloads(mark)[kind]
    _, sidecar = save(train(oscillator, GENOME, epochs=0), tmp_path / "model")
    sidecar.write_bytes(content)
    with pytest.raises(StoredModelError, match="damaged"):
        load(tmp_path / "model")
    Store.create(tmp_path / "run", 'problem = "heat"', {}).close()
    (tmp_path / "run" / DATABASE).write_bytes(content)
    with pytest.raises(EvopinnError):
        ep.load(tmp_path / "run").summary()
    (tmp_path / "mine.toml").write_bytes(content)
    with pytest.raises(SearchError):
        Config.of(read_config(tmp_path / "mine.toml"))


def test_an_array_of_objects_is_not_read_as_a_reference(mark, tmp_path):
    np.savez(tmp_path / "reference.npz", x=np.array([Payload(mark)], dtype=object), u=np.zeros(1))
    with pytest.raises(ProblemError, match=r"reference\.npz .*numbers"):
        Reference.load(tmp_path / "reference.npz")
    for kind, content in payloads(mark).items():
        (tmp_path / kind).write_bytes(content)
        with pytest.raises(ProblemError, match=rf"\b{kind} .*\bnumbers\b"):
            Reference.load(tmp_path / kind)


CODE = (
    "__import__('os').system('touch {mark}')",
    "exec(\"open('{mark}', 'w')\")",
    "eval(compile('1', '', 'eval'))",
    "(lambda: open('{mark}', 'w'))()",
    "tanh.__class__.__mro__",
    "x.__class__",
    "tanh(x);import os",
    "[c for c in ().__class__.__base__.__subclasses__()]",
    "!!python/object/apply:os.system ['touch {mark}']",
    "${{jndi:ldap://x}}",
    "{{{{ cycler.__init__.__globals__.os.system('touch {mark}') }}}}",
)


@pytest.mark.parametrize("text", CODE)
def test_code_in_a_text_is_a_mistake_and_not_run(mark, text):
    code = text.format(mark=mark)
    for parse in (Activation.parse, Genome.parse, Space.parse):
        with pytest.raises(GenomeSyntaxError):
            parse(code)
    with pytest.raises(GenomeSyntaxError):
        Genome.parse(f"layers=3 neurons=20 activation={code}")
    with pytest.raises(EvopinnError):
        parse_duration(code)
    with pytest.raises(EvopinnError):
        Genome.from_json({"layers": 3, "neurons": 2, "shortcuts": [], "activation": {"operator": code}})
    for entry in ("budget", "method", "preset", "space"):
        with pytest.raises(EvopinnError):
            known_plan(Config.of({"problem": "heat", entry: code}), 1)


TAGS = ({"py/object": "os.system"}, {"__class__": "os.system"}, {"!!python/object/apply:os.system": ["id"]})


@pytest.mark.parametrize("tag", TAGS)
def test_json_that_names_classes_is_only_data(mark, tmp_path, oscillator, tag):
    _, sidecar = save(train(oscillator, GENOME, epochs=0), tmp_path / "model")
    data = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps(data | {"genome": tag}))
    with pytest.raises(StoredModelError):
        load(tmp_path / "model")
    sidecar.write_text(json.dumps(data | {"settings": tag}))
    assert load(tmp_path / "model").settings == tag


@pytest.mark.skipif(os.name != "posix", reason="rights of files are others there")
@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_machine_code_that_others_may_have_written_is_not_read(tmp_path, mode):
    file = tmp_path / ("0" * 64)
    compiler._write(file, b"code")
    assert compiler._read(file) == b"code"
    file.chmod(mode)
    assert compiler._read(file) is None


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only the superuser gives files away"
)
def test_machine_code_of_somebody_else_is_not_read(tmp_path):
    file = tmp_path / ("0" * 64)
    compiler._write(file, b"code")
    os.chown(file, 65534, 65534)
    assert compiler._read(file) is None
