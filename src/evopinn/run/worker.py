"""What a worker process does: one job after the other, for as long as its driver lives."""

import contextlib
import ctypes
import faulthandler
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evopinn.errors import lacks_memory
from evopinn.run.channel import Raised, Ready, Returned, SetupFailed, WorkerEnd, pack

_PR_SET_PDEATHSIG = 1
_SPARED = 500  # added to the badness that the kernel computes: a worker goes before its driver
_HEADROOM = 1.25  # address space beyond the limit on resident memory, so that the driver's watch acts first
_LONGEST_REPORT = 10_000


def main() -> None:
    """Serve the driver at the other end of the socket whose descriptor is the first argument.

    The other arguments: the descriptor of a pipe that ends with the driver, the driver's process id, and the
    memory limit in bytes (0: none).
    """
    channel, lifeline, parent, memory_limit = (int(argument) for argument in sys.argv[1:5])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
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
    except (Exception, SystemExit):  # noqa: BLE001 - whatever it is, the driver has to be told
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
    """Leave nothing running behind a driver that was killed.

    On Linux the kernel sees to it. Elsewhere, and for a driver that died before this line, a thread waits for
    the end of a pipe that nobody writes to.
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
