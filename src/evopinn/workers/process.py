"""Worker processes: their supervision by the driver, and their main loop.

The driver holds a `WorkerProcess`; the process runs `main`, one job after the other for as long as its driver
lives.
"""

import contextlib
import ctypes
import faulthandler
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evopinn.errors import RunError, lacks_memory
from evopinn.workers.channel import DriverEnd, Raised, Ready, Returned, SetupFailed, WorkerEnd, pack

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

_PR_SET_PDEATHSIG = 1
_SPARED = 500  # added to the kernel's badness score, so that it kills a worker before its driver
_HEADROOM = 1.25  # limits memory above the resident limit, so that the driver notices an excess first
_LONGEST_REPORT = 10_000


class WorkerProcess:
    """A process with a private socket to it.

    It has a session of its own, so signals from the driver's terminal do not reach it, and it ends with the
    thread that made it. It is a new interpreter rather than a fork, since a fork of a process with threads
    may hang; unlike `multiprocessing`, it does not run the user's script again.

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
        program = f"import sys; sys.path[:] = {sys.path!r}; from evopinn.workers.process import main; main()"
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
        """How it ended, in words."""
        # A dying process closes its socket almost last, so it is gone in a moment.
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            self.kill()
            return "it closed its connection but kept running"
        if code >= 0:
            return f"it ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; perhaps the system ran out of memory" if -code == signal.SIGKILL else ""
        return f"it was killed by {name}{hint}"

    def resident_bytes(self) -> int | None:
        """Its memory in bytes, if the system reports it."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return None
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def printed(self) -> str:
        """The end of what it printed since `forget_printed`."""
        end = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(end - _TAIL, 0))
        return self._output.read().decode(errors="replace").strip()

    def forget_printed(self) -> None:
        """Discard its output so far."""
        self._output.truncate(0)

    def bound_printed(self) -> None:
        """Discard its output if it is too long."""
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
        """Kill it together with everything that it started."""
        if self.exit_code is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.kill()  # it may not lead its group yet
        self._process.wait()

    def close(self) -> None:
        """Kill it if it still runs, and free its resources."""
        self.kill()
        self.channel.close()
        os.close(self._lifeline)
        self._output.close()


def packed_setup(setup: Callable[..., object], arguments: tuple[object, ...]) -> bytes:
    """The first message to a worker: the function that it is to call, by name, and the arguments."""
    if getattr(setup, "__module__", None) == "__main__":
        raise RunError(f"workers cannot import {setup!r} from a script; put it into a module.")
    try:
        return pack((setup, arguments))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise RunError(f"the setup cannot be sent to workers: {error}.") from error


def main() -> None:
    """Serve the driver at the other end of the socket whose descriptor is the first argument.

    The other arguments: the descriptor of a pipe that ends with the driver, the driver's process id, and the
    memory limit in bytes (0: none).
    """
    channel, lifeline, parent, memory_limit = (int(argument) for argument in sys.argv[1:5])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C
    _die_with_parent(lifeline, parent)
    faulthandler.enable()
    _limit(memory_limit)
    with contextlib.suppress(EOFError, ConnectionError):
        _serve(WorkerEnd(socket.socket(fileno=channel)))


def _serve(end: WorkerEnd) -> None:
    try:
        setup, arguments = pickle.loads(end.receive())
        perform: Callable[[Any], Any] = setup(*arguments)
    except EOFError:
        raise
    except (Exception, SystemExit):  # noqa: BLE001 - the driver reports it
        end.send(pack(SetupFailed(_report())))
        return
    end.send(pack(Ready()))
    while True:
        number, payload = pickle.loads(end.receive())
        end.send(_answer(perform, number, payload))


def _answer(perform: Callable[[Any], Any], number: int, payload: Any) -> bytes:
    try:
        return pack(Returned(number, perform(payload)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a job's failure is a value
        return pack(Raised(number, _report(), memory=lacks_memory(error)))


def _report() -> str:
    """The traceback of the exception that is being handled; its end, if it is very long."""
    return traceback.format_exc()[-_LONGEST_REPORT:]


def _die_with_parent(lifeline: int, parent: int) -> None:
    """End this process if its driver is killed.

    On Linux the kernel does that. Elsewhere, and if the driver died before this line, a thread waits for the
    end of a pipe that nobody writes to.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)

    def watch() -> None:
        while os.read(lifeline, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _limit(memory_limit: int) -> None:
    try:
        import resource
    except ImportError:  # not on every system
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_SPARED))
    if memory_limit and sys.platform == "linux":  # elsewhere it does not count what is mapped
        most = int(memory_limit * _HEADROOM)
        with contextlib.suppress(ValueError, OSError):  # a lower limit of the user's own stays
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
