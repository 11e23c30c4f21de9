"""Single key presses from a terminal, whose settings are restored afterwards."""

import contextlib
import os
import select
import termios
import tty
from types import TracebackType
from typing import IO, Any

_LOCAL_MODES = 3


def terminal_of(stream: IO[str] | None) -> int | None:
    """The descriptor of a stream if it is a terminal."""
    try:
        descriptor = -1 if stream is None else stream.fileno()
        return descriptor if os.isatty(descriptor) else None
    except (OSError, ValueError):  # a stream without a descriptor, or closed
        return None


def in_foreground(terminal: int) -> bool:
    """Whether what is typed is meant for this process, and what it draws does not disturb others."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # not the terminal that controls this process, so nothing can put it in the background
        return True


class Keyboard:
    """A terminal that gives its keys one by one and does not echo them; Ctrl-C still interrupts.

    For a thread that blocks SIGTTIN and SIGTTOU: were the process put into the background just now, touching
    the terminal would stop it otherwise.

    Args:
        terminal: Its descriptor.
    """

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._found: list[Any] | None = None

    def __enter__(self) -> "Keyboard":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # In the background the terminal is the shell's, which has set it up for itself.
        if self._found is not None and in_foreground(self._terminal):
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._terminal, termios.TCSANOW, self._found)

    def take(self) -> bool:
        """Set up the terminal, if need be; whether it was: at first, and when a shell had it meanwhile."""
        modes = termios.tcgetattr(self._terminal)
        if not modes[_LOCAL_MODES] & termios.ICANON:
            return False
        self._found = modes
        tty.setcbreak(self._terminal, termios.TCSANOW)
        return True

    def pressed(self, seconds: float) -> str:
        """The keys pressed, waiting for one for so long at most."""
        ready, _, _ = select.select([self._terminal], [], [], seconds)
        try:
            keys = os.read(self._terminal, 1024) if ready else b""
        except OSError:  # in the background since a moment ago, or the terminal is gone: `take` will tell
            keys = b""
        return keys.decode("ascii", errors="replace")
