import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from evopinn.errors import StoredModelError
from evopinn.training import load, save, train


@pytest.fixture(scope="module")
def result(request):
    oscillator = request.getfixturevalue("oscillator")
    return train(
        oscillator,
        "layers=3 neurons=20 shortcuts=0-2 activation=a*tanh(x)",
        epochs=12,
        seed=5,
        optimizer="lbfgs",
        errors_every=5,
    )


@pytest.mark.parametrize("name", ["model", "model.json", "model.safetensors", "some/where/model"])
def test_what_is_saved_is_loaded(result, tmp_path, name):
    save(result, tmp_path / name)
    again = load(tmp_path / name)
    assert torch.equal(again.theta, result.theta)
    assert again.history == result.history
    for attribute in (
        "problem",
        "coordinates",
        "fields",
        "genome",
        "loss",
        "errors",
        "status",
        "epochs",
        "seed",
    ):
        assert getattr(again, attribute) == getattr(result, attribute)
    points = np.linspace(0, 1, 5)[:, None]
    assert np.array_equal(again.predict(points), result.predict(points))


def test_the_sidecar_tells_a_person_everything(result, tmp_path):
    _, sidecar = save(result, tmp_path / "model")
    stored = json.loads(sidecar.read_text())
    assert stored["problem"] == "oscillator"
    assert stored["seed"] == 5
    assert stored["genome_text"] == str(result.genome)
    assert {"evopinn", "torch", "numpy", "python"} <= set(stored["versions"])
    assert len(stored["history"]["losses"]) == 13


@pytest.mark.parametrize("name", ["", ".", "..", "folder/", "folder/."])
def test_a_name_that_is_none_is_refused(result, tmp_path, name):
    with pytest.raises(StoredModelError, match=r"cannot (name|be saved)"):
        save(result, f"{tmp_path}/{name}")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_nothing_is_left_beside_the_two_files(result, tmp_path):
    save(result, tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "model.safetensors"]


def test_a_failed_training_can_be_saved_too(oscillator, tmp_path):
    failed = train(oscillator, "layers=11 neurons=50 activation=exp(exp(exp(x)))", epochs=1)
    save(failed, tmp_path / "failed")
    assert not math.isfinite(load(tmp_path / "failed").loss)


def test_precision_survives(oscillator, tmp_path):
    single = train(oscillator, "layers=3 neurons=20 activation=tanh(x)", epochs=1, precision="float32")
    save(single, tmp_path / "single")
    assert load(tmp_path / "single").theta.dtype == torch.float32


def damage(path: Path, how: str) -> None:
    model, sidecar = path.with_suffix(".safetensors"), path.with_suffix(".json")
    if how == "no weights":
        model.unlink()
    elif how == "no sidecar":
        sidecar.unlink()
    elif how == "cut weights":
        model.write_bytes(model.read_bytes()[:-100])
    elif how == "cut sidecar":
        sidecar.write_text(sidecar.read_text()[:-100])
    elif how == "other weights":
        shutil.copy(path.with_name("other.safetensors"), model)
    elif how == "newer format":
        sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"format": 99}))
    elif how == "something else":
        sidecar.write_text("[1, 2, 3]")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no weights", r"\bfile .*/model\.safetensors;"),
        ("no sidecar", r"\bfile .*/model\.json;"),
        ("cut weights", "damaged"),
        ("cut sidecar", "damaged"),
        ("other weights", r"/model\.safetensors .*\bmodel\.json\b"),
        ("newer format", "format 99"),
        ("something else", r"/model\.json .*\bmodel\b.*\[1, 2, 3\].*\bobject\b"),
    ],
)
def test_damage_is_noticed_and_named(result, oscillator, tmp_path, how, message):
    save(result, tmp_path / "model")
    other = train(oscillator, "layers=3 neurons=20 shortcuts=0-2 activation=a*tanh(x)", epochs=1, seed=6)
    save(other, tmp_path / "other")
    damage(tmp_path / "model", how)
    with pytest.raises(StoredModelError, match=message):
        load(tmp_path / "model")
