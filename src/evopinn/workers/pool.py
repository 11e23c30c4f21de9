"""Pools of workers: the interface of every pool, and the pool of local processes.

    with LocalPool(make_trainer, ("klein-gordon",), count=2) as workers:
        workers.submit(0, payload, deadline_seconds=60)
        for outcome in workers.wait(timeout=5):
            ...

Each local worker has a private connection and shares no queue or lock with anything, so one that dies,
whatever it was doing, harms only its own job. The pool replaces it and tries the job again; it gives up a job
that kills three workers.
"""

import selectors
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from evopinn.errors import RunError
from evopinn.training import Status
from evopinn.workers.channel import GarbageError, Raised, Ready, Returned, SetupFailed, pack
from evopinn.workers.process import WorkerProcess, packed_setup

DEATHS = 3
_TICK = 0.2  # seconds between two checks of memory and of processes that may have died
_GRACE = 1.0
_LONG = 15.0  # seconds of starting after which it is reported


@dataclass(frozen=True)
class Failure:
    """Why an attempt at a job failed.

    Attributes:
        status: The kind of failure.
        detail: For a person: exit code or signal, limits, the exception, the last lines the worker printed.
    """

    status: Status
    detail: str


@dataclass(frozen=True)
class Outcome:
    """How one attempt at a job ended.

    Attributes:
        number: The job's number.
        attempt: Which attempt this was, from 1.
        worker: Serial number of the process, from 1; a replacement has a new one.
        seconds: From sending the payload to the end.
        value: What the job returned, unless it failed.
        failure: Why it failed, if it did.
        retried: Whether the job is retried, so that another outcome will follow.
    """

    number: int
    attempt: int
    worker: int
    seconds: float
    value: Any = None
    failure: Failure | None = None
    retried: bool = False

    @property
    def poison(self) -> bool:
        """Whether the job was given up because it killed too many workers."""
        return self.failure is not None and not self.retried and self.failure.status is not Status.RAISED


class Pool(Protocol):
    """Workers that do jobs in any order and report how each ended."""

    @property
    def outstanding(self) -> int:
        """How many submitted jobs are not over."""
        ...

    @property
    def room(self) -> int:
        """The number of jobs to submit now, so that no worker has to wait."""
        ...

    def submit(
        self, number: int, payload: object, deadline_seconds: float, expected_seconds: float | None = None
    ) -> None:
        """Submit a job, with the seconds that it is expected to take if that is known."""
        ...

    def wait(self, timeout: float) -> list[Outcome]:
        """The attempts that have ended; waits for one at most this many seconds."""
        ...


@dataclass
class Job:
    """A job that has not ended.

    Attributes:
        number: Its number in outcomes.
        payload: The work.
        packed: The message that hands it to a worker.
        seconds: How long one attempt may take.
        attempts: The number of attempts so far.
    """

    number: int
    payload: Any
    packed: bytes
    seconds: float
    attempts: int = 0


@dataclass(frozen=True)
class RunningJob:
    """The attempt of a busy worker, and its start time."""

    job: Job
    since: float

    @property
    def until(self) -> float:
        """Its deadline."""
        return self.since + self.job.seconds


