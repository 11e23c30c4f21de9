"""A supervised worker process inside a task of Ray.

The process is the same as a local worker: one thread, a memory limit, a deadline, its last words. What it
does cannot harm the shell, which outlives it and is used again by the next task.
"""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evopinn.errors import RunError
from evopinn.run.ended import Ended
from evopinn.run.workers import Workers

_WAIT = 1.0
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class _Shell:
    """The one worker that this process holds ready, and for what."""

    def __init__(self) -> None:
        self._key: tuple[bytes, str | None] | None = None
        self._workers: Workers | None = None

    def workers(self, packed: bytes, memory_limit: int, startup_seconds: float, gpu: bool) -> Workers:
        """The worker, made anew if another setup or another GPU is asked for than before."""
        key = (packed, os.environ.get(_VISIBLE) if gpu else None)
        if self._workers is None or self._key != key:
            self.close()
            self._workers = Workers(
                opened, (packed,), memory_limit=memory_limit, startup_seconds=startup_seconds
            )
            self._key = key
        return self._workers

    def close(self) -> None:
        """End the worker."""
        if self._workers is not None:
            self._workers.close()
        self._workers = self._key = None


_shell = _Shell()


def opened(packed: bytes) -> Callable[[bytes], bytes]:
    """A worker's function from packed payloads to packed results.

    Only the driver and this worker look inside; what is between them needs no torch. An empty payload asks
    for nothing but a worker that is ready.
    """
    setup, arguments = pickle.loads(packed)
    perform: Callable[[Any], Any] = setup(*arguments)

    def answer(payload: bytes) -> bytes:
        return pickle.dumps(perform(pickle.loads(payload)), pickle.HIGHEST_PROTOCOL) if payload else b""

    return answer


def perform(
    packed: bytes,
    memory_limit: int,
    startup_seconds: float,
    gpu: bool,
    orders: Sequence[tuple[int, bytes, float]],
) -> Iterator[tuple[str, Any]]:
    """Do jobs one after the other, and tell how each ended.

    Args:
        packed: See `opened`.
        memory_limit: Bytes that the worker may occupy.
        startup_seconds: How long it may take to be ready.
        gpu: Whether it has a GPU, or a part of one.
        orders: Number, packed payload and deadline in seconds of each job.
    """
    try:
        for index, (number, payload, seconds) in enumerate(orders):
            workers = _shell.workers(packed, memory_limit, startup_seconds, gpu)
            if index == 0:
                _attempt(workers, number, b"", startup_seconds)
                yield "loaded", None
            ended = _attempt(workers, number, payload, seconds)
            if ended.retried:
                _shell.close()  # whether to try again, and where, is decided by the driver
            yield "done", (number, ended.worker, ended.seconds, ended.value, ended.failure)
    except RunError as error:
        _shell.close()
        yield "unfit", str(error)


def _attempt(workers: Workers, number: int, payload: bytes, seconds: float) -> Ended:
    workers.submit(number, payload, seconds)
    while not (ended := workers.wait(_WAIT)):
        pass
    return ended[0]
