"""Being asked to stop: by Ctrl-C, by a request to end, or by a key."""

import signal
import threading
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _BrokenOff(KeyboardInterrupt):
    """Leaves the block in which a request is entered."""


class StopRequest:
    """Whether a run is to stop; while it is entered, signals set it instead of breaking off whatever happens.

    Before it is looked at for the first time there is nothing that could be lost, and what happens may take
    long, such as to load a problem: until then a signal leaves the block at once, without an exception. A
    second Ctrl-C breaks off all the same.
    """

    def __init__(self) -> None:
        self._asked = False
        self._heeded = False
        self._before: dict[signal.Signals, object] = {}

    def __call__(self) -> bool:
        """Whether it was asked for."""
        self._heeded = True
        return self._asked

    def ask(self) -> None:
        """Ask for it, from whatever thread."""
        if signal.SIGINT in self._before and not self._asked:
            # The same as Ctrl-C: what is being waited for there is interrupted.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            self._asked = True

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():  # only there can signals be taken
            # What is ignored stays so: a run under nohup outlives its terminal.
            heeded = [each for each in _SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
            self._before = {each: signal.signal(each, self._take) for each in heeded}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        for each, handler in self._before.items():
            signal.signal(each, handler)  # pyright: ignore[reportArgumentType] - as it was given to us
        return isinstance(error, _BrokenOff)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        again, self._asked = self._asked, True
        if again and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not again and not self._heeded:
            raise _BrokenOff
