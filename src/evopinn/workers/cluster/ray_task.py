"""The Ray task that runs on a node: it checks the node, then runs a batch of jobs in a supervised process.

Ray sends this module by value, because it is what reports that a node lacks evopinn. At its top it therefore
imports only the standard library.
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
"""Versions that must be the same on all nodes; other differences affect only the last digits of results."""

MISSING = "missing"
DEVICE, NO_DEVICE = "device", "none"
_seen: dict[bool, dict[str, str]] = {}


def node_versions(gpu: bool) -> dict[str, str]:
    """The versions on this machine by name, its processor and, if requested, its CUDA device."""
    if gpu not in _seen:
        found = {name: _version(name) for name in PACKAGES}
        found["python"] = ".".join(platform.python_version_tuple()[:2])
        found["processor"] = processor()
        if gpu:
            found[DEVICE] = _device() if found["torch"] != MISSING else NO_DEVICE
        _seen[gpu] = found
    return _seen[gpu]


def processor() -> str:
    """The processor's model, if the system reports it."""
    listed = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.*)$", listed.read_text(), re.MULTILINE) if listed.exists() else None
    return found[1] if found else platform.processor() or "unknown"


def missing_requirements(found: dict[str, str], expected: dict[str, str]) -> str:
    """The reasons why a node cannot run trainings, in words; empty if it can."""
    reasons = [f"{name} is not installed" for name in PACKAGES if found[name] == MISSING]
    reasons += [
        f"{name} is {found[name]}, but {expected[name]} on the machine that runs the search"
        for name in SAME
        if found[name] not in (expected[name], MISSING)
    ]
    if found.get(DEVICE) == NO_DEVICE:
        reasons.append("torch finds no CUDA device there, although Ray counts a GPU")
    return "; ".join(reasons)


def run_batch(setup: Any, orders: Any) -> Iterator[tuple[str, Any]]:
    """Run a batch: yield its place, then the missing requirements of the node or the end of each attempt.

    Args:
        setup: See `Setup`.
        orders: See `JobBatch`; plain tuples, since evopinn may be missing on the node.
    """
    packed, memory_limit, startup_seconds, expected, gpu = setup
    found = node_versions(gpu)
    yield "began", (_node(), os.getpid(), found)
    reason = missing_requirements(found, expected)
    if reason:
        yield "unfit", reason
        return
    from evopinn.workers.cluster.node_worker import perform

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
