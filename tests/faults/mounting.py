"""A small disk, to be filled."""

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

_SIZE = "48m"


@contextmanager
def small_disk():
    """A directory that is a file system of its own, in memory, if this process may mount one."""
    with tempfile.TemporaryDirectory(prefix="evopinn-faults-") as name:
        mount = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", name], capture_output=True, check=False
        )
        try:
            yield Path(name)
        finally:
            if mount.returncode == 0:
                subprocess.run(["umount", "--lazy", name], check=True)
