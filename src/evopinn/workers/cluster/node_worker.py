"""A supervised worker process inside a task of Ray.

The process is the same as a local worker, with one thread, a memory limit and a deadline. It cannot harm the
task's own process, which outlives it and is used again by the next task.
"""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evopinn.errors import RunError
from evopinn.workers.pool import LocalPool, Outcome

_WAIT = 1.0
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class _KeptWorker:
    """The one worker that this process keeps ready, and its setup."""

    def __init__(self) -> None:
        self._key: tuple[bytes, str | None] | None = None
        self._workers: LocalPool | None = None

    def workers(self, packed: bytes, memory_limit: int, startup_seconds: float, gpu: bool) -> LocalPool:
        """The worker; a new one if the setup or the GPU has changed."""
        key = (packed, os.environ.get(_VISIBLE) if gpu else None)
        if self._workers is None or self._key != key:
            self.close()
            self._workers = LocalPool(
                make_answer, (packed,), memory_limit=memory_limit, startup_seconds=startup_seconds
            )
            self._key = key
        return self._workers

    def close(self) -> None:
        """End the worker."""
        if self._workers is not None:
            self._workers.close()
        self._workers = self._key = None


_kept = _KeptWorker()


def make_answer(packed: bytes) -> Callable[[bytes], bytes]:
    """A worker's function from packed payloads to packed results.

    Only the driver and this worker look inside, so nothing between them needs torch. An empty payload only
    asks whether the worker is ready.
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
    """Do jobs one after the other, and report how each ended.

    Args:
        packed: See `make_answer`.
        memory_limit: Bytes that the worker may occupy.
        startup_seconds: How long it may take to be ready.
        gpu: Whether the worker uses a GPU, or a part of one.
        orders: Number, packed payload and deadline in seconds of each job.
    """
    try:
        for index, (number, payload, seconds) in enumerate(orders):
            workers = _kept.workers(packed, memory_limit, startup_seconds, gpu)
            if index == 0:
                _attempt(workers, number, b"", startup_seconds)
                yield "loaded", None
            outcome = _attempt(workers, number, payload, seconds)
            if outcome.retried:
                _kept.close()  # the driver decides whether and where to retry
            yield "done", (number, outcome.worker, outcome.seconds, outcome.value, outcome.failure)
    except RunError as error:
        _kept.close()
        yield "unfit", str(error)


def _attempt(workers: LocalPool, number: int, payload: bytes, seconds: float) -> Outcome:
    workers.submit(number, payload, seconds)
    while not (outcomes := workers.wait(_WAIT)):
        pass
    return outcomes[0]
