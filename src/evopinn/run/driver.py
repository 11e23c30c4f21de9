"""The one loop of a run: ask the search, have it trained, record what came out, tell the search.

A run that was cut off goes through the same loop from its beginning; what is recorded is told again instead
of being trained again. So there is no second way that could differ from the first.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evopinn.errors import RunError
from evopinn.run.checkpoints import Checkpoints
from evopinn.run.cost import CostOf
from evopinn.run.ended import Ended, FailureKind
from evopinn.run.evaluation import Trouble
from evopinn.run.listed import Entry
from evopinn.run.mending import mended
from evopinn.run.progress import Tally
from evopinn.run.reading import Reader
from evopinn.run.records import Evaluation
from evopinn.run.statuses import POISON, TOO_COSTLY
from evopinn.run.store import Store
from evopinn.run.weights import Gallery
from evopinn.run.workforce import Workforce
from evopinn.searchers import Score, Searcher, Task
from evopinn.training import TrainingResult, epoch_cost

_WAIT = 0.25
_ALIKE = 6  # so many trainings that raise, and none that does not, are the problem's fault
_REMEMBERED = 100


@dataclass(frozen=True)
class Limits:
    """What a training may cost before it is given up.

    Attributes:
        cost: The predicted cost of an epoch.
        epoch_cost: The highest that is trained.
        seconds: A fixed deadline, or None for one that follows from the trainings before.
        pace: Seconds for an epoch of cost 1, if that was measured.
    """

    cost: CostOf = epoch_cost
    epoch_cost: float = math.inf
    seconds: float | None = None
    pace: float | None = None

    def work(self, task: Task) -> float:
        """What a task costs, as predicted."""
        return task.epochs * self.cost(task.genome) / task.coarseness**2


class Deadlines:
    """How long an evaluation may take before its worker is taken for hung: no limit for a slow one.

    Args:
        fixed: The same for all, if given.
        pace: Seconds for an epoch of cost 1, as far as it is known beforehand.
    """

    FIRST, FIRST_PER_EPOCH, LEAST, FACTOR = 600.0, 1.0, 60.0, 20.0
    NEWS = 0.1  # how much the latest evaluation counts for what is expected of the next

    def __init__(self, fixed: float | None, pace: float | None = None) -> None:
        self._fixed = fixed
        self._slowest = pace or 0.0
        self._pace = pace

    def learn(self, work: float, seconds: float) -> None:
        """Take in how long an evaluation took."""
        pace = seconds / work
        self._slowest = max(self._slowest, pace)
        self._pace = pace if self._pace is None else self._pace + self.NEWS * (pace - self._pace)

    def expected(self, work: float) -> float | None:
        """How long this one will take, as far as that is known."""
        return None if self._pace is None else self._pace * work

    def seconds(self, work: float, epochs: int) -> float:
        """How long this one may take."""
        if self._fixed is not None:
            return self._fixed
        if not self._slowest:
            return self.FIRST + self.FIRST_PER_EPOCH * epochs
        return max(self.LEAST, self.FACTOR * self._slowest * work)


class Driver:
    """Runs a search to its end, or until it is stopped.

    Args:
        searcher: At its beginning.
        store: The run's, empty or with what was recorded before.
        workers: Ready for assignments.
        checkpoints: Of trainings that may be gone on from.
        limits: Of a training.
        tally: Keeps count, for whoever watches.
        stopped: Whether to stop.
    """

    def __init__(
        self,
        searcher: Searcher,
        store: Store,
        workers: Workforce,
        checkpoints: Checkpoints,
        limits: Limits,
        tally: Tally,
        stopped: Callable[[], bool],
    ) -> None:
        self._searcher = searcher
        self._store = store
        self._workers = workers
        self._checkpoints = checkpoints
        self._limits = limits
        self._deadlines = Deadlines(limits.seconds, limits.pace)
        self._tally = tally
        self._stopped = stopped
        self._gallery = Gallery(store.directory)
        self._raised: list[Entry] | None = []

    def run(self) -> bool:
        """Go on to the end; False if it was stopped before."""
        self._learn_from_before()
        if not mended(self._store.directory, self._workers, self._submit, self._stopped):
            return False
        while not self._searcher.finished:
            tasks = self._searcher.ask()
            if not self._round(tasks):
                return False
            self._refuse_if_all_raise(tasks)
        self._checkpoints.discard()
        return True

    def _learn_from_before(self) -> None:
        """A resumed run knows how long trainings take."""
        with Reader(self._store.directory) as reader:
            for entry in reader.latest(_REMEMBERED):
                if math.isfinite(entry.loss):
                    self._deadlines.learn(self._limits.work(reader.task(entry.task)), entry.seconds)

    def _round(self, tasks: Sequence[Task]) -> bool:
        """Have the tasks of a round trained and told; False if it was stopped before."""
        self._store.add_tasks(tasks)
        known = self._store.losses(tasks[0].number, tasks[-1].number)
        self._tally.begin(tasks)
        self._checkpoints.begin(tasks, known)
        waiting: dict[int, Task] = {}
        for task in tasks:
            if task.number in known:
                self._tell(task, known[task.number], earlier=True)
            elif self._limits.cost(task.genome) > self._limits.epoch_cost:
                self._give_up(task)
            else:
                waiting[task.number] = task
        # The longest first: the end of a round, where workers have to wait, is then the shortest.
        queue = deque(sorted(waiting.values(), key=self._limits.work, reverse=True))
        while waiting:
            if self._stopped():
                return False
            while queue and self._workers.room > 0:
                self._submit(queue.popleft())
            for ended in self._workers.wait(timeout=_WAIT):
                self._take(waiting[ended.number], ended)
                if not ended.retried:
                    del waiting[ended.number]
            self._tally.report()
        return True

    def _submit(self, task: Task) -> None:
        # Enough as well for one whose beginning is lost and has to be trained again: its work counts all.
        work = self._limits.work(task)
        seconds, expected = self._deadlines.seconds(work, task.epochs), self._deadlines.expected(work)
        self._workers.submit(task.number, self._checkpoints.assignment(task), seconds, expected)

    def _take(self, task: Task, ended: Ended) -> None:
        """Record an attempt that ended and, if it settles the task, tell the search."""
        if isinstance(ended.value, Trouble):
            raise RunError(f"{ended.value.text} What is recorded is safe: see to it and resume the run.")
        if isinstance(ended.value, TrainingResult):
            evaluation = _trained(task, ended, ended.value)
            self._deadlines.learn(self._limits.work(task), ended.seconds)
            self._gallery.offer(task, evaluation.loss, ended.value)
        else:
            evaluation = _failed(task, ended)
        self._store.record([evaluation])
        self._gallery.prune()
        if evaluation.final:
            self._checkpoints.settle(task, evaluation.loss)
            self._tell(task, evaluation.loss)

    def _give_up(self, task: Task) -> None:
        """Record a task that is not trained because of its predicted cost."""
        now = time.time()
        cost = self._limits.cost(task.genome) / self._limits.epoch_cost
        note = f"an epoch is predicted to cost {cost:.2g} times the limit"
        self._store.record([Evaluation(task.number, TOO_COSTLY, math.inf, now, now, note=note)])
        self._tell(task, math.inf)

    def _tell(self, task: Task, loss: float, *, earlier: bool = False) -> None:
        self._tally.settle(task, loss, earlier=earlier)
        self._searcher.tell(task.number, Score(loss))

    def _refuse_if_all_raise(self, tasks: Sequence[Task]) -> None:
        """A problem that raises on every genome is mistaken: to go on would only record that many times.

        It is decided after a round, and by what is recorded, so that neither the order of the trainings nor
        a stop in between matters.
        """
        if self._raised is None:
            return
        with Reader(self._store.directory) as reader:
            for task in tasks:
                entry = reader.final_evaluation(task.number)
                if entry.status == FailureKind.RAISED:
                    self._raised.append(entry)
                elif entry.status != TOO_COSTLY:
                    self._raised = None  # there are networks that it does not raise on
                    return
        if len(self._raised) >= _ALIKE:
            raise RunError(
                f"all {len(self._raised)} trainings raised an exception; the last one:\n"
                f"{self._raised[-1].note}"
            )


def _trained(task: Task, ended: Ended, result: TrainingResult) -> Evaluation:
    now = time.time()
    loss = math.inf if result.status.failed or math.isnan(result.loss) else result.loss
    return Evaluation(
        task=task.number,
        status=str(result.status),
        loss=loss,
        started=now - ended.seconds,
        ended=now,
        errors=result.errors,
        epochs=result.epochs - result.settings["start_epoch"],
        seconds=ended.seconds,
        worker=ended.worker,
        history=result.history,
    )


def _failed(task: Task, ended: Ended) -> Evaluation:
    assert ended.failure is not None
    now = time.time()
    kind = ended.failure.kind
    cut = "cut by wall clock: " if kind is FailureKind.DEADLINE else ""
    note = f"{cut}{ended.failure.detail}"
    return Evaluation(
        task=task.number,
        status=POISON if ended.poison else str(kind),
        loss=math.inf,
        started=now - ended.seconds,
        ended=now,
        seconds=ended.seconds,
        worker=ended.worker,
        note=f"{kind}: {note}" if ended.poison else note,
        final=not ended.retried,
    )
