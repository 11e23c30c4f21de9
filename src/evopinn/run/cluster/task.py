"""What runs on a node: a look at what it has, then a batch of jobs in a supervised process.

Ray sends this module by value, for a node may lack evopinn: it is what says so. So it imports nothing at its
top but what every Python has.
"""

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("evopinn", "torch", "numpy", "llvmlite")
SAME = ("python", "evopinn")
"""What must be the same everywhere; other differences only change last digits."""

MISSING = "missing"
DEVICE, NO_DEVICE = "device", "none"
_seen: dict[bool, dict[str, str]] = {}


def facts(gpu: bool) -> dict[str, str]:
    """What there is here: versions by name, the processor, and a CUDA device if one is asked for."""
    if gpu not in _seen:
        found = {name: _version(name) for name in PACKAGES}
        found["python"] = ".".join(platform.python_version_tuple()[:2])
        listed = Path("/proc/cpuinfo")
        model = (
            re.search(r"^model name\s*: (.*)$", listed.read_text(), re.MULTILINE) if listed.exists() else None
        )
        found["processor"] = model[1] if model else platform.processor() or "unknown"
        if gpu:
            found[DEVICE] = _device() if found["torch"] != MISSING else NO_DEVICE
        _seen[gpu] = found
    return _seen[gpu]


def lacking(found: dict[str, str], expected: dict[str, str]) -> str:
    """Why a node cannot do the work, for a person; nothing if it can."""
    reasons = [f"{name} is not installed" for name in PACKAGES if found[name] == MISSING]
    reasons += [
        f"{name} is {found[name]}, but {expected[name]} where the search runs"
        for name in SAME
        if found[name] not in (expected[name], MISSING)
    ]
    if found.get(DEVICE) == NO_DEVICE:
        reasons.append("torch finds no CUDA device there, though Ray counts a GPU")
    return "; ".join(reasons)


def work(setup: Any, orders: Any) -> Iterator[tuple[str, Any]]:
    """Do a batch: yields where it runs, then what it lacks or how each attempt ended.

    Args:
        setup: See `Setup`.
        orders: See `Batch`. Plain tuples, for evopinn may not be there to say what they are.
    """
    packed, memory_limit, startup_seconds, expected, gpu = setup
    found = facts(gpu)
    yield "began", (_node(), os.getpid(), found)
    reason = lacking(found, expected)
    if reason:
        yield "unfit", reason
        return
    from evopinn.run.cluster.shell import perform

    yield from perform(packed, memory_limit, startup_seconds, gpu, orders)


def _node() -> str:
    import ray

    return ray.get_runtime_context().get_node_id()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return MISSING


def _device() -> str:
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else NO_DEVICE
