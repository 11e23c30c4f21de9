"""The directory of a run: its files, the file systems that suit it, and the lock of its writer."""

import errno
import importlib
import os
import re
import socket
import stat
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evopinn.errors import RunError, UnknownNameError

RUNS = Path("runs")
"""The default directory of runs."""

DATABASE = "run.sqlite"
CONFIG = "config.toml"
WEIGHTS = "weights"
LOCK = "run.lock"

SAFE = "What is recorded is safe: fix that and resume the run."
"""The end of every message about a disk that fails."""

# Write-ahead logging needs memory that all readers share, which no network file system has.
_NETWORK: Mapping[str, str] = {
    "nfs": "NFS",
    "nfs4": "NFS",
    "cifs": "CIFS",
    "smb3": "SMB",
    "smbfs": "SMB",
    "afs": "AFS",
    "ncpfs": "NCP",
    "9p": "9P",
    "lustre": "Lustre",
    "gpfs": "GPFS",
    "beegfs": "BeeGFS",
    "ceph": "Ceph",
    "fuse.ceph": "Ceph",
    "panfs": "PanFS",
    "fuse.rclone": "rclone",
    "fuse.s3fs": "S3FS",
    "vboxsf": "VirtualBox shared folders",
    "fuse.sshfs": "SSHFS",
    "fuse.glusterfs": "GlusterFS",
}
_MOUNTS = Path("/proc/mounts")
_LOCK_ATTEMPTS = 4
_LISTED = 8


def refuse_network(directory: Path, mounts: Path = _MOUNTS) -> None:
    """Refuse a directory on a network file system, or one that would be made on such.

    Nothing is refused on systems without a table of mounts.
    """
    name = network_file_system(directory, mounts)
    if name is not None:
        raise RunError(
            f"{directory} is on a network file system ({name}), where a run's database can be damaged; "
            "choose a directory on a local disk and copy the run when it is finished."
        )


def network_file_system(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The name of the network file system of a path; None if the file system is local or unknown."""
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


@contextmanager
def disk_errors(failure: str, advice: str = "") -> Generator[None]:
    """Turn the system's errors into a `RunError`.

    Args:
        failure: What failed.
        advice: What to do, if that needs saying.
    """
    try:
        yield
    except RunError:
        raise
    except OSError as error:
        raise RunError(f"{failure}: {error.strerror}. {advice}".rstrip()) from error


def check_lockable() -> None:
    """Refuse a system, such as Windows, without the locks that keep two processes from writing to a run."""
    try:
        importlib.import_module("fcntl")
    except ImportError:
        raise RunError(
            "a search needs POSIX file locks, which this system lacks; search on Linux, on macOS or under "
            "WSL, and copy the run here to read it."
        ) from None


class WriterLock:
    """The lock on a run, held by one process at a time and released by the system if that dies.

    Args:
        directory: The run's.
    """

    def __init__(self, directory: Path) -> None:
        check_lockable()
        path = directory / LOCK
        try:
            self._descriptor = _opened_lock(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise RunError(f"the run {directory} cannot be written to: {error.strerror}. {SAFE}") from error
        try:
            _lock(self._descriptor)
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
        except BlockingIOError:
            os.close(self._descriptor)
            raise RunError(
                f"the run {directory} is in use by {_holder(path)}; wait until it ends, or stop it."
            ) from None
        except OSError as error:  # such as a full disk without room for the name
            os.close(self._descriptor)
            raise RunError(f"the run {directory} cannot be locked: {error.strerror}. {SAFE}") from error

    def release(self) -> None:
        """Let others write."""
        os.close(self._descriptor)


@dataclass(frozen=True)
class Writer:
    """The writer of a run: a process on a machine, or in a container, which numbers its own processes."""

    process: int
    host: str

    @property
    def is_here(self) -> bool:
        """Whether the process number is valid on this machine."""
        return self.host == socket.gethostname()


def writer_of(directory: Path) -> Writer | None:
    """The writer of a run at this moment, if there is one."""
    try:
        import fcntl

        descriptor = _opened_lock(directory / LOCK, os.O_RDONLY)
    except (ImportError, OSError):  # without locks nobody can write
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        words = os.pread(descriptor, 200, 0).decode(errors="replace").split()
        # A signal to zero or less would reach whole groups of processes.
        named = len(words) == 2 and re.fullmatch("[1-9][0-9]{0,8}", words[0])
        return Writer(int(words[0]), words[1]) if named else None
    else:
        return None
    finally:
        os.close(descriptor)


def holder_of(directory: Path) -> int | None:
    """The process that writes to a run at this moment, if there is one."""
    writer = writer_of(directory)
    return None if writer is None else writer.process


def is_run(directory: Path) -> bool:
    """Whether a directory has a run's database, sound or not."""
    try:
        return (directory / DATABASE).is_file()
    except OSError as error:
        raise RunError(f"{directory} cannot be read: {error.strerror}.") from error


def runs_in(directory: Path) -> list[Path]:
    """The runs directly inside a directory, by name, or the directory itself if it is a run."""
    if is_run(directory):
        return [directory]
    try:
        # A run has a hidden name while it is being made.
        children = sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    except (OSError, ValueError) as error:  # also for a name that no directory can have
        raise RunError(f"{directory} cannot be listed: {getattr(error, 'strerror', error)}.") from error
    return [path for path in children if _looks_like_run(path)]


def find_run(name: str | Path) -> Path:
    """The directory of a run, from its path or its name in `runs`."""
    for path in (Path(name), RUNS / name):
        if is_run(path):
            return path
    if Path(name).is_dir():
        raise RunError(
            f"{name} is not a run: it has no {DATABASE}. {_runs_below(Path(name)) or _known_runs()}"
        )
    # In the same words as for any other unknown name.
    raise RunError(str(UnknownNameError("run", str(name), _names(), _known_runs())))


def _opened_lock(path: Path, how: int) -> int:
    """A descriptor of the lock file; refuse links, which may lead elsewhere, and pipes, which may block."""
    descriptor = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"its {LOCK} is not a file")
    return descriptor


def _lock(descriptor: int) -> None:
    """Lock a file, waiting for `writer_of`, which holds such a lock for a moment."""
    import fcntl

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


def _looks_like_run(path: Path) -> bool:
    try:
        return is_run(path)
    except RunError:  # opening it reports why it cannot be read
        return True


def _names() -> list[str]:
    return [path.name for path in runs_in(RUNS)] if RUNS.is_dir() else []


def _known_runs() -> str:
    names = _names()
    return _listed(RUNS, names) if names else f"There are no runs in {RUNS}; give the path of one."


def _runs_below(directory: Path) -> str:
    """A sentence about the runs inside a directory, such as that of a study; empty without any."""
    found = (path for depth in ("*", "*/*") for path in directory.glob(f"{depth}/{DATABASE}"))
    names = sorted(str(path.parent.relative_to(directory)) for path in found)
    return f"{_listed(directory, names)[:-1]}; give the path of one." if names else ""


def _listed(directory: Path, names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"In {directory} there are {', '.join(names[:_LISTED])}{more}."


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
