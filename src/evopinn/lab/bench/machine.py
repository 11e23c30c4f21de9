"""The machine that figures are measured on, and the memory of this process."""

import os
import platform
import re
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import torch

from evopinn.workers.cluster.ray_task import processor

STATUS = Path("/proc/self/status")

PACKAGES = ("evopinn", "torch", "numpy", "llvmlite", "jax", "deepxde")


@dataclass(frozen=True)
class Machine:
    """A machine and its software.

    Attributes:
        processor: The CPU's model.
        vectors: The widest vector instructions that torch uses.
        cores: Number of cores; the measurements use one.
        memory: Memory in bytes.
        system: The operating system.
        blas: The library of torch's matrix products.
        versions: Versions of Python and the packages; None if not installed.
    """

    processor: str
    vectors: str
    cores: int
    memory: int | None
    system: str
    blas: str
    versions: dict[str, str | None]


def this_machine() -> Machine:
    """This machine."""
    built = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    kernel = re.search(r"Math Kernel Library Version ([\w.]+)", torch.__config__.show())
    blas = built[1] if built else "unknown"
    return Machine(
        processor=processor(),
        vectors=torch.backends.cpu.get_cpu_capability(),
        cores=os.cpu_count() or 1,
        memory=_memory(),
        system=f"{platform.system()} {platform.machine()}",
        blas=f"{blas} {kernel[1]}" if kernel and blas == "mkl" else blas,
        versions={"python": platform.python_version()} | {name: _version(name) for name in PACKAGES},
    )


def process_memory(row: Literal["VmRSS", "VmHWM"]) -> int:
    """Resident memory of this process in bytes: `VmRSS`, now, or `VmHWM`, the highest so far.

    Linux keeps both per program. Elsewhere the highest stands for both: its growth is then a lower bound.
    """
    if STATUS.exists():
        (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith(row)]
        return 1024 * int(line.split()[1])
    import resource

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else 1024 * highest


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
