"""The cost of a search beside its trainings, and the gain from a second worker: the section `search`.

Searches are driven and recorded as in any run. Where only the driver and the store are to take time, their
trainings are made up.
"""

import pickle
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from evopinn.lab.bench.cases import Case, SearchLoad
from evopinn.lab.bench.findings import DriverCost, LongRun, Throughput
from evopinn.lab.bench.isolation import Isolated
from evopinn.lab.bench.machine import process_memory
from evopinn.run.checkpoints import Checkpoints
from evopinn.run.config import Config
from evopinn.run.driver import Driver, Limits
from evopinn.run.progress import ProgressTracker, Snapshot
from evopinn.run.session import versions
from evopinn.search import Evolution, EvolutionSettings, Finalist, Schedule, Score, Searcher, Task
from evopinn.search.selection import elitist_count
from evopinn.store.store import Store
from evopinn.training import TrainingOptions, TrainingResult, train
from evopinn.workers.evaluation import Assignment, Trainer, is_valid_result
from evopinn.workers.pool import LocalPool, Outcome, Pool
from evopinn.workers.problem_source import ProblemSource

METHOD = "evolution"
SETTINGS = EvolutionSettings()

PROGRESS = 1e-4
"""By how much the logarithm of the losses falls from one evaluation to the next: as in a search that goes on
finding better networks, the hall of fame changes in each generation."""

EARLY = 0.1
"""The share of a search after which its memory is first measured, when everything is loaded."""

_DEADLINE = 600.0
_PROGRAM = "from evopinn.cli import main; main()"


def measure_throughput(load: SearchLoad, rounds: int) -> Throughput:
    """Train the same networks with one worker and with two, in turn."""
    # Some of a generation: a population as small as that would have other genomes.
    tasks = Evolution(Schedule((load.population,), (load.epochs,)), seed=0).ask()[: load.trainings]
    schedule = Schedule((len(tasks),), (load.epochs,))
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with _temporary() as place, _workers(load, 1) as one, _workers(load, 2) as two:
        for count, workers in ((1, one), (2, two)):
            _warm_up(workers, count, tasks)
        for number in range(rounds):
            for count, workers in ((1, one), (2, two)):
                directory = place / f"{count}-{number}"
                spent = drive(directory, load.case.problem, schedule, TaskBatch(tasks), workers, count)
                seconds[count].append(spent.wall)
    return Throughput(len(tasks), tuple(seconds[1]), tuple(seconds[2]))


def measure_driver(load: SearchLoad, rounds: int, interval: float) -> DriverCost:
    """Time the driver's process in a generation, with trainings that take no time.

    Args:
        load: How much is simulated.
        rounds: How many generations the median is taken of.
        interval: Seconds from one real evaluation to the next.
    """
    with _temporary() as place, Isolated(Simulator, load.case, load.epochs) as process:
        runs: list[Simulation] = [
            process.call("search", place / str(number), load.population, load.population)
            for number in range(rounds)
        ]
    cpu, wall = (
        statistics.median(getattr(run.spent, clock) / run.evaluations for run in runs)
        for clock in ("cpu", "wall")
    )
    return DriverCost(runs[0].evaluations, cpu, wall, interval)


def measure_long_run(load: SearchLoad, rounds: int) -> LongRun:
    """Simulate a long run in a process of its own; then show it `rounds` times."""
    with _temporary() as place:
        with Isolated(Simulator, load.case, load.epochs) as process:
            run: Simulation = process.call("search", place / "run", load.population, load.evaluations)
        show = statistics.median(_show_seconds(place / "run") for _ in range(rounds))
    return LongRun(run.evaluations, run.spent.wall, run.early, run.late, show)


@dataclass(frozen=True)
class Spent:
    """Seconds of this process's work, and on the clock."""

    cpu: float
    wall: float


