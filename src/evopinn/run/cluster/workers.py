"""Workers on a cluster, as a driver sees them: they do jobs in any order and say how they ended.

What is tried again, how often, and what a lost node costs is decided here; Ray only runs tasks.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, Protocol

from evopinn.errors import RunError
from evopinn.run.cluster.batching import MOST, batch_size
from evopinn.run.cluster.messages import (
    Batch,
    Began,
    Demand,
    Done,
    Event,
    Loaded,
    Node,
    Order,
    Over,
    Poll,
    Prepare,
    Present,
    Unfit,
)
from evopinn.run.cluster.roster import Roster
from evopinn.run.cluster.stragglers import Stragglers
from evopinn.run.ended import Ended, Failure, FailureKind
from evopinn.run.workers import DEATHS

_SLACK = 60.0  # seconds that a task may be silent beyond the deadline of its job
_AHEAD = 0.1  # seconds that the broker may wait while the driver records what has ended
_LOST = {"worker": FailureKind.CRASHED, "memory": FailureKind.MEMORY}


class Link(Protocol):
    """What speaks to the cluster: see `Connection`."""

    @property
    def busy(self) -> bool:
        """Whether an answer is outstanding."""
        ...

    def ask(self, request: Prepare | Poll) -> None:
        """Send a request."""
        ...

    def answer(self, timeout: float) -> list[Event] | None:
        """What came of it, if it comes within some seconds."""
        ...


@dataclass
class ClusterJob:
    """A job that is not over.

    Attributes:
        number: By which it is reported.
        payload: What is to be done.
        seconds: How long one attempt may take.
        expected: How long it will take, as far as that is known.
        failures: How many attempts have failed by its own fault, as far as one knows.
    """

    number: int
    payload: Any
    seconds: float
    expected: float | None
    failures: int = 0


@dataclass
class Running:
    """A batch that was launched.

    Attributes:
        jobs: Those that are not over, in the order in which they are done.
        node: Where it runs; None until it does.
        process: The shell's id there.
        loaded: Whether its worker is ready.
        heard: When it told something last.
    """

    jobs: deque[ClusterJob]
    node: str | None = None
    process: int = 0
    loaded: bool = False
    heard: float = 0.0


class ClusterWorkers:
    """Tasks on a cluster that do jobs: see `Workforce`.

    Args:
        link: A broker that is prepared.
        nodes: That there are.
        count: How many tasks there may be at once.
        demand: What each of them takes.
        sealed: From a payload to what is sent.
        unsealed: From a payload and what came back to a result; may raise ValueError for what makes no sense.
        startup_seconds: How long a worker may take to be ready.
        say: Told, in sentences, of nodes that come and go and of jobs that all others wait for.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        link: Link,
        nodes: tuple[Node, ...],
        count: int,
        demand: Demand,
        *,
        sealed: Callable[[Any], bytes],
        unsealed: Callable[[Any, bytes], Any],
        startup_seconds: float,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._roster = Roster(nodes, demand, say)
        self._count = count
        self._sealed = sealed
        self._unsealed = unsealed
        self._startup_seconds = startup_seconds
        self._say = say
        self._clock = clock
        self._stragglers = Stragglers(say)
        self._waiting: deque[ClusterJob] = deque()
        self._running: dict[int, Running] = {}
        self._cancelled: list[int] = []
        self._ended: list[Ended] = []
        self._launched = 0
        self._serials: dict[tuple[str | None, int, int], int] = {}

    @property
    def outstanding(self) -> int:
        """How many jobs were submitted and are not over yet."""
        return len(self._waiting) + sum(len(running.jobs) for running in self._running.values())

    @property
    def in_flight(self) -> int:
        """How many tasks there are."""
        return len(self._running)

    @property
    def room(self) -> int:
        """How many more jobs are of use now: as many as make full batches for all workers, and no more."""
        return 2 * MOST * self._slots - len(self._waiting)

    def submit(
        self, number: int, payload: object, deadline_seconds: float, expected_seconds: float | None = None
    ) -> None:
        """Have a job done; in the order of submission, short ones several in one task."""
        self._waiting.append(ClusterJob(number, payload, deadline_seconds, expected_seconds))
        self._stragglers.begin()

    def wait(self, timeout: float) -> list[Ended]:
        """The attempts that ended, waiting for at most some seconds until there is one.

        Raises:
            RunError: The cluster is lost, or no node of it can do the work.
        """
        until = self._clock() + timeout
        while self.outstanding and not self._ended:
            left = until - self._clock()
            if left <= 0:
                break
            if not self._link.busy:
                self._ask(left)
            for event in self._link.answer(left) or ():
                self._take(event)
            self._look()
        if not self._link.busy and self._waiting and self._free:
            self._ask(_AHEAD)  # what is free gets work before the driver records what has ended
        ended, self._ended = self._ended, []
        return ended

    @property
    def _slots(self) -> int:
        return max(min(self._count, self._roster.slots), 1)

    @property
    def _free(self) -> int:
        """How many tasks may be launched: a few more than there is room for, so that a cluster may grow."""
        return min(self._count, self._roster.slots + max(self._roster.slots // 4, 2)) - len(self._running)

    def _ask(self, timeout: float) -> None:
        batches = [self._batch() for _ in range(self._free) if self._waiting]
        cancelled, self._cancelled = self._cancelled, []
        self._link.ask(Poll(tuple(batches), tuple(cancelled), timeout))

    def _batch(self) -> Batch:
        following = list(islice(self._waiting, MOST))
        # One that has failed is tried alone, so that it takes no other with it.
        untried = list(takewhile(lambda job: not job.failures, following)) or following[:1]
        size = batch_size([job.expected for job in untried], len(self._waiting), self._slots)
        jobs = [self._waiting.popleft() for _ in range(size)]
        self._launched += 1
        self._running[self._launched] = Running(deque(jobs))
        orders = tuple(Order(job.number, self._sealed(job.payload), job.seconds) for job in jobs)
        return Batch(self._launched, orders, avoid=self._roster.unfit)

    def _take(self, event: Event) -> None:
        if isinstance(event, Present):
            self._roster.update(event.nodes)
            return
        running = self._running.get(event.batch)
        if running is None:  # given up before
            return
        running.heard = self._clock()
        match event:
            case Began():
                running.node, running.process = event.node, event.process
            case Loaded():
                running.loaded = True
            case Done():
                self._finish(running, event)
            case Unfit():
                self._roster.exclude(event.node, event.reason)
            case Over():
                self._close(event.batch, event)

    def _finish(self, running: Running, done: Done) -> None:
        job = running.jobs.popleft()
        if job.number != done.number:
            raise RunError(f"job {done.number} came back in the place of {job.number}, which cannot be.")
        key = (running.node, running.process, done.worker)
        worker = self._serials.setdefault(key, len(self._serials) + 1)
        self._stragglers.learn(done.seconds)
        if done.value is None:
            self._fail(
                job, worker, done.seconds, done.failure or Failure(FailureKind.GARBAGE, "nothing came")
            )
            return
        try:
            value = self._unsealed(job.payload, done.value)
        except ValueError as error:
            self._fail(job, worker, done.seconds, Failure(FailureKind.GARBAGE, str(error)))
            return
        self._ended.append(Ended(job.number, job.failures + 1, worker, done.seconds, value))

    def _fail(self, job: ClusterJob, worker: int, seconds: float, failure: Failure) -> None:
        """Report a failed attempt; one that ended its worker is tried again, wherever there is room."""
        job.failures += 1
        again = failure.kind is not FailureKind.RAISED and job.failures < DEATHS
        self._ended.append(Ended(job.number, job.failures, worker, seconds, failure=failure, retried=again))
        if again:
            self._waiting.appendleft(job)

    def _close(self, serial: int, over: Over) -> None:
        """Take back what a batch has left undone."""
        running = self._running.pop(serial)
        # Nobody's fault: a node that is gone or cannot do it. Otherwise it was the one that was being done.
        if over.lost in _LOST and running.jobs:
            job = running.jobs.popleft()
            where = self._roster.name(running.node)
            failure = Failure(_LOST[over.lost], f"its process on {where} was lost: {over.detail}")
            self._fail(job, 0, self._clock() - running.heard, failure)
        elif over.lost == "node" and running.jobs:
            self._roster.miss(running.node, len(running.jobs))
        self._waiting.extendleft(reversed(running.jobs))

    def _look(self) -> None:
        """Give up tasks that are silent for too long, and tell of those that all wait for."""
        now = self._clock()
        for serial, running in list(self._running.items()):
            if running.node is None or not running.jobs:
                continue
            allowed = running.jobs[0].seconds + self._startup_seconds + _SLACK
            if now - running.heard > allowed:
                self._cancelled.append(serial)
                job = running.jobs.popleft()
                detail = f"{self._roster.name(running.node)} told nothing of it for {allowed:.0f} s"
                self._fail(job, 0, allowed, Failure(FailureKind.DEADLINE, detail))
                self._waiting.extendleft(reversed(running.jobs))
                del self._running[serial]
        if not self._waiting:
            current = [
                (
                    running.jobs[0].number,
                    self._roster.name(running.node),
                    now - running.heard,
                    running.jobs[0].expected,
                )
                for running in self._running.values()
                if running.loaded and running.jobs
            ]
            self._stragglers.look(current)
