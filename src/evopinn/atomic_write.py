"""Atomic writing of files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def atomic_write(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file completely or not at all: under a temporary name, forced to disk, then renamed.

    Once this has returned, the file survives a loss of power.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.touch()
        mode = temporary.stat().st_mode
        write(temporary)
        temporary.chmod(mode)  # some libraries make their files readable for nobody else
        _force_to_disk(temporary)
        temporary.replace(path)
        _force_to_disk(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _force_to_disk(path: Path) -> None:
    """Force a file's contents, or the entries of a directory, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
