"""The pool of workers on a Ray cluster.

It decides what is retried, how often, and what a lost node costs; Ray only runs tasks.
"""

import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from evopinn.errors import RunError
from evopinn.training import Status
from evopinn.workers.cluster.messages import (
    AttemptEnded,
    BatchEnded,
    BatchStarted,
    BrokerEvent,
    BrokerLink,
    ClusterNode,
    JobAttempt,
    JobBatch,
    NodesChanged,
    NodeUnfit,
    PollRequest,
    WorkerLoaded,
    WorkerResources,
)
from evopinn.workers.cluster.nodes import NodeRegistry
from evopinn.workers.pool import DEATHS, Failure, Outcome

_SLACK = 60.0  # seconds that a task may be silent beyond the deadline of its job
_AHEAD = 0.1  # seconds that the broker may wait while the driver records outcomes
AIM = 2.0
"""Seconds that a task should take if there is enough to do: about a hundred times its overhead, and no more
than what may be lost with a node."""

MOST = 32
"""Maximum number of jobs in a task: the states that they continue from are sent with it, all at once."""

_SHARES = 2
"""Minimum number of turns in which waiting jobs are handed out, so that all workers end together."""

LEAST = 10.0
"""Maximum seconds of waiting without a report."""

FACTOR = 3.0
"""A job is late after this multiple of the expected time."""

_REMEMBERED = 200
_LISTED = 3

_LOST = {"worker": Status.CRASHED, "memory": Status.MEMORY}


@dataclass
class RayJob:
    """A job that has not ended.

    Attributes:
        number: The number that its outcomes carry.
        payload: What to do.
        seconds: How long one attempt may take.
        expected: How long it is expected to take, if that is known.
        failures: How many attempts failed, as far as known by its own fault.
    """

    number: int
    payload: Any
    seconds: float
    expected: float | None
    failures: int = 0


@dataclass
class RunningBatch:
    """A batch that was launched.

    Attributes:
        jobs: The jobs that have not ended, in order.
        node: Where it runs; None before it does.
        process: The process id of the task there.
        loaded: Whether its worker is ready.
        heard: When it last reported something.
    """

    jobs: deque[RayJob]
    node: str | None = None
    process: int = 0
    loaded: bool = False
    heard: float = 0.0


