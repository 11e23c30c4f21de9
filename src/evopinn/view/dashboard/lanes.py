"""Threads for what takes long, so that what is quick never waits for one."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from evopinn.errors import DashboardError

T = TypeVar("T")


class Lane:
    """Answers that are made by a few threads of their own; more of them wait without one.

    Args:
        threads: How many.
        ending: Set when the dashboard ends: what waits is refused.
    """

    def __init__(self, threads: int, ending: threading.Event) -> None:
        self._ending = ending
        self._limiter = anyio.CapacityLimiter(threads)

    async def __call__(self, make: Callable[..., T], *arguments: Any) -> T:
        """What a function returns. If nobody waits for that any more, nor does the dashboard when it ends."""

        def made() -> T:
            refuse_at_the_end(self._ending)
            return make(*arguments)

        return await anyio.to_thread.run_sync(made, abandon_on_cancel=True, limiter=self._limiter)


def refuse_at_the_end(ending: threading.Event) -> None:
    """Raise if the dashboard is ending."""
    if ending.is_set():
        raise DashboardError("the dashboard is ending.")
