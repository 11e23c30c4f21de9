"""The files of a trained network.

There are two with one name: the tensors as `.safetensors`, everything else as `.json`. Neither can run code.
Each is written under a temporary name, forced to disk and renamed, so that a file is either complete or
absent.
"""

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import safetensors
import torch
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]

from evopinn.atomic_write import atomic_write
from evopinn.checks import is_file, shown
from evopinn.errors import StoredModelError
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problem.scales import UNSCALED, Scales
from evopinn.training.history import History
from evopinn.training.result import PRECISIONS, TrainingResult
from evopinn.training.sidecar import Sidecar, read_sidecar

FORMAT = 1


def save(result: TrainingResult, name: str | Path) -> tuple[Path, Path]:
    """Write a trained network to `name.safetensors` and `name.json`.

    Returns:
        The paths of the two files.
    """
    weights, sidecar = check_writable(name)
    tensors = {key: tensor.contiguous() for key, tensor in result.layout.unpack(result.theta).items()}
    try:
        atomic_write(weights, lambda path: save_file(tensors, path))
        description = {**_describe(result), "weights_sha256": _digest(weights)}
        text = json.dumps(description, indent=1, allow_nan=False) + "\n"
        atomic_write(sidecar, lambda path: path.write_text(text, encoding="utf-8"))
    except (OSError, safetensors.SafetensorError) as error:
        raise StoredModelError(f"the model could not be saved as {weights}: {error}.") from error
    return weights, sidecar


def check_writable(name: str | Path) -> tuple[Path, Path]:
    """Make sure that a network can be saved under a name, before training it.

    Returns:
        The paths of the two files that `save` will write.
    """
    weights, sidecar = _paths(name)
    if weights.stem.strip(".") == "" or weights.name == ".safetensors":
        raise StoredModelError(f"{str(name)!r} cannot name a saved model; give a name such as models/heat.")
    try:
        weights.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(weights.with_name(f".{weights.name}.probe"), lambda path: path.write_bytes(b""))
        weights.with_name(f".{weights.name}.probe").unlink()
    except OSError as error:
        raise StoredModelError(f"a model cannot be saved as {weights}: {error.strerror}.") from error
    return weights, sidecar


def load(name: str | Path) -> TrainingResult:
    """Read a trained network that `save` wrote.

    Args:
        name: The common name of the two files, with or without the ending of one of them.
    """
    weights, sidecar = _paths(name)
    for path in (weights, sidecar):
        if not is_file(path):
            raise StoredModelError(
                f"there is no file {path}; a saved model is {weights.name} and {sidecar.name}."
            )
    try:
        return _read(weights, sidecar)
    except StoredModelError:
        raise
    except (OSError, ValueError, RuntimeError, safetensors.SafetensorError) as error:
        raise StoredModelError(
            f"{weights} and {sidecar.name} are not a model saved by evopinn, or are damaged: "
            f"{type(error).__name__}: {' '.join(str(error).split())}."
        ) from error


def _read(weights: Path, sidecar: Path) -> TrainingResult:
    data: Any = json.loads(sidecar.read_text(encoding="utf-8"))
    if isinstance(data, dict) and "format" in data and data["format"] != FORMAT:
        found = shown(cast("dict[str, object]", data)["format"])
        raise StoredModelError(
            f"{sidecar} has format {found}; this version of evopinn reads format {FORMAT}."
        )
    stored = read_sidecar(cast(object, data), str(sidecar))
    if stored.weights_sha256 != _digest(weights):
        raise StoredModelError(f"{weights} is not the file that {sidecar.name} describes, or is damaged.")
    return _restore(stored, load_file(weights))


def _paths(name: str | Path) -> tuple[Path, Path]:
    text = str(name)
    for ending in (".safetensors", ".json"):
        text = text.removesuffix(ending)
    return Path(f"{text}.safetensors"), Path(f"{text}.json")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _describe(result: TrainingResult) -> dict[str, Any]:
    history = result.history
    return {
        "format": FORMAT,
        "problem": result.problem,
        "coordinates": result.coordinates,
        "fields": result.fields,
        **({} if result.scales == UNSCALED else {"scales": result.scales.to_json()}),
        "genome": result.genome.to_json(),
        "genome_text": str(result.genome),
        "seed": result.seed,
        "optimizer": result.optimizer,
        "settings": dict(result.settings),
        "status": result.status,
        "epochs": result.epochs,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "loss": _plain(result.loss),
        "errors": {name: _plain(value) for name, value in result.errors.items()},
        "residuals": {name: _plain(value) for name, value in result.residuals.items()},
        "history": {
            "losses": [_plain(loss) for loss in history.losses],
            "error_epochs": history.error_epochs,
            "errors": {name: [_plain(e) for e in each] for name, each in history.errors.items()},
            "epochs": history.epochs,
        },
        "versions": {
            "evopinn": version("evopinn"),
            "torch": torch.__version__,
            "numpy": version("numpy"),
            "python": platform.python_version(),
        },
    }


def _restore(stored: Sidecar, tensors: dict[str, torch.Tensor]) -> TrainingResult:
    genome = Genome.from_json(stored.genome)
    layout = Layout.of_network(genome, len(stored.coordinates), len(stored.fields))
    expected = layout.shapes
    given = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if given != expected:
        differing = sorted(
            name for name in given.keys() | expected.keys() if given.get(name) != expected.get(name)
        )
        raise StoredModelError(
            f"the tensors do not fit the genome {genome}: {', '.join(differing)} are missing, unknown or of "
            "another shape; the two files do not belong together."
        )
    precisions = {tensor.dtype for tensor in tensors.values()}
    if len(precisions) > 1 or not precisions <= {*PRECISIONS.values()}:
        listed = " and ".join(sorted(str(dtype).removeprefix("torch.") for dtype in precisions))
        raise StoredModelError(f"the tensors are {listed}; all of them must be float64, or all float32.")
    history = stored.history
    return TrainingResult(
        problem=stored.problem,
        coordinates=tuple(stored.coordinates),
        fields=tuple(stored.fields),
        genome=genome,
        theta=layout.pack(tensors),
        loss=stored.loss,
        errors=stored.errors,
        status=stored.status,
        epochs=stored.epochs,
        evaluations=stored.evaluations,
        seconds=stored.seconds,
        seed=stored.seed,
        optimizer=stored.optimizer,
        history=History(
            tuple(history.losses),
            tuple(history.error_epochs),
            {name: tuple(each) for name, each in history.errors.items()},
            tuple(history.epochs),
        ),
        settings=stored.settings,
        residuals=stored.residuals,
        scales=_scales(stored),
    )


def _scales(stored: Sidecar) -> Scales:
    """The scales of a network; files from before there were any have none."""
    if stored.scales is None:
        return UNSCALED
    scales = Scales.from_json(stored.scales)
    if not scales.fits(len(stored.coordinates), len(stored.fields), len(scales.terms)):
        raise StoredModelError(
            f"scales is {shown(stored.scales)}; the network has {len(stored.coordinates)} coordinates and "
            f"{len(stored.fields)} fields."
        )
    return scales


def _plain(value: float) -> float | str:
    """A number as JSON can hold it: `nan` and `inf`, which it cannot, as text that `float` reads."""
    return value if abs(value) < float("inf") else str(value)
