"""One worker process, as its driver sees it."""

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from evopinn.errors import RunError
from evopinn.run.channel import DriverEnd, pack

# One thread: small matrices gain nothing from more, workers would fight for cores, and sums over threads
# would not repeat to the last bit. A fixed hash seed makes sets of strings iterate alike in all workers.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
_LOG_LIMIT = 1 << 22
_TAIL = 2000


class WorkerProcess:
    """A process with a private socket to it.

    It is a session of its own, so that what a terminal sends to the driver's group does not reach it; it ends
    with the thread that made it. The interpreter is started anew rather than forked (a fork of a process that
    has threads may hang) and, unlike with `multiprocessing`, the user's script is not run again in it.

    Args:
        serial: Its number among the workers.
        setup: Its first message, packed.
        memory_limit: In bytes; 0 for none.
        now: The time of its start.
    """

    def __init__(self, serial: int, setup: bytes, memory_limit: int, now: float) -> None:
        self.serial = serial
        self.started = now
        self.ready = False
        ours, theirs = socket.socketpair()
        watched, self._lifeline = os.pipe()
        self._output = tempfile.TemporaryFile(mode="a+b", prefix="evopinn-worker-")  # noqa: SIM115
        descriptors = (theirs.fileno(), watched)
        program = f"import sys; sys.path[:] = {sys.path!r}; from evopinn.run.worker import main; main()"
        arguments = [*descriptors, os.getpid(), memory_limit]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                env=os.environ | _ENVIRONMENT,
                pass_fds=descriptors,
                start_new_session=True,
            )
        except BaseException:  # Ctrl-C too must leave nothing half done
            ours.close()
            os.close(self._lifeline)
            self._output.close()
            raise
        finally:
            theirs.close()
            os.close(watched)
        self.channel = DriverEnd(ours)
        self.channel.send(setup)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it lives; minus the signal that killed it."""
        return self._process.poll()

    def describe_end(self) -> str:
        """How it ended, for a person, once it has."""
        # Closing the socket is the last thing a dying process does, or nearly: it is gone in a moment.
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            self.kill()
            return "it closed its connection and went on running"
        if code >= 0:
            return f"it ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; perhaps the system ran out of memory" if -code == signal.SIGKILL else ""
        return f"it was killed by {name}{hint}"

    def resident_bytes(self) -> int | None:
        """The memory that it occupies, where the system tells."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return None
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def printed(self) -> str:
        """The last lines of what it printed since `forget_printed`."""
        end = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(end - _TAIL, 0))
        return self._output.read().decode(errors="replace").strip()

    def forget_printed(self) -> None:
        """Begin its output anew."""
        self._output.truncate(0)

    def bound_printed(self) -> None:
        """Forget its output if there is too much of it."""
        if os.fstat(self._output.fileno()).st_size > _LOG_LIMIT:
            self.forget_printed()

    def terminate(self) -> None:
        """Ask it to end."""
        if self.exit_code is None:
            self._process.terminate()

    def await_end(self, seconds: float) -> bool:
        """Whether it ends within some seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End it at once, with all that it may have started."""
        if self.exit_code is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.kill()  # it may not lead its group yet
        self._process.wait()

    def close(self) -> None:
        """Kill it if it still runs, and free what it held."""
        self.kill()
        self.channel.close()
        os.close(self._lifeline)
        self._output.close()


def packed_setup(setup: Callable[..., object], arguments: tuple[object, ...]) -> bytes:
    """The first message to a worker: what it is to call, by name, and with what."""
    if getattr(setup, "__module__", None) == "__main__":
        raise RunError(f"workers cannot import {setup!r} from a script; put it into a module.")
    try:
        return pack((setup, arguments))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise RunError(f"workers cannot be given their setup: {error}.") from error
