"""Work that may run a program of the user's, such as a problem's file: in a process that can be ended."""

import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from evopinn.errors import EvopinnError, FigureError
from evopinn.run.channel import GarbageError, Raised, Ready, Returned, pack
from evopinn.run.process import WorkerProcess, packed_setup
from evopinn.view.dashboard.lanes import refuse_at_the_end

T = TypeVar("T")

SECONDS = 120.0
"""How long such work may take, and how long others wait for it."""

_GLANCE = 0.1


class Apart:
    """Does one thing at a time, each in a fresh process: the programs may have changed since the last.

    Args:
        ending: Set when the dashboard ends: what is being done is given up.
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
        if os.name != "posix":  # where workers cannot be had
            return function(*arguments)
        if not self._turn.acquire(timeout=self._seconds):
            raise FigureError("others wait for the same problem's file or a report; try again in a while.")
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
                        raise FigureError(f"this went wrong: {text.strip().splitlines()[-1]}.")
                    case _:
                        raise FigureError("the process for this could not be started.")
            if worker.channel.ended:
                raise FigureError(f"the process for this came to no end: {worker.describe_end()}.")
        raise FigureError(
            f"this took more than {self._seconds:g} s and was given up; a problem's file that computes for "
            "long should keep its results in a file."
        )


def _messages(worker: WorkerProcess) -> list[object]:
    try:
        return list(worker.channel.receive())
    except GarbageError as error:
        raise FigureError(f"the process for this answered nonsense: {error}.") from error


def _told(function: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[T | None, EvopinnError | None]:
    """What a function returns, or what it raises for a user to read."""
    try:
        return function(*arguments), None
    except EvopinnError as error:
        return None, FigureError(str(error))
