"""Requests to stop a run: of this process by a signal or a key, of another process by a command."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path
from types import FrameType, TracebackType

from evopinn.errors import RunError
from evopinn.store.database import existing
from evopinn.store.directory import writer_of

PATIENCE = 30.0
"""Seconds that a run may take to stop: it ends its workers and closes its files."""

_INTERVAL = 0.05
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # by name: not every system has all


class _LeaveBlock(KeyboardInterrupt):
    """Ends the block in which a request is entered."""


class StopRequest:
    """A request to stop a run; inside its `with` block, signals make it instead of interrupting.

    Until it is first called, nothing can be lost, and loading a problem may take long: a signal then leaves
    the block at once, without an exception. A second Ctrl-C always interrupts.
    """

    def __init__(self) -> None:
        self._asked = False
        self._heeded = False
        self._before: dict[signal.Signals, object] = {}

    def __call__(self) -> bool:
        """Whether a stop was requested."""
        self._heeded = True
        return self._asked

    def ask(self) -> None:
        """Request a stop, from any thread."""
        if signal.SIGINT in self._before and not self._asked:
            # The same as Ctrl-C, which interrupts whatever the main thread waits for.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            self._asked = True

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():  # only there can signals be handled
            # What is ignored stays ignored: a run under nohup outlives its terminal.
            signals = [each for each in signal.Signals if each.name in _SIGNALS]
            heeded = [each for each in signals if signal.getsignal(each) is not signal.SIG_IGN]
            self._before = {each: signal.signal(each, self._take) for each in heeded}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        for each, handler in self._before.items():
            signal.signal(each, handler)  # pyright: ignore[reportArgumentType] - as it was before
        return isinstance(error, _LeaveBlock)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        again, self._asked = self._asked, True
        if again and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not again and not self._heeded:
            raise _LeaveBlock


def stop_run(directory: Path, patience: float) -> bool:
    """Ask the process that writes to a run to stop, and wait until it has.

    Args:
        directory: The run's.
        patience: How many seconds to wait.

    Returns:
        Whether it has stopped; if not, it may still do so.
    """
    existing(directory)
    writer = writer_of(directory)
    if writer is None:
        raise RunError(f"the run {directory} is not running, so there is nothing to stop.")
    if not writer.is_here:
        raise RunError(
            f"process {writer.process} on {writer.host} writes to the run {directory}; stop it there."
        )
    try:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(writer.process, signal.SIGTERM)
    except PermissionError:
        raise RunError(
            f"process {writer.process}, which writes to the run {directory}, belongs to another user; "
            "ask them to stop it."
        ) from None
    last = time.monotonic() + patience
    while writer_of(directory) == writer:
        if time.monotonic() > last:
            return False
        time.sleep(_INTERVAL)
    return True
