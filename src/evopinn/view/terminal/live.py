"""Progress of a search while it runs: a live screen on a terminal, a log elsewhere."""

import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress

from rich.console import Console
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType

from evopinn.run.progress import Snapshot
from evopinn.view.terminal.console import print_line
from evopinn.view.terminal.keys import Keyboard, in_foreground, terminal_of
from evopinn.view.terminal.log import SearchLog
from evopinn.view.terminal.screen import Line, Lines, Screen, further_rows, later
from evopinn.view.terminal.sentences import ENDINGS, ending, standing

FRAME_SECONDS = 0.2
ERASE_LINE_AND_GO_UP = (
    ControlType.CARRIAGE_RETURN,
    (ControlType.ERASE_IN_LINE, 2),
    (ControlType.CURSOR_UP, 1),
)

Show = Callable[[Snapshot], None]


@contextmanager
def search_progress(console: Console, stop: Callable[[], None], keys: bool = True) -> Generator[Show]:
    """What to call with snapshots of a search, as often as one likes, for as long as it runs.

    A terminal shows a screen, which makes way at the end for one line. Elsewhere a log is written.

    Args:
        console: Where to show it.
        stop: Called, in another thread and once, when `q` is pressed on the terminal that shows the screen.
        keys: Whether to heed keys.
    """
    if not console.is_interactive:
        yield SearchLog(lambda line: print_line(console, line)).show
        return
    live = _LiveScreen(console, stop, terminal_of(sys.stdin) if keys else None)
    try:
        live.start()
        yield live.show
    finally:
        live.close()


class _LiveScreen:
    """A thread that draws the newest snapshot and listens for keys.

    The search is not held up by a slow terminal, the clocks go on while nothing happens, and no signal can
    keep the thread from leaving the terminal as it was.
    """

    def __init__(self, console: Console, stop: Callable[[], None], keyboard: int | None) -> None:
        self._console = console
        self._stop = stop
        self._keyboard = None if keyboard is None else Keyboard(keyboard)
        self._terminal = terminal_of(console.file) if keyboard is None else keyboard
        self._thread = threading.Thread(target=self._run, name="evopinn-screen")
        self._ended = threading.Event()
        self._newest: tuple[Snapshot, float] | None = None
        self._screen = Screen(ascii_only=console.options.ascii_only)
        self._drawn: list[Line] = []
        self._width = 0
        self._stopping = False

    def start(self) -> None:
        self._thread.start()

    def show(self, now: Snapshot) -> None:
        self._newest = now, time.monotonic()

    def close(self) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are the main thread's
        # Once the terminal is gone, the search continues silently.
        with suppress(OSError, termios.error), self._keyboard or nullcontext():
            self._watch()
        if self._newest is not None and self._newest[0].phase != "loading":
            now, _ = self._newest
            with suppress(OSError):
                print_line(self._console, ending(now) if now.phase in ENDINGS else standing(now))

    def _watch(self) -> None:
        live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=terminal_of(sys.stdout) is not None,
            redirect_stderr=terminal_of(sys.stderr) is not None,
        )
        away = False
        try:
            while not self._ended.is_set():
                if self._terminal is not None and not in_foreground(self._terminal):
                    away = True
                    self._ended.wait(FRAME_SECONDS)
                    continue
                if (self._keyboard is not None and self._keyboard.take()) or away:
                    self._make_room()
                    away = False
                self._draw(live)
                self._heed_keys()
        finally:
            if away:
                self._make_room()
            live.stop()

    def _make_room(self) -> None:
        """Empty lines to draw on, after something else was written, a shell's prompt for instance."""
        self._console.file.write("\n" * (len(self._drawn) - 1))
        self._drawn = []

    def _draw(self, live: Live) -> None:
        if self._newest is None:
            return
        now, since = self._newest
        width, height = self._console.size
        self._erase_what_was_broken(width)
        lines = self._screen.lines(later(now, time.monotonic() - since), width, height, self._how_to_stop())
        if lines == self._drawn:
            return
        if not live.is_started:
            live.start()
            self._console.show_cursor(True)  # after Ctrl-Z it would be missed at the shell's prompt
        live.update(Lines(lines), refresh=True)
        self._drawn = lines

    def _erase_what_was_broken(self, width: int) -> None:
        """Erase lines that a narrower window has broken in two; rich would leave their beginnings behind."""
        if width < self._width:
            self._console.control(*[Control(*ERASE_LINE_AND_GO_UP)] * further_rows(self._drawn, width))
        self._width = width

    def _how_to_stop(self) -> str:
        if self._stopping:
            return "stopping"
        return "Ctrl-C stops" if self._keyboard is None else "q or Ctrl-C stops"

    def _heed_keys(self) -> None:
        if self._keyboard is None:
            self._ended.wait(FRAME_SECONDS)
        elif "q" in self._keyboard.pressed(FRAME_SECONDS).lower() and not self._stopping:
            self._stopping = True
            self._stop()
