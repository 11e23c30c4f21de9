"""Consoles that raise an error for a broken pipe instead of exiting."""

import os
import sys
import textwrap
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from evopinn.run.wording import visible

PIPE_WIDTH = 1000


class PipedConsole(Console):
    """A console that passes on a broken pipe, and shows control characters in a text instead of obeying them.

    Of a broken pipe, rich's own would end the program with an exit code of 1.
    """

    def on_broken_pipe(self) -> NoReturn:
        """Raise what happened."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Pieces of text and what rich itself does to the terminal."""
        for piece in super().render(renderable, options):
            safe = piece.control or piece.text.isprintable() or piece.text == "\n"
            yield piece if safe else Segment(printable(piece.text), piece.style)


def output_console() -> Console:
    """Standard output: as wide as the terminal; in a pipe or file, a row of a table takes one line."""
    fits = sys.stdout.isatty() or "COLUMNS" in os.environ
    return PipedConsole() if fits else PipedConsole(width=PIPE_WIDTH)


def notes_console() -> Console:
    """Standard error, for progress and messages: text as it is, whatever it contains."""
    return PipedConsole(stderr=True, highlight=False, markup=False, soft_wrap=True)


def note(text: str, console: Console | None = None) -> None:
    """Tell the user something; if the output is closed, carry on silently."""
    with suppress(OSError):
        print_line(console or notes_console(), text)


def print_line(console: Console, text: str) -> None:
    """Print text as it is: on a terminal lines end between words, elsewhere only where the text has it."""
    shown = printable(text)
    if console.is_terminal:
        # What is longer than a line, a path for instance, is left whole, so that it can be copied.
        shown = "\n".join(_wrapped(line, console.width) for line in shown.split("\n"))
    console.print(Text(shown), soft_wrap=True)


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def printable(text: str) -> str:
    """Text of several lines in which nothing else acts on the terminal."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def meanwhile(text: str) -> AbstractContextManager[Any]:
    """Words on a terminal while something takes its time that shows nothing itself; elsewhere none."""
    console = notes_console()
    if not console.is_interactive:
        return nullcontext()
    return console.status(text, spinner="line" if console.options.ascii_only else "dots")
