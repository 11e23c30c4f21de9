"""How many jobs a task of Ray does: enough to be worth its overhead, few enough to keep all workers busy."""

from collections.abc import Sequence

AIM = 2.0
"""Seconds that a task is to take at least, if there is enough to do: some hundred times its overhead. If its
node is lost, no more than that has to be done again."""

MOST = 32
"""Jobs in a task at most: their results come one by one, but what they go on from is sent at once."""

_SHARES = (
    2  # what waits is dealt out in so many turns at least, so that all workers end at about the same time
)


def batch_size(expected: Sequence[float | None], waiting: int, slots: int) -> int:
    """How many of the jobs that are next in turn go into one task.

    Args:
        expected: Seconds that each of them will take, as far as it is known; at least one.
        waiting: How many jobs wait in all.
        slots: How many tasks there can be at once.

    Examples:
        >>> batch_size([0.5] * 20, waiting=1000, slots=4), batch_size([0.5] * 3, waiting=3, slots=4)
        (4, 1)
    """
    most = min(MOST, max(waiting // (_SHARES * slots), 1), len(expected))
    seconds = 0.0
    for count, each in enumerate(expected[:most]):
        if each is None:  # nothing is known yet: one at a time
            return max(count, 1)
        seconds += each
        if seconds >= AIM:
            return count + 1
    return most
