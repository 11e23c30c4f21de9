"""The lines of a running search's screen, for any size of terminal."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from evopinn.run.progress import Snapshot
from evopinn.run.wording import visible
from evopinn.store.records import Entry
from evopinn.view.numbers import scientific
from evopinn.view.run_tables import live_hall_of_fame_table
from evopinn.view.terminal.charts import sparkline
from evopinn.view.terminal.glyphs import ASCII, BLOCKS, Glyphs
from evopinn.view.terminal.sentences import (
    ENDINGS,
    ROUNDS,
    activity,
    clock,
    counted,
    time_left,
    ways_to_go_on,
)

LEAST_BAR = 10
LEAST_ACTIVATION = 16
_GAP = "  "
_REST = 8  # lines besides the rows of the hall of fame and the course of the loss
_ROOM_FOR_COURSE = 12
_LONGEST_COURSE = 60
_IN_ASCII = str.maketrans("━─·×…", "=--x.")

Line = tuple[tuple[str, str], ...]
"""Texts and the names of their styles."""


class Screen:
    """Makes the lines of the screen; the hall of fame, most of it, is made anew only when it has changed.

    Args:
        ascii_only: Whether the terminal has no other characters.
    """

    def __init__(self, *, ascii_only: bool = False) -> None:
        self._ascii_only = ascii_only
        self._hall_of: tuple[Sequence[Entry], int] = ((), 0)
        self._hall: list[str] = []

    def lines(self, now: Snapshot, width: int, height: int, ways_to_stop: str) -> list[Line]:
        """Lines no longer than the width and, if there is room for five, no more than fit the height.

        Args:
            now: How the search stands.
            width: In columns.
            height: In lines.
            ways_to_stop: Begins the last line: `q or Ctrl-C stops`.
        """
        course = _course(now, width, ASCII if self._ascii_only else BLOCKS)
        if height < _ROOM_FOR_COURSE:
            course = []
        hall = self._hall_lines(now.hall_of_fame[: max(height - _REST - len(course), 0)], width)
        heading = ["", hall[0]] if hall else []
        lines = [
            _plain(_header(now, width), width, "bold"),
            _plain(_round(now), width),
            _progress(now, width),
            _plain(_totals(now), width),
            *(_plain(line, width) for line in course),
            *(_plain(line, width, "bold") for line in heading),
            *(_plain(line, width) for line in hall[1:]),
            *([_plain("", width)] if height >= _REST else []),
            _plain(_hint(now, width, ways_to_stop), width, "dim"),
        ]
        return [_in_ascii(line) for line in lines] if self._ascii_only else lines

    def _hall_lines(self, entries: Sequence[Entry], width: int) -> list[str]:
        if (entries, width) != self._hall_of:
            self._hall_of = entries, width
            self._hall = hall_lines(entries, width) if entries else []
        return self._hall


class Lines:
    """Lines that are drawn as they are: a few pieces for rich, where a text would be parsed and wrapped."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            for text, style in line:
                yield Segment(text, console.get_style(style) if style else None)
            yield Segment.line()


def further_rows(lines: Sequence[Line], width: int) -> int:
    """Rows that lines take in a window of some width beyond one each: it breaks those that are longer."""
    lengths = (sum(cell_len(text) for text, _ in line) for line in lines)
    return sum(max(-(-length // width) - 1, 0) for length in lengths)


def later(now: Snapshot, seconds: float) -> Snapshot:
    """The same search some time after, if nothing else has changed: its clocks go on."""
    if now.phase in ENDINGS:
        return now
    left = None if now.seconds_left is None else max(0.0, now.seconds_left - seconds)
    return replace(now, seconds=now.seconds + seconds, seconds_left=left)


def hall_lines(entries: Sequence[Entry], width: int) -> list[str]:
    """A heading and a line for each entry; some columns give way to the activation on a narrow screen."""
    table = live_hall_of_fame_table(entries)
    texts = (
        [each.header, *(row[place].text for row in table.rows)] for place, each in enumerate(table.columns)
    )
    *kept, (_, activations) = list(zip(table.columns, texts, strict=True))
    for going in sorted(kept, key=lambda each: -each[0].gives_way):
        if going[0].gives_way and width - _width(cells for _, cells in kept) < LEAST_ACTIVATION:
            kept.remove(going)
    blocks = [_aligned(cells) for _, cells in kept]
    return [_GAP.join(line) for line in zip(*blocks, activations, strict=True)]


def _width(columns: Iterable[Sequence[str]]) -> int:
    return sum(max(map(len, cells)) + len(_GAP) for cells in columns)


def _aligned(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]


def _header(now: Snapshot, width: int) -> str:
    """Problem, method and directory; the end of a long directory tells more than its beginning."""
    if not now.method:  # what is only timed is kept nowhere
        return now.problem
    names, directory = f"{now.problem} · {now.method} · ", str(now.directory)
    room = max(width - len(names), LEAST_BAR)
    return names + (directory if len(directory) <= room else "…" + directory[1 - room :])


def _round(now: Snapshot) -> str:
    return f"{activity(now)}, {now.done}/{now.asked} trained" if now.phase in ROUNDS else activity(now)


def _progress(now: Snapshot, width: int) -> Line:
    """A bar of epochs, as long as there is room for, and the time."""
    left = [] if now.seconds_left is None or now.phase in ENDINGS else [time_left(now.seconds_left)]
    times = ", ".join([clock(now.seconds), *left])
    if not now.epochs_planned:
        return _plain(times, width)
    share = min(now.epochs / now.epochs_planned, 1.0)
    figures = f"{int(100 * share):3d} %  {times}"
    length = width - len(figures) - len(_GAP)
    if length < LEAST_BAR:
        return _plain(figures, width)
    full = int(length * share)
    # Thick and thin, so that it can be read without colours too.
    return ("━" * full, "bar.complete"), ("─" * (length - full), "bar.back"), (_GAP + figures, "")


def _totals(now: Snapshot) -> str:
    speed = f"{now.epochs_per_second:,.0f}" if now.epochs_per_second >= 10 else f"{now.epochs_per_second:.1f}"
    totals = [
        *([f"in all {now.trained:,}/{now.trainings:,} trained"] if now.trainings else []),
        *([f"{now.failed:,} failed"] if now.trainings else []),
        *([f"{speed} epochs/s"] if now.epochs_per_second > 0 else []),
        counted(now.workers, "worker"),
    ]
    return ", ".join(totals)


def _course(now: Snapshot, width: int, glyphs: Glyphs) -> list[str]:
    """How the best loss has fallen, from the first to the newest: a line, or none while there is nothing."""
    known = [loss for loss in now.course if math.isfinite(loss)]
    if not known:
        return []
    before, after = f"best loss {scientific(known[0])} ", f" {scientific(known[-1])}"
    room = min(width - len(before) - len(after), _LONGEST_COURSE)
    return [before + sparkline(known, room, glyphs) + after] if room >= LEAST_BAR else []


def _hint(now: Snapshot, width: int, ways_to_stop: str) -> str:
    """How to stop and go on; without the directory, which stands in the header, if that is too long."""
    short = f"{ways_to_stop}; nothing is lost"
    hints = (*(f"{short}, {way}" for way in ways_to_go_on(now)), short)
    return next((hint for hint in hints if cell_len(hint) <= width), ways_to_stop)


def _plain(text: str, width: int, style: str = "") -> Line:
    """A line in one style, cut to the width."""
    text = visible(text)
    return ((text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…", style),)


def _in_ascii(line: Line) -> Line:
    return tuple((text.translate(_IN_ASCII), style) for text, style in line)
