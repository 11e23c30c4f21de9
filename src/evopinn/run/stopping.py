"""Being asked to stop: by Ctrl-C, by a request to end, or by a key."""

import signal
import threading
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Whether a run is to stop; while it is entered, signals set it instead of breaking off whatever happens.

    A second Ctrl-C breaks off all the same.
    """

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[signal.Signals, object] = {}

    def __call__(self) -> bool:
        """Whether it was asked for."""
        return self._asked

    def ask(self) -> None:
        """Ask for it."""
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
    ) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)  # pyright: ignore[reportArgumentType] - as it was given to us

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._asked = True
