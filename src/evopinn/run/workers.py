"""A supervised set of local worker processes.

    with Workers(make_trainer, ("klein-gordon",), count=2) as workers:
        workers.submit(0, payload, deadline_seconds=60)
        for ended in workers.wait(timeout=5):
            ...

Each worker has a private connection and shares no queue or lock with anything, so that one that dies,
whatever it is doing, harms nothing but its own job. It is replaced and the job is tried again; a job that
ends three workers is given up.
"""

import selectors
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from evopinn.errors import RunError
from evopinn.run.channel import GarbageError, Raised, Ready, Returned, SetupFailed, pack
from evopinn.run.closing import Closing
from evopinn.run.ended import Ended, Failure, FailureKind
from evopinn.run.job import Job, Running
from evopinn.run.process import WorkerProcess, packed_setup

DEATHS = 3
_TICK = 0.2  # between two looks at memory and at processes whose death no end of file has told
_GRACE = 1.0
_LONG = 15.0  # seconds of starting after which a person wants to know


class Workers(Closing):
    """Processes that do jobs, and are replaced when they fail.

    All methods must be called from one thread, and that thread must live as long as the workers: on Linux
    they die with it.

    Args:
        setup: A function or class of an importable module. It is called once in each worker, with
            `arguments`, and returns the function from payload to result.
        arguments: What `setup` takes; like payloads and results, anything that can be pickled.
        count: How many processes.
        memory_limit: How many bytes of memory one may occupy.
        accept: Whether a payload's result makes sense; one that does not counts as garbage.
        startup: What a worker does before it is ready, for a person.
        startup_seconds: How long it may take for that.
        say: Told, in a sentence, which workers take long to be ready.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        setup: Callable[..., Callable[[Any], Any]],
        arguments: Sequence[object] = (),
        *,
        count: int = 1,
        memory_limit: int | None = None,
        accept: Callable[[Any, Any], bool] | None = None,
        startup: str = "starting",
        startup_seconds: float = 120,
        say: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if count < 1:
            raise RunError(f"{count} workers can do nothing; give 1 or more.")
        self._setup = packed_setup(setup, tuple(arguments))
        self._memory_limit = memory_limit or 0
        self._accept = accept
        self._startup = startup
        self._startup_seconds = startup_seconds
        self._say = say
        self._told = 0
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._queue: deque[Job] = deque()
        self._running: dict[WorkerProcess, Running] = {}
        self._workers: list[WorkerProcess] = []
        self._ended: list[Ended] = []
        self._started = 0
        self._failed_starts = 0
        self._looked = clock()
        try:
            for _ in range(count):
                self._start()
        except BaseException:  # Ctrl-C too must leave nothing half done
            self.close()
            raise

    @property
    def outstanding(self) -> int:
        """How many jobs were submitted and are not over yet."""
        return len(self._queue) + len(self._running)

    @property
    def room(self) -> int:
        """How many more jobs it is well to submit now: one waits, so that no worker does."""
        return len(self._workers) + 1 - self.outstanding

    @property
    def pids(self) -> dict[int, int]:
        """The process id of each worker, by its serial number."""
        return {worker.serial: worker.pid for worker in self._workers}

    def submit(
        self,
        number: int,
        payload: object,
        deadline_seconds: float,
        expected_seconds: float | None = None,  # noqa: ARG002 - of use where jobs are done in batches
    ) -> None:
        """Have a job done as soon as a worker is free; in the order of submission.

        Args:
            number: The job's number, by which it is reported.
            payload: What the function that `setup` returned is called with.
            deadline_seconds: How long one attempt may take, from when a worker gets it.
            expected_seconds: How long it will take, as far as that is known.
        """
        self._queue.append(Job(number, payload, pack((number, payload)), deadline_seconds))
        self._dispatch()

    def wait(self, timeout: float) -> list[Ended]:
        """Wait until an attempt is over, or for some seconds.

        Returns:
            The attempts that ended, in that order; empty if none did in time or if nothing is outstanding.

        Raises:
            RunError: Workers cannot be started.
        """
        until = self._clock() + timeout
        left = timeout
        while self.outstanding and not self._ended:
            self._step(left)
            left = until - self._clock()
            if left <= 0:
                break
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """End all workers, at once if they do not end by themselves within a second."""
        for worker in self._workers:
            worker.terminate()
        until = time.monotonic() + _GRACE
        for worker in self._workers:
            worker.await_end(max(until - time.monotonic(), 0))
            worker.close()
        self._workers.clear()
        self._running.clear()
        self._queue.clear()
        self._selector.close()

    def _step(self, timeout: float) -> None:
        """Sleep until something comes or is due, and see to it."""
        now = self._clock()
        due = [running.until for running in self._running.values()]
        due += [worker.started + self._startup_seconds for worker in self._workers if not worker.ready]
        pause = max(min([timeout, _TICK, *(moment - now for moment in due)]), 0)
        for key, events in self._selector.select(pause):
            worker: WorkerProcess = key.data
            if events & selectors.EVENT_WRITE:
                worker.channel.flush()
                self._register(worker)
            if events & selectors.EVENT_READ:
                self._read(worker)
        self._look()
        self._dispatch()

    def _read(self, worker: WorkerProcess) -> None:
        try:
            for message in worker.channel.receive():
                self._take(worker, message)
                if worker not in self._workers:
                    return
        except GarbageError as error:
            self._replace(worker, FailureKind.GARBAGE, str(error))
            return
        if worker.channel.ended:
            self._replace(worker, FailureKind.CRASHED, worker.describe_end())

    def _take(self, worker: WorkerProcess, message: object) -> None:
        running = self._running.get(worker)
        expected = None if running is None else running.job.number
        match message:
            case Ready() if not worker.ready:
                worker.ready = True
                self._failed_starts = 0
            case SetupFailed(text) if not worker.ready:
                raise RunError(f"a worker could not be set up:\n{text.strip()}")
            case Returned(number, value) if running is not None and number == expected:
                if self._accept is not None and not self._accept(running.job.payload, value):
                    raise GarbageError(f"a result that makes no sense: {_shortened(repr(value))}")
                self._finish(worker, value=value)
            case Raised(number, text, memory=True) if number == expected:
                # What else failed for lack of memory is unknown; a fresh process is the safe one.
                self._replace(worker, FailureKind.MEMORY, text.strip())
            case Raised(number, text) if number == expected:
                self._finish(worker, failure=Failure(FailureKind.RAISED, text.strip()))
            case _:
                raise GarbageError(f"an unexpected message: {_shortened(repr(message))}")

    def _finish(self, worker: WorkerProcess, value: Any = None, failure: Failure | None = None) -> None:
        running = self._running.pop(worker)
        seconds = self._clock() - running.since
        job = running.job
        self._ended.append(Ended(job.number, job.attempts, worker.serial, seconds, value, failure))

    def _look(self) -> None:
        """End what is overdue, too large, or dead without having said so."""
        now = self._clock()
        for worker, running in list(self._running.items()):
            if now >= running.until:
                allowed = f"{running.job.seconds:g} s"
                self._replace(worker, FailureKind.DEADLINE, f"it was not done after {allowed} and was killed")
        if now - self._looked < _TICK:
            return
        self._looked = now
        self._tell_who_starts(now)
        for worker in list(self._workers):
            worker.bound_printed()
            size = worker.resident_bytes() if self._memory_limit else None
            if worker.exit_code is not None:
                self._read(worker)  # its last words come first
                if worker in self._workers:
                    self._replace(worker, FailureKind.CRASHED, worker.describe_end())
            elif size is not None and size > self._memory_limit:
                detail = f"it occupied {_megabytes(size)} of {_megabytes(self._memory_limit)} and was killed"
                self._replace(worker, FailureKind.MEMORY, detail)
            elif not worker.ready and now >= worker.started + self._startup_seconds:
                detail = f"it was not ready after {self._startup_seconds:g} s and was killed"
                self._replace(worker, FailureKind.DEADLINE, detail)

    def _tell_who_starts(self, now: float) -> None:
        """Say once of each worker that it takes long to be ready."""
        waiting = [each for each in self._workers if not each.ready and each.serial > self._told]
        if self._say is None or not waiting or now < waiting[0].started + _LONG:
            return
        self._told = waiting[-1].serial
        names = ", ".join(str(each.serial) for each in waiting)
        who = f"worker {names} is" if len(waiting) == 1 else f"workers {names} are"
        self._say(
            f"note: {who} still {self._startup} after {now - waiting[0].started:.0f} s; whatever is not "
            f"ready after {self._startup_seconds:g} s is given up."
        )

    def _replace(self, worker: WorkerProcess, kind: FailureKind, detail: str) -> None:
        """End a worker, report its job's failure, try the job again or give it up, and start another."""
        worker.kill()
        last_words = worker.printed()
        detail = detail if not last_words else f"{detail}; the last it printed:\n{last_words}"
        running = self._running.pop(worker, None)
        self._selector.unregister(worker.channel)
        self._workers.remove(worker)
        worker.close()
        if running is not None:
            job = running.job
            again = job.attempts < DEATHS
            seconds = self._clock() - running.since
            failure = Failure(kind, detail)
            self._ended.append(
                Ended(job.number, job.attempts, worker.serial, seconds, failure=failure, retried=again)
            )
            if again:
                self._queue.appendleft(job)
        elif not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= DEATHS:
                raise RunError(
                    f"{DEATHS} workers in a row failed before they were ready; the last one: {detail}"
                )
        self._start()

    def _start(self) -> None:
        self._started += 1
        try:
            worker = WorkerProcess(self._started, self._setup, self._memory_limit, self._clock())
        except OSError as error:
            raise RunError(f"a worker process could not be started: {error}.") from error
        self._workers.append(worker)
        self._register(worker)

    def _dispatch(self) -> None:
        for worker in self._workers:
            if not self._queue:
                return
            # One that died while it was idle must not be counted against the next job.
            if worker.ready and worker not in self._running and worker.exit_code is None:
                job = self._queue.popleft()
                job.attempts += 1
                worker.forget_printed()
                self._running[worker] = Running(job, self._clock())
                worker.channel.send(job.packed)
                self._register(worker)

    def _register(self, worker: WorkerProcess) -> None:
        """Have the selector tell what a worker sends, and when it takes more if a message is on its way."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.channel.sending else 0)
        registered = self._selector.get_map().get(worker.channel)
        if registered is None:
            self._selector.register(worker.channel, events, worker)
        elif registered.events != events:
            self._selector.modify(worker.channel, events, worker)


def _shortened(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _megabytes(count: int) -> str:
    return f"{count / 2**20:.0f} MB"
