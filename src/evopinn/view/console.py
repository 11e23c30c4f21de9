"""Consoles that leave it to us what a broken pipe means."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, NoReturn

from rich.console import Console

PIPE_WIDTH = 1000


class PipedConsole(Console):
    """A console that passes on a broken pipe; rich's own would end the program with an exit code of 1."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise what happened."""
        raise BrokenPipeError


def output_console() -> Console:
    """Standard output: as wide as the terminal; in a pipe or file, a row of a table takes one line."""
    fits = sys.stdout.isatty() or "COLUMNS" in os.environ
    return PipedConsole() if fits else PipedConsole(width=PIPE_WIDTH)


def notes_console() -> Console:
    """Standard error, for progress and messages: text as it is, whatever it contains."""
    return PipedConsole(stderr=True, highlight=False, markup=False, soft_wrap=True)


def note(text: str, console: Console | None = None) -> None:
    """Tell the user something; if nobody can be told any more, what is being done goes on."""
    with suppress(OSError):
        (console or notes_console()).print(text)


def meanwhile(text: str) -> AbstractContextManager[Any]:
    """Words on a terminal while something takes its time that shows nothing itself; elsewhere none."""
    console = notes_console()
    if not console.is_interactive:
        return nullcontext()
    return console.status(text, spinner="line" if console.options.ascii_only else "dots")
