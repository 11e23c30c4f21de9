"""What a result may owe its last digits to: the processor and the versions of the software."""

import platform
import re
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("evopinn", "torch", "numpy", "llvmlite", "optuna")


def processor() -> str:
    """The processor's model, where the system tells."""
    listed = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.*)$", listed.read_text(), re.MULTILINE) if listed.exists() else None
    return found[1] if found else platform.processor() or "unknown"


def versions() -> dict[str, str]:
    """Of the packages that compute, of Python, and the processor that kernels are compiled for."""
    packages = {name: version(name) for name in _PACKAGES}
    return packages | {"python": platform.python_version(), "processor": processor()}
