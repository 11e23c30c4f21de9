"""Searches whose trainings are made up, so that all the time they take is the driver's and the store's."""

import pickle
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from evopinn.bench.cases import Case
from evopinn.bench.driving import SETTINGS, Spent, drive
from evopinn.bench.memory import process_memory
from evopinn.run.ended import Ended
from evopinn.run.snapshot import Snapshot
from evopinn.searchers import Evolution, Schedule
from evopinn.searchers.selection import elitist_count
from evopinn.training import TrainingResult, train

PROGRESS = 1e-4
"""By how much the logarithm of the losses falls from one evaluation to the next: as in a search that goes on
finding better networks, the hall of fame changes in each generation."""

EARLY = 0.1
"""The share of a search after which its memory is looked at for the first time: all is loaded by then."""


class Simulated:
    """A workforce that has every training done at once, with a real result and a made-up loss.

    Each result is read from bytes as it would come from a worker: whoever keeps results occupies memory.

    Args:
        result: What every training gives, but for the loss.
    """

    def __init__(self, result: TrainingResult) -> None:
        self._packed = pickle.dumps(result)
        self._submitted: deque[int] = deque()

    @property
    def outstanding(self) -> int:
        """How many jobs were submitted and not waited for."""
        return len(self._submitted)

    @property
    def room(self) -> int:
        """How many more jobs to submit: as to two real workers."""
        return 3 - len(self._submitted)

    def submit(
        self,
        number: int,
        payload: object,  # noqa: ARG002
        deadline_seconds: float,  # noqa: ARG002
        expected_seconds: float | None = None,  # noqa: ARG002
    ) -> None:
        """Have a job done."""
        self._submitted.append(number)

    def wait(self, timeout: float) -> list[Ended]:  # noqa: ARG002 - there is nothing to wait for
        """One job, since those of real workers hardly ever end together."""
        if not self._submitted:
            return []
        number = self._submitted.popleft()
        result: TrainingResult = pickle.loads(self._packed)
        loss = 10 ** (Random(number).gauss() - PROGRESS * number)
        return [Ended(number, 1, 1, result.seconds, replace(result, loss=loss))]


@dataclass(frozen=True)
class Simulation:
    """What a simulated search took.

    Attributes:
        evaluations: How many there were, the final ones included.
        spent: By all of them.
        early: Bytes of resident memory after a tenth of them.
        late: Bytes at the end.
    """

    evaluations: int
    spent: Spent
    early: int
    late: int


class Simulator:
    """Simulated searches in one process; made for `Isolated`.

    Args:
        case: The network that stands for all, and its problem.
        epochs: Of a training.
    """

    def __init__(self, case: Case, epochs: int) -> None:
        self._epochs = epochs
        self._result = train(case.statement(), case.genome, epochs=epochs, seed=0)

    def search(self, directory: Path, population: int, evaluations: int) -> Simulation:
        """Evolution at a constant population, for as many generations as it takes.

        Args:
            directory: Where the run will be.
            population: Of each generation.
            evaluations: At least so many.
        """
        later = population + elitist_count(population, SETTINGS.elitists)
        generations = 1 + max(0, -(-(evaluations - population) // later))
        schedule = Schedule((population,) * generations, (self._epochs,) * generations)
        samples: list[tuple[int, int]] = []

        def watch(snapshot: Snapshot) -> None:
            samples.append((snapshot.trained, process_memory("VmRSS")))

        searcher = Evolution(schedule, seed=0, settings=SETTINGS)
        workers = Simulated(self._result)
        spent = drive(directory, self._result.problem, schedule, searcher, workers, count=2, watch=watch)
        total, late = samples[-1]
        early = next(memory for trained, memory in samples if trained >= EARLY * total)
        return Simulation(total, spent, early, late)
