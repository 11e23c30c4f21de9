"""The log of a search whose output is not a terminal."""

import math
from collections.abc import Callable, Generator
from dataclasses import replace

from evopinn.run.progress import Snapshot
from evopinn.view.terminal.sentences import ENDINGS, ROUNDS, ending, opening, round_done, standing

LINE_SECONDS = 10.0


class SearchLog:
    """A line at the start, at each generation's end and at the end; in between at most one in ten seconds.

    A generation that the workers can train at one go is not worth a line of its own: Bayesian optimisation
    has hundreds of them. If nobody can be told any more, a closed pipe for instance, the log falls silent.

    Args:
        write: What takes a line.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._before: Snapshot | None = None
        self._told: Snapshot | None = None
        self._last = -math.inf
        self._silent = False

    def show(self, now: Snapshot) -> None:
        """Write what is worth a line, if anything is."""
        if self._silent or now.phase == "loading":  # what is refused then has no log
            return
        try:
            for line in self._lines(now):
                self._last = now.seconds
                self._write(line)
        except OSError:
            self._silent = True

    def _lines(self, now: Snapshot) -> Generator[str]:
        before, self._before = self._before, now
        if before is None:
            yield opening(now)
        elif not _same_round(before, now) and now.phase != "stopped":
            # The next round may have been asked for before anyone looked.
            over = {name: getattr(before, name) for name in ("phase", "round", "generation", "asked")}
            yield from self._end_of_round(replace(now, **over))
        if now.done == now.asked:
            yield from self._end_of_round(now)
        if now.phase in ENDINGS:
            if before is None or before.phase != now.phase:
                yield ending(now)
        elif now.seconds - self._last >= LINE_SECONDS:
            yield standing(now)

    def _end_of_round(self, now: Snapshot) -> Generator[str]:
        if now.phase not in ROUNDS or now.asked <= now.workers:
            return
        if self._told is None or not _same_round(self._told, now):
            self._told = now
            yield round_done(now)


def _same_round(one: Snapshot, other: Snapshot) -> bool:
    return (one.phase, one.generation) == (other.phase, other.generation)
