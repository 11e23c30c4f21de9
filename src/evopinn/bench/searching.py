"""What a search costs beside its trainings, and what a second worker brings: the section `search`."""

import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from evopinn.bench.driving import Batch, drive
from evopinn.bench.isolation import Isolated
from evopinn.bench.plan import SearchLoad
from evopinn.bench.report import DriverCost, LongRun, Throughput
from evopinn.bench.simulation import Simulation, Simulator
from evopinn.run.evaluation import Assignment, Trainer, TrainingOptions, is_outcome
from evopinn.run.source import ProblemSource
from evopinn.run.workers import Workers
from evopinn.searchers import Evolution, Schedule, Task

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
                spent = drive(directory, load.case.problem, schedule, Batch(tasks), workers, count)
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


@contextmanager
def _temporary() -> Generator[Path]:
    with TemporaryDirectory(prefix="evopinn-bench-") as name:
        yield Path(name)


def _workers(load: SearchLoad, count: int) -> Workers:
    source = ProblemSource.of(load.case.statement())
    return Workers(Trainer, (source, TrainingOptions(optimizer="lbfgs")), count=count, accept=is_outcome)


def _warm_up(workers: Workers, count: int, tasks: Sequence[Task]) -> None:
    """Have each worker train something, so that all are up, and each task's kernels be compiled."""
    seen: set[int] = set()
    while len(seen) < count:
        for task in tasks:
            workers.submit(task.number, Assignment(task.genome.text, 1, task.seed), _DEADLINE)
        while workers.outstanding:
            seen.update(ended.worker for ended in workers.wait(timeout=1))


def _show_seconds(directory: Path) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-c", _PROGRAM, "show", str(directory)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
