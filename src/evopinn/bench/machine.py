"""What the figures were measured on."""

import os
import platform
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import torch

from evopinn.run.machine import processor

PACKAGES = ("evopinn", "torch", "numpy", "llvmlite", "jax", "deepxde")


@dataclass(frozen=True)
class Machine:
    """A machine and its software.

    Attributes:
        processor: The CPU's model.
        vectors: The widest vector instructions that torch uses.
        cores: How many there are; the measurements take one.
        memory: Bytes.
        system: The operating system.
        blas: The library of torch's matrix products.
        versions: Of Python and the packages; none if not installed.
    """

    processor: str
    vectors: str
    cores: int
    memory: int | None
    system: str
    blas: str
    versions: dict[str, str | None]


def this_machine() -> Machine:
    """The machine that this runs on."""
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
