"""Where a run lies: its files, whether the place is fit for them, and who has taken it."""

import fcntl
import os
import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from evopinn.errors import RunError

DATABASE = "run.sqlite"
CONFIG = "config.toml"
WEIGHTS = "weights"
LOCK = "run.lock"

# Write-ahead logging needs memory that all its readers share, which no network file system has.
_NETWORK: Mapping[str, str] = {
    "nfs": "NFS",
    "nfs4": "NFS",
    "cifs": "CIFS",
    "smb3": "SMB",
    "smbfs": "SMB",
    "afs": "AFS",
    "ncpfs": "NCP",
    "9p": "9P",
    "fuse.sshfs": "SSHFS",
    "fuse.glusterfs": "GlusterFS",
}
_MOUNTS = Path("/proc/mounts")
_LOCK_ATTEMPTS = 4


def refuse_network(directory: Path, mounts: Path = _MOUNTS) -> None:
    """Raise if a directory, or the one in which it will be made, lies on a network file system.

    Where the system has no table of mounts, nothing is refused.
    """
    name = network_file_system(directory, mounts)
    if name is not None:
        raise RunError(
            f"{directory} is on a network file system ({name}), where a run's database can be damaged; "
            "choose a directory on a local disk and copy the run when it is finished."
        )


def network_file_system(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The name of the network file system that a path lies on; None if it is a local one or unknown."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    resolved = path.resolve()
    kind = ""
    depth = 0
    for line in table.splitlines():
        columns = line.split(" ")
        if len(columns) < 3:
            continue
        point = Path(_unescaped(columns[1]))
        # Of two mounts on one point, the later hides the earlier.
        if resolved.is_relative_to(point) and len(point.parts) >= depth:
            kind, depth = columns[2], len(point.parts)
    return _NETWORK.get(kind)


class Claim:
    """The right to write to a run, held by one process at a time and given back by the system if it dies.

    Args:
        directory: The run's.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / LOCK
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise RunError(f"the run {directory} cannot be written to: {error.strerror}.") from error
        try:
            _lock(self._descriptor)
        except BlockingIOError:
            os.close(self._descriptor)
            raise RunError(
                f"the run {directory} is in use by {_holder(path)}; wait until it ends, or stop it."
            ) from None
        except OSError as error:
            os.close(self._descriptor)
            raise RunError(f"the run {directory} cannot be locked: {error.strerror}.") from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)

    def release(self) -> None:
        """Let others write."""
        os.close(self._descriptor)


def holder_of(directory: Path) -> int | None:
    """The process that writes to a run now, if one does."""
    try:
        descriptor = os.open(directory / LOCK, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        words = os.pread(descriptor, 200, 0).split()
        return int(words[0]) if words else None
    else:
        return None
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock a file; `holder_of` holds such a lock for a moment too, which is waited for."""
    for attempt in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt == _LOCK_ATTEMPTS - 1:
                raise
            time.sleep(0.02)
        else:
            return


def _holder(path: Path) -> str:
    try:
        pid, host = path.read_text(encoding="utf-8").split()
    except (OSError, ValueError):  # it has not written its name yet
        return "another process"
    return f"process {pid} on {host}"


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
