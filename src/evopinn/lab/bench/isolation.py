"""Objects in processes of their own, on one core.

Libraries that are compared must not share settings: DeepXDE changes torch's defaults, XLA reads its flags
once. Peak memory is a process's. All processes are tied to the same core, and only the one that is asked
computes, so that measurements can be interleaved.
"""

import multiprocessing
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection
from typing import Any


class CrashedError(RuntimeError):
    """The process ended before it answered; the reason is on standard error."""


class Isolated(AbstractContextManager["Isolated"]):
    """An object that lives in another process.

    Args:
        make: Makes the object there; a function or class of a module.
        arguments: What it takes.
    """

    def __init__(self, make: Callable[..., object], *arguments: object) -> None:
        # A forked copy of a process that uses threads, as torch and JAX do, may hang.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        self._process.start()
        theirs.close()

    def call(self, method: str, *arguments: object) -> Any:
        """Call a method of the object, and return its result."""
        try:
            self._connection.send((method, arguments))
            return self._connection.recv()
        except (EOFError, ConnectionError):
            raise CrashedError(f"the process ended before it answered {method!r}.") from None

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.terminate()
        self._process.join()


def _serve(connection: Connection, make: Callable[..., object], arguments: tuple[object, ...]) -> None:
    import torch

    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    served = make(*arguments)
    while True:
        try:
            method, given = connection.recv()
        except EOFError:  # nobody will ask again
            return
        connection.send(getattr(served, method)(*given))
