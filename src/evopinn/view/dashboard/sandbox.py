"""Threads for slow work, and a process that can be killed for work that may run a user's program."""

import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from evopinn.errors import DashboardError, EvopinnError, FigureError
from evopinn.workers.channel import GarbageError, Raised, Ready, Returned, pack
from evopinn.workers.process import WorkerProcess, packed_setup

T = TypeVar("T")

SECONDS = 120.0
"""How long such work may take, and how long others wait for it."""

_GLANCE = 0.1


class Sandbox:
    """Runs one function at a time, each in a fresh process, since programs may have changed.

    Args:
        ending: Set when the dashboard ends; work in progress is then abandoned.
        seconds: How long each may take.
    """

    def __init__(self, ending: threading.Event, seconds: float = SECONDS) -> None:
        self._ending = ending
        self._seconds = seconds
        self._turn = threading.Lock()

    def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of a module.

        Raises:
            EvopinnError: What it raised; or that it took too long, or did not come to its end.
        """
        if os.name != "posix":  # which has no worker processes
            return function(*arguments)
        if not self._turn.acquire(timeout=self._seconds):
            raise FigureError(
                "the problem's file or a report is busy with other requests; try again in a while."
            )
        try:
            setup = packed_setup(partial, (_told, function))
            with closing(WorkerProcess(0, setup, 0, time.monotonic())) as worker:
                return self._awaited(worker, arguments)
        finally:
            self._turn.release()

    def _awaited(self, worker: WorkerProcess, arguments: tuple[Any, ...]) -> Any:
        last = time.monotonic() + self._seconds
        while time.monotonic() < last:
            refuse_at_the_end(self._ending)
            wanted = [worker.channel] if worker.channel.sending else []
            select.select([worker.channel], wanted, [], _GLANCE)
            worker.channel.flush()
            for message in _messages(worker):
                match message:
                    case Ready():
                        worker.channel.send(pack((0, arguments)))
                    case Returned(value=(value, None)):
                        return value
                    case Returned(value=(_, error)):
                        raise error
                    case Raised(text=text):
                        raise FigureError(f"this failed: {text.strip().splitlines()[-1]}.")
                    case _:
                        raise FigureError("the process for this could not be started.")
            if worker.channel.ended:
                raise FigureError(f"the process for this ended unexpectedly: {worker.describe_end()}.")
        raise FigureError(
            f"this took more than {self._seconds:g} s and was abandoned; a problem's file that computes "
            "for long should cache its results in a file."
        )


def _messages(worker: WorkerProcess) -> list[object]:
    try:
        return list(worker.channel.receive())
    except GarbageError as error:
        raise FigureError(f"the process for this sent an unreadable answer: {error}.") from error


def _told(function: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[T | None, EvopinnError | None]:
    """What a function returns, or what it raises for a user to read."""
    try:
        return function(*arguments), None
    except EvopinnError as error:
        return None, FigureError(str(error))


class Threads:
    """A few threads that compute answers; further requests wait without a thread.

    Args:
        threads: How many.
        ending: Set when the dashboard ends: what waits is refused.
    """

    def __init__(self, threads: int, ending: threading.Event) -> None:
        self._ending = ending
        self._limiter = anyio.CapacityLimiter(threads)

    async def __call__(self, make: Callable[..., T], *arguments: Any) -> T:
        """What a function returns; when the dashboard ends, it does not wait for abandoned requests."""

        def made() -> T:
            refuse_at_the_end(self._ending)
            return make(*arguments)

        return await anyio.to_thread.run_sync(made, abandon_on_cancel=True, limiter=self._limiter)


def refuse_at_the_end(ending: threading.Event) -> None:
    """Raise if the dashboard is ending."""
    if ending.is_set():
        raise DashboardError("the dashboard is ending.")
