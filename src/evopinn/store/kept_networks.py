"""The kept networks of a run: their task numbers, and their metadata without the tensors."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from evopinn.store.directory import WEIGHTS

_MOST_BYTES = 2**26
_SIDECAR = re.compile(r"([0-9]{8,})\.json")


@dataclass(frozen=True)
class KeptNetwork:
    """Metadata of a kept network; empty if unreadable.

    Attributes:
        coordinates: The names of its inputs.
        fields: The names of its outputs.
        residuals: Sizes of the residual on training points and on held-out points.
    """

    coordinates: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    residuals: Mapping[str, float] = field(default_factory=dict[str, float])


def kept_weights(directory: Path) -> frozenset[int]:
    """The numbers of the tasks with kept networks; empty if the directory is unreadable."""
    try:
        names = [path.name for path in (directory / WEIGHTS).iterdir()]
    except OSError:
        return frozenset()
    # The sidecar is written last, so that where it is the tensors are too.
    return frozenset(int(found[1]) for name in names if (found := _SIDECAR.fullmatch(name)))


def kept_network(directory: Path, task: int) -> KeptNetwork:
    """Metadata of a network; only loading reports what is wrong with it."""
    path = directory / WEIGHTS / f"{task:08d}.json"
    try:
        if path.stat().st_size > _MOST_BYTES:
            return KeptNetwork()
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        names = [tuple(map(str, cast("list[Any]", data[name]))) for name in ("coordinates", "fields")]
        return KeptNetwork(*names, residuals=_residuals(data))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return KeptNetwork()


def _residuals(data: Any) -> dict[str, float]:
    try:
        return {name: float(data["residuals"][name]) for name in ("training", "held_out")}
    except (ValueError, KeyError, TypeError):
        return {}