class LocalPool(AbstractContextManager["LocalPool"]):
    """Local processes that do jobs, and are replaced when they fail.

    Call all methods from one thread that lives as long as the workers, because on Linux they die with it.

    Args:
        setup: A function or class of an importable module. It is called once in each worker, with
            `arguments`, and returns the function from payload to result.
        arguments: What `setup` takes; like payloads and results, anything that can be pickled.
        count: How many processes.
        memory_limit: How many bytes of memory a process may occupy.
        accept: Whether a value can be the result of a payload; one that cannot counts as garbage.
        startup: The work of a worker before it is ready, for messages.
        startup_seconds: How long that may take.
        say: Receives a sentence about workers that take long to be ready.
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
            raise RunError(f"the number of workers is {count}; give 1 or more.")
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
        self._running: dict[WorkerProcess, RunningJob] = {}
        self._workers: list[WorkerProcess] = []
        self._outcomes: list[Outcome] = []
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
        """How many submitted jobs are not over."""
        return len(self._queue) + len(self._running)

    @property
    def room(self) -> int:
        """The number of jobs to submit now: one extra job waits, so that no worker does."""
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
        """Submit a job; workers take jobs in the order of submission.

        Args:
            number: The job's number, which its outcomes carry.
            payload: The argument of the function that `setup` returned.
            deadline_seconds: How long one attempt may take.
            expected_seconds: How long it is expected to take, if that is known.
        """
        self._queue.append(Job(number, payload, pack((number, payload)), deadline_seconds))
        self._dispatch()

    def wait(self, timeout: float) -> list[Outcome]:
        """Wait until an attempt ends, at most this many seconds.

        Returns:
            The attempts that ended, in that order; none if none ended in time or nothing is outstanding.

        Raises:
            RunError: Workers cannot be started.
        """
        until = self._clock() + timeout
        left = timeout
        while self.outstanding and not self._outcomes:
            self._step(left)
            left = until - self._clock()
            if left <= 0:
                break
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers; kill those that have not ended after a second."""
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
        """Wait for messages and deadlines, and handle them."""
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
        self._replace_failing()
        self._dispatch()

    def _read(self, worker: WorkerProcess) -> None:
        try:
            for message in worker.channel.receive():
                self._take(worker, message)
                if worker not in self._workers:
                    return
        except GarbageError as error:
            self._replace(worker, Status.GARBAGE, str(error))
            return
        if worker.channel.ended:
            self._replace(worker, Status.CRASHED, worker.describe_end())

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
                # What else failed for lack of memory is unknown, so a new process is safer.
                self._replace(worker, Status.MEMORY, text.strip())
            case Raised(number, text) if number == expected:
                self._finish(worker, failure=Failure(Status.RAISED, text.strip()))
            case _:
                raise GarbageError(f"an unexpected message: {_shortened(repr(message))}")

    def _finish(self, worker: WorkerProcess, value: Any = None, failure: Failure | None = None) -> None:
        running = self._running.pop(worker)
        seconds = self._clock() - running.since
        job = running.job
        self._outcomes.append(Outcome(job.number, job.attempts, worker.serial, seconds, value, failure))

    def _replace_failing(self) -> None:
        """Replace workers that are overdue, too large or dead."""
        now = self._clock()
        for worker, running in list(self._running.items()):
            if now >= running.until:
                allowed = f"{running.job.seconds:g} s"
                self._replace(worker, Status.DEADLINE, f"it was not done after {allowed} and was killed")
        if now - self._looked < _TICK:
            return
        self._looked = now
        self._report_slow_starts(now)
        for worker in list(self._workers):
            worker.bound_printed()
            size = worker.resident_bytes() if self._memory_limit else None
            if worker.exit_code is not None:
                self._read(worker)  # it may have sent messages before
                if worker in self._workers:
                    self._replace(worker, Status.CRASHED, worker.describe_end())
            elif size is not None and size > self._memory_limit:
                detail = f"it occupied {_megabytes(size)} of {_megabytes(self._memory_limit)} and was killed"
                self._replace(worker, Status.MEMORY, detail)
            elif not worker.ready and now >= worker.started + self._startup_seconds:
                detail = f"it was not ready after {self._startup_seconds:g} s and was killed"
                self._replace(worker, Status.DEADLINE, detail)

    def _report_slow_starts(self, now: float) -> None:
        """Report each worker that takes long to be ready, once."""
        waiting = [each for each in self._workers if not each.ready and each.serial > self._told]
        if self._say is None or not waiting or now < waiting[0].started + _LONG:
            return
        self._told = waiting[-1].serial
        names = ", ".join(str(each.serial) for each in waiting)
        who = f"worker {names} is" if len(waiting) == 1 else f"workers {names} are"
        self._say(
            f"note: {who} still {self._startup} after {now - waiting[0].started:.0f} s; a worker that is not "
            f"ready after {self._startup_seconds:g} s is replaced."
        )

    def _replace(self, worker: WorkerProcess, status: Status, detail: str) -> None:
        """Kill a worker, report its job's failure, retry the job or give it up, and start another worker."""
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
            failure = Failure(status, detail)
            self._outcomes.append(
                Outcome(job.number, job.attempts, worker.serial, seconds, failure=failure, retried=again)
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
            # The next job must not be blamed for a worker that died while it was idle.
            if worker.ready and worker not in self._running and worker.exit_code is None:
                job = self._queue.popleft()
                job.attempts += 1
                worker.forget_printed()
                self._running[worker] = RunningJob(job, self._clock())
                worker.channel.send(job.packed)
                self._register(worker)

    def _register(self, worker: WorkerProcess) -> None:
        """Watch for messages from a worker and, while one is being sent to it, for room to send more."""
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