class RayPool:
    """Ray tasks that do jobs: see `Pool`.

    Args:
        link: A broker that is prepared.
        nodes: The nodes of the cluster.
        count: Maximum number of simultaneous tasks.
        demand: What each of them needs of a node.
        pack: Turns a payload into what is sent.
        unpack: Turns a payload and what came back into a result; raises ValueError if it cannot be one.
        startup_seconds: How long a worker may take to be ready.
        say: Receives sentences about nodes that join and leave, and about jobs that all others wait for.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        link: BrokerLink,
        nodes: tuple[ClusterNode, ...],
        count: int,
        demand: WorkerResources,
        *,
        pack: Callable[[Any], bytes],
        unpack: Callable[[Any, bytes], Any],
        startup_seconds: float,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._nodes = NodeRegistry(nodes, demand, say)
        self._count = count
        self._pack = pack
        self._unpack = unpack
        self._startup_seconds = startup_seconds
        self._say = say
        self._clock = clock
        self._stragglers = Stragglers(say)
        self._waiting: deque[RayJob] = deque()
        self._running: dict[int, RunningBatch] = {}
        self._cancelled: list[int] = []
        self._outcomes: list[Outcome] = []
        self._launched = 0
        self._serials: dict[tuple[str | None, int, int], int] = {}

    @property
    def outstanding(self) -> int:
        """How many submitted jobs are not over."""
        return len(self._waiting) + sum(len(running.jobs) for running in self._running.values())

    @property
    def in_flight(self) -> int:
        """How many tasks there are."""
        return len(self._running)

    @property
    def room(self) -> int:
        """How many more jobs to submit now: as many as fill the batches of all workers."""
        return 2 * MOST * self._slots - len(self._waiting)

    def submit(
        self, number: int, payload: object, deadline_seconds: float, expected_seconds: float | None = None
    ) -> None:
        """Submit a job; tasks take jobs in the order of submission, and several short ones at once."""
        self._waiting.append(RayJob(number, payload, deadline_seconds, expected_seconds))
        self._stragglers.begin()

    def wait(self, timeout: float) -> list[Outcome]:
        """The attempts that have ended; waits for one at most this many seconds.

        Raises:
            RunError: The cluster is lost, or none of its nodes can run trainings.
        """
        until = self._clock() + timeout
        while self.outstanding and not self._outcomes:
            left = until - self._clock()
            if left <= 0:
                break
            if not self._link.busy:
                self._ask(left)
            for event in self._link.answer(left) or ():
                self._take(event)
            self._look()
        if not self._link.busy and self._waiting and self._free:
            self._ask(_AHEAD)  # free workers get work before the driver records outcomes
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    @property
    def _slots(self) -> int:
        return max(min(self._count, self._nodes.slots), 1)

    @property
    def _free(self) -> int:
        """How many tasks to launch: a few more than there is room for, so that a cluster can grow."""
        return min(self._count, self._nodes.slots + max(self._nodes.slots // 4, 2)) - len(self._running)

    def _ask(self, timeout: float) -> None:
        batches = [self._batch() for _ in range(self._free) if self._waiting]
        cancelled, self._cancelled = self._cancelled, []
        self._link.ask(PollRequest(tuple(batches), tuple(cancelled), timeout))

    def _batch(self) -> JobBatch:
        following = list(islice(self._waiting, MOST))
        # A job that has failed is retried alone, so that it harms no other.
        untried = list(takewhile(lambda job: not job.failures, following)) or following[:1]
        size = batch_size([job.expected for job in untried], len(self._waiting), self._slots)
        jobs = [self._waiting.popleft() for _ in range(size)]
        self._launched += 1
        self._running[self._launched] = RunningBatch(deque(jobs))
        orders = tuple(JobAttempt(job.number, self._pack(job.payload), job.seconds) for job in jobs)
        return JobBatch(self._launched, orders, avoid=self._nodes.unfit)

    def _take(self, event: BrokerEvent) -> None:
        if isinstance(event, NodesChanged):
            self._nodes.update(event.nodes)
            return
        running = self._running.get(event.batch)
        if running is None:  # given up before
            return
        running.heard = self._clock()
        match event:
            case BatchStarted():
                running.node, running.process = event.node, event.process
            case WorkerLoaded():
                running.loaded = True
            case AttemptEnded():
                self._finish(running, event)
            case NodeUnfit():
                self._nodes.exclude(event.node, event.reason)
            case BatchEnded():
                self._close(event.batch, event)

    def _finish(self, running: RunningBatch, done: AttemptEnded) -> None:
        job = running.jobs.popleft()
        if job.number != done.number:
            raise RunError(
                f"the cluster returned job {done.number} instead of {job.number}; please report this bug."
            )
        key = (running.node, running.process, done.worker)
        worker = self._serials.setdefault(key, len(self._serials) + 1)
        self._stragglers.learn(done.seconds)
        if done.value is None:
            self._fail(job, worker, done.seconds, done.failure or Failure(Status.GARBAGE, "nothing came"))
            return
        try:
            value = self._unpack(job.payload, done.value)
        except ValueError as error:
            self._fail(job, worker, done.seconds, Failure(Status.GARBAGE, str(error)))
            return
        self._outcomes.append(Outcome(job.number, job.failures + 1, worker, done.seconds, value))

    def _fail(self, job: RayJob, worker: int, seconds: float, failure: Failure) -> None:
        """Report a failed attempt, and retry the job on any node if it killed its worker."""
        job.failures += 1
        again = failure.status is not Status.RAISED and job.failures < DEATHS
        self._outcomes.append(
            Outcome(job.number, job.failures, worker, seconds, failure=failure, retried=again)
        )
        if again:
            self._waiting.appendleft(job)

    def _close(self, serial: int, over: BatchEnded) -> None:
        """Take back the jobs that a batch did not finish."""
        running = self._running.pop(serial)
        # A lost or unfit node is no job's fault; otherwise the job that was being done is to blame.
        if over.lost in _LOST and running.jobs:
            job = running.jobs.popleft()
            where = self._nodes.name(running.node)
            failure = Failure(_LOST[over.lost], f"its process on {where} was lost: {over.detail}")
            self._fail(job, 0, self._clock() - running.heard, failure)
        elif over.lost == "node" and running.jobs:
            self._nodes.miss(running.node, len(running.jobs))
        self._waiting.extendleft(reversed(running.jobs))

    def _look(self) -> None:
        """Give up tasks that have been silent for too long, and report those that all others wait for."""
        now = self._clock()
        for serial, running in list(self._running.items()):
            if running.node is None or not running.jobs:
                continue
            allowed = running.jobs[0].seconds + self._startup_seconds + _SLACK
            if now - running.heard > allowed:
                self._cancelled.append(serial)
                job = running.jobs.popleft()
                detail = f"no report from {self._nodes.name(running.node)} for {allowed:.0f} s"
                self._fail(job, 0, allowed, Failure(Status.DEADLINE, detail))
                self._waiting.extendleft(reversed(running.jobs))
                del self._running[serial]
        if not self._waiting:
            current = [
                (
                    running.jobs[0].number,
                    self._nodes.name(running.node),
                    now - running.heard,
                    running.jobs[0].expected,
                )
                for running in self._running.values()
                if running.loaded and running.jobs
            ]
            self._stragglers.look(current)


class Stragglers:
    """Reports jobs that take much longer than expected when nothing else is left to do.

    Args:
        say: Receives the report, a sentence.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)
        self._told = False

    def begin(self) -> None:
        """Note that there are jobs to do again."""
        self._told = False

    def learn(self, seconds: float) -> None:
        """Note how long a job took."""
        self._seconds.append(seconds)

    def look(self, running: Sequence[tuple[int, str, float, float | None]]) -> None:
        """Report late jobs, at most once after each `begin`.

        Args:
            running: Number, node, seconds so far and expected seconds of each remaining job.
        """
        if self._told or not running:
            return
        median = statistics.median(self._seconds) if self._seconds else None
        late: list[tuple[float, str]] = []
        for number, node, seconds, expected in running:
            usual = expected if expected is not None else median
            if usual is not None and seconds > max(LEAST, FACTOR * usual):
                late.append(
                    (
                        seconds,
                        f"task {number} on {node}, which has taken {seconds:.0f} s instead of {usual:.3g} s",
                    )
                )
        if late:
            self._told = True
            listed = [text for _, text in sorted(late, reverse=True)[:_LISTED]]
            more = f", and {len(late) - _LISTED} more" if len(late) > _LISTED else ""
            self._say(f"note: all other workers are waiting for {'; '.join(listed)}{more}.")


def batch_size(expected: Sequence[float | None], waiting: int, slots: int) -> int:
    """How many of the next jobs go into one task.

    Args:
        expected: The expected seconds of each of them, if known; of one or more jobs.
        waiting: How many jobs are waiting in all.
        slots: How many tasks can run at once.

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
