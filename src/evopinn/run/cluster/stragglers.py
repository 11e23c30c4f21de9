"""The last jobs of a round, which all workers wait for: seen and told, once a round."""

import statistics
from collections import deque
from collections.abc import Callable, Sequence

LEAST = 10.0
"""Seconds below which a person does not mind to wait."""

FACTOR = 3.0
"""So many times as long as expected is long."""

_REMEMBERED = 200
_LISTED = 3


class Stragglers:
    """Tells of jobs that take much longer than expected when nothing else is left to do.

    Args:
        say: Told so, in a sentence.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)
        self._told = False

    def begin(self) -> None:
        """There is something to do again."""
        self._told = False

    def learn(self, seconds: float) -> None:
        """Take in how long a job took."""
        self._seconds.append(seconds)

    def look(self, running: Sequence[tuple[int, str, float, float | None]]) -> None:
        """Tell of those that take long, if nobody was told since `begin`.

        Args:
            running: Number, node, seconds so far and expected seconds of each job that is left.
        """
        if self._told or not running:
            return
        median = statistics.median(self._seconds) if self._seconds else None
        late: list[tuple[float, str]] = []
        for number, node, seconds, expected in running:
            usual = expected if expected is not None else median
            if usual is not None and seconds > max(LEAST, FACTOR * usual):
                late.append(
                    (
                        seconds,
                        f"task {number} on {node}, at it for {seconds:.0f} s, not {usual:.3g} s as expected",
                    )
                )
        if late:
            self._told = True
            listed = [text for _, text in sorted(late, reverse=True)[:_LISTED]]
            more = f", and {len(late) - _LISTED} more" if len(late) > _LISTED else ""
            self._say(f"note: all other workers wait for {'; '.join(listed)}{more}.")
