"""The loop of a run: get tasks from the search, train them, record the outcomes, return the scores.

A resumed run passes through the same loop from the start, but returns recorded losses instead of training
again. So there is no second path that could differ from the first.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evopinn.errors import RunError
from evopinn.run.checkpoints import Checkpoints
from evopinn.run.progress import ProgressTracker
from evopinn.search import Score, Searcher, Task
from evopinn.store.directory import SAFE
from evopinn.store.reader import Reader
from evopinn.store.records import Entry, Evaluation
from evopinn.store.store import Store
from evopinn.store.weights import WeightsKeeper, lost_weights, save_weights
from evopinn.training import CostOf, Status, TrainingResult, epoch_cost
from evopinn.workers.evaluation import StorageFailure
from evopinn.workers.pool import Outcome, Pool

_WAIT = 0.25
_ALIKE = 6  # trainings that all raise, after which the problem is to blame
_REMEMBERED = 100


@dataclass(frozen=True)
class Limits:
    """How much a training may cost.

    Attributes:
        cost: Predicts the cost of an epoch.
        epoch_cost: The highest cost of an epoch that is trained.
        seconds: A fixed deadline, or None for one that follows from earlier trainings.
        pace: Measured seconds for an epoch of cost 1, if known.
    """

    cost: CostOf = epoch_cost
    epoch_cost: float = math.inf
    seconds: float | None = None
    pace: float | None = None

    def work(self, task: Task) -> float:
        """The predicted cost of a task."""
        return task.epochs * self.cost(task.genome) / task.coarseness**2


class Deadlines:
    """Deadlines of evaluations, after which a worker is killed; generous enough for slow ones.

    Args:
        fixed: The same deadline for all, if given.
        pace: Seconds for an epoch of cost 1, if known beforehand.
    """

    FIRST, FIRST_PER_EPOCH, LEAST, FACTOR = 600.0, 1.0, 60.0, 20.0
    NEWS = 0.1  # the weight of the latest evaluation in the expectation of the next

    def __init__(self, fixed: float | None, pace: float | None = None) -> None:
        self._fixed = fixed
        self._slowest = pace or 0.0
        self._pace = pace

    def learn(self, work: float, seconds: float) -> None:
        """Register the duration of an evaluation."""
        pace = seconds / work
        self._slowest = max(self._slowest, pace)
        self._pace = pace if self._pace is None else self._pace + self.NEWS * (pace - self._pace)

    def expected(self, work: float) -> float | None:
        """The expected seconds of an evaluation, if known."""
        return None if self._pace is None else self._pace * work

    def seconds(self, work: float, epochs: int) -> float:
        """The deadline of an evaluation in seconds."""
        if self._fixed is not None:
            return self._fixed
        if not self._slowest:
            return self.FIRST + self.FIRST_PER_EPOCH * epochs
        return max(self.LEAST, self.FACTOR * self._slowest * work)


class Driver:
    """Runs a search to its end, or until it is stopped.

    Args:
        searcher: The search, at its beginning.
        store: The run's, empty or with earlier records.
        pool: Workers ready for assignments.
        checkpoints: The states of trainings that later ones may continue.
        limits: How much a training may cost.
        progress: Counts what is done.
        stopped: Whether to stop.
    """

    def __init__(
        self,
        searcher: Searcher,
        store: Store,
        pool: Pool,
        checkpoints: Checkpoints,
        limits: Limits,
        progress: ProgressTracker,
        stopped: Callable[[], bool],
    ) -> None:
        self._searcher = searcher
        self._store = store
        self._pool = pool
        self._checkpoints = checkpoints
        self._limits = limits
        self._deadlines = Deadlines(limits.seconds, limits.pace)
        self._progress = progress
        self._stopped = stopped
        self._weights = WeightsKeeper(store.directory)
        self._raised: list[Entry] | None = []

    def run(self) -> bool:
        """Run the search to its end; False if it was stopped before."""
        self._learn_from_before()
        if not self._restore_weights():
            return False
        while not self._searcher.finished:
            tasks = self._searcher.ask()
            if not self._round(tasks):
                return False
            self._refuse_if_all_raise(tasks)
        self._checkpoints.discard()
        return True

    def _learn_from_before(self) -> None:
        """Learn from a resumed run's records how long trainings take."""
        with Reader(self._store.directory) as reader:
            for entry in reader.latest(_REMEMBERED):
                if math.isfinite(entry.loss):
                    self._deadlines.learn(self._limits.work(reader.task(entry.task)), entry.seconds)

    def _restore_weights(self) -> bool:
        """Repeat the trainings of best networks whose files cannot be read; False if it was stopped before.

        The same training gives the same network, and its record stays. A training that fails now is left out.
        """
        directory = self._store.directory
        with Reader(directory) as reader:
            tasks = [reader.task(number) for number in lost_weights(directory)]
        for task in tasks:
            self._submit(task)
        while self._pool.outstanding:
            if self._stopped():
                return False
            for outcome in self._pool.wait(_WAIT):
                if isinstance(outcome.value, TrainingResult):
                    save_weights(directory, outcome.number, outcome.value)
        return True

    def _round(self, tasks: Sequence[Task]) -> bool:
        """Train the tasks of a round and return the scores to the search; False if it was stopped before."""
        self._store.add_tasks(tasks)
        known = self._store.losses(tasks[0].number, tasks[-1].number)
        self._progress.begin(tasks)
        self._checkpoints.begin(tasks, known)
        waiting: dict[int, Task] = {}
        for task in tasks:
            if task.number in known:
                self._tell(task, known[task.number], earlier=True)
            elif self._limits.cost(task.genome) > self._limits.epoch_cost:
                self._give_up(task)
            else:
                waiting[task.number] = task
        # The longest first, so that workers wait least at the end of a round.
        queue = deque(sorted(waiting.values(), key=self._limits.work, reverse=True))
        while waiting:
            if self._stopped():
                return False
            while queue and self._pool.room > 0:
                self._submit(queue.popleft())
            for outcome in self._pool.wait(timeout=_WAIT):
                self._take(waiting[outcome.number], outcome)
                if not outcome.retried:
                    del waiting[outcome.number]
            self._progress.report()
        return True

    def _submit(self, task: Task) -> None:
        # The work includes the epochs of an earlier training whose state may be lost and computed again.
        work = self._limits.work(task)
        seconds, expected = self._deadlines.seconds(work, task.epochs), self._deadlines.expected(work)
        self._pool.submit(task.number, self._checkpoints.assignment(task), seconds, expected)

    def _take(self, task: Task, outcome: Outcome) -> None:
        """Record an attempt and, if it settles the task, return the score to the search."""
        if isinstance(outcome.value, StorageFailure):
            raise RunError(f"{outcome.value.text} {SAFE}")
        if isinstance(outcome.value, TrainingResult):
            evaluation = _trained(task, outcome, outcome.value)
            self._deadlines.learn(self._limits.work(task), outcome.seconds)
            self._weights.offer(task, evaluation.loss, outcome.value)
        else:
            evaluation = _failed(task, outcome)
        self._store.record([evaluation])
        self._weights.prune()
        if evaluation.final:
            self._checkpoints.settle(task, evaluation.loss)
            self._tell(task, evaluation.loss)

    def _give_up(self, task: Task) -> None:
        """Record a task that is not trained because of its predicted cost."""
        now = time.time()
        cost = self._limits.cost(task.genome) / self._limits.epoch_cost
        note = f"an epoch is predicted to cost {cost:.2g} times the limit"
        self._store.record([Evaluation(task.number, str(Status.TOO_COSTLY), math.inf, now, now, note=note)])
        self._tell(task, math.inf)

    def _tell(self, task: Task, loss: float, *, earlier: bool = False) -> None:
        self._progress.settle(task, loss, earlier=earlier)
        self._searcher.tell(task.number, Score(loss))

    def _refuse_if_all_raise(self, tasks: Sequence[Task]) -> None:
        """End a search whose problem raises an exception for every genome.

        The decision is made after a round, from records: neither the order of the trainings nor a stop in
        between matters.
        """
        if self._raised is None:
            return
        with Reader(self._store.directory) as reader:
            for task in tasks:
                entry = reader.final_evaluation(task.number)
                if entry.status == str(Status.RAISED):
                    self._raised.append(entry)
                elif entry.status != str(Status.TOO_COSTLY):
                    self._raised = None  # it does not raise for every network
                    return
        if len(self._raised) >= _ALIKE:
            raise RunError(
                f"all {len(self._raised)} trainings raised an exception; the last one:\n"
                f"{self._raised[-1].note}"
            )


def _trained(task: Task, outcome: Outcome, result: TrainingResult) -> Evaluation:
    now = time.time()
    loss = math.inf if result.status.failed or math.isnan(result.loss) else result.loss
    return Evaluation(
        task=task.number,
        status=str(result.status),
        loss=loss,
        started=now - outcome.seconds,
        ended=now,
        errors=result.errors,
        epochs=result.epochs - result.settings["start_epoch"],
        seconds=outcome.seconds,
        worker=outcome.worker,
        history=result.history,
    )


def _failed(task: Task, outcome: Outcome) -> Evaluation:
    assert outcome.failure is not None
    now = time.time()
    kind = outcome.failure.status
    cut = "cut by wall clock: " if kind is Status.DEADLINE else ""
    note = f"{cut}{outcome.failure.detail}"
    return Evaluation(
        task=task.number,
        status=str(Status.POISON if outcome.poison else kind),
        loss=math.inf,
        started=now - outcome.seconds,
        ended=now,
        seconds=outcome.seconds,
        worker=outcome.worker,
        note=f"{kind}: {note}" if outcome.poison else note,
        final=not outcome.retried,
    )
