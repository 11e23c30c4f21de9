"""Whether a kept network's loss deceives: a glance at the file beside its tensors, which needs no torch."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from evopinn.run.place import WEIGHTS

MUCH_LARGER = 10.0
"""As `evopinn.training` has it, which would have to be waited for."""

_MOST_BYTES = 2**26


def kept_residuals(directory: Path, task: int) -> dict[str, float]:
    """The size of the residual on the points of a training and on others; empty if it is not known."""
    path = directory / WEIGHTS / f"{task:08d}.json"
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        residuals = cast("dict[str, Any]", data["residuals"])
        return {name: float(residuals[name]) for name in ("training", "held_out")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # whoever loads the network says why
        return {}


def deceit(residuals: Mapping[str, float]) -> str:
    """What to say of a loss that is small because there are few points; nothing if it does not deceive."""
    training, held_out = (residuals.get(name, math.nan) for name in ("training", "held_out"))
    if not held_out > MUCH_LARGER * training:
        return ""
    larger = f"{held_out / training:.2g} times as large" if training else "not zero"
    return (
        f"the residual is {larger} on points that were not trained on: the loss deceives; give the problem "
        "more points, or search among smaller networks"
    )