class TaskBatch:
    """A search that asks for some tasks, all at once, and for nothing after them.

    Args:
        tasks: At least one.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._untold = {task.number for task in tasks}

    def ask(self) -> Sequence[Task]:
        """The tasks, the first time."""
        tasks, self._tasks = self._tasks, ()
        return tasks

    def tell(self, number: int, score: Score) -> None:  # noqa: ARG002 - whatever came out, it goes on
        """Note that a task has ended."""
        self._untold.remove(number)

    @property
    def finished(self) -> bool:
        """Whether all tasks are over."""
        return not self._untold

    @property
    def finalists(self) -> Sequence[Finalist]:
        """No finalists, since the benchmark does not need any."""
        return ()


def _unwatched(_: Snapshot) -> None:
    """Ignore a snapshot, whose cost to the driver is measured all the same."""


def drive(
    directory: Path,
    problem: str,
    schedule: Schedule,
    searcher: Searcher,
    workers: Pool,
    count: int,
    watch: Callable[[Snapshot], None] = _unwatched,
) -> Spent:
    """Carry out a search, and record it like any run.

    Args:
        directory: Where the run will be.
        problem: The problem's name.
        schedule: The schedule of the search, if it follows one.
        searcher: The search, at its beginning.
        workers: Workers ready for assignments.
        count: The number of workers.
        watch: Receives snapshots.

    Returns:
        The time that the search took, without the creation of its database.
    """
    layout = {"populations": list(schedule.populations), "epochs": list(schedule.epochs)}
    config = Config.of({"problem": problem, "method": METHOD, "schedule": layout}).spelled_out()
    with Store.create(directory, config.toml(), versions()) as store:
        start = Snapshot(directory, problem, METHOD, "starting", workers=count)
        driver = Driver(
            searcher=searcher,
            store=store,
            pool=workers,
            checkpoints=Checkpoints(directory, 0),
            limits=Limits(),
            progress=ProgressTracker(start, SETTINGS.workload(schedule), watch),
            stopped=lambda: False,
        )
        cpu, wall = time.process_time(), time.perf_counter()
        driver.run()
        spent = Spent(time.process_time() - cpu, time.perf_counter() - wall)
        store.note("finished")
    return spent


class SimulatedPool:
    """A pool that finishes every training at once, with a real result and a made-up loss.

    Each result is unpickled as if it came from a worker, so that kept results occupy memory.

    Args:
        result: The result of every training, except for the loss.
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
        """Submit a job."""
        self._submitted.append(number)

    def wait(self, timeout: float) -> list[Outcome]:  # noqa: ARG002 - there is nothing to wait for
        """One job, since those of real workers hardly ever end together."""
        if not self._submitted:
            return []
        number = self._submitted.popleft()
        result: TrainingResult = pickle.loads(self._packed)
        loss = 10 ** (Random(number).gauss() - PROGRESS * number)
        return [Outcome(number, 1, 1, result.seconds, replace(result, loss=loss))]


@dataclass(frozen=True)
class Simulation:
    """The cost of a simulated search.

    Attributes:
        evaluations: The number of evaluations, the final ones included.
        spent: The time that all of them took.
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
        case: The network that represents all, and its problem.
        epochs: The epochs of a training.
    """

    def __init__(self, case: Case, epochs: int) -> None:
        self._epochs = epochs
        self._result = train(
            case.statement(), case.genome, optimizer="lbfgs", epochs=epochs, seed=0, on_warning=None
        )

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
        workers = SimulatedPool(self._result)
        spent = drive(directory, self._result.problem, schedule, searcher, workers, count=2, watch=watch)
        total, late = samples[-1]
        early = next(memory for trained, memory in samples if trained >= EARLY * total)
        return Simulation(total, spent, early, late)


@contextmanager
def _temporary() -> Generator[Path]:
    with TemporaryDirectory(prefix="evopinn-bench-") as name:
        yield Path(name)


def _workers(load: SearchLoad, count: int) -> LocalPool:
    source = ProblemSource.of(load.case.statement())
    return LocalPool(
        Trainer, (source, TrainingOptions(optimizer="lbfgs")), count=count, accept=is_valid_result
    )


def _warm_up(workers: LocalPool, count: int, tasks: Sequence[Task]) -> None:
    """Have each worker train something, so that all are up, and each task's kernels be compiled."""
    seen: set[int] = set()
    while len(seen) < count:
        for task in tasks:
            workers.submit(task.number, Assignment(task.genome.text, 1, task.seed), _DEADLINE)
        while workers.outstanding:
            seen.update(outcome.worker for outcome in workers.wait(timeout=1))


def _show_seconds(directory: Path) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-c", _PROGRAM, "show", str(directory)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
