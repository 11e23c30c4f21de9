"""A simulation of the scheduler: time and cost of a search on 1 to 1,000 workers of a cluster.

    python benchmarks/simulate_cluster.py --preset paper:klein-gordon
    python benchmarks/simulate_cluster.py --budget 2h

The first is always the same search; the second is planned for the given time, so it becomes larger
with the number of workers.

Nothing is trained. Each round of the search hands out its trainings, longest expected first, in batches
by the same rule as on a real cluster; a round ends when its last training does. A lost node
takes its workers with it until another replaces it, and their trainings are repeated.
"""

import argparse
import heapq
import math
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from rich.console import Console
from rich.table import Table

from evopinn.search import Budget, EvolutionSettings, Schedule, find_method, find_preset, planned
from evopinn.training.duration import parse_duration
from evopinn.workers.cluster.ray_pool import MOST, batch_size

COLUMNS = ("workers", "trainings", "time", "speed-up", "busy", "nodes lost", "done again", "tasks", "cost")
METHOD = "evo-dpste"
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)


@dataclass(frozen=True)
class Circumstances:
    """The conditions of a search on a cluster.

    Attributes:
        seconds_per_epoch: The mean over a search, on one worker.
        spread: Standard deviation of the logarithm of the durations of trainings.
        error: Standard deviation of the logarithm of the error of predicted durations.
        overhead: Seconds that a task costs in addition to its trainings.
        recording: Seconds that the driver needs per evaluation, one after the other.
        startup: Seconds until a worker has loaded the problem.
        node_workers: Number of workers per node.
        losses: Lost nodes, per node and hour.
        replacement: Seconds until another node has replaced a lost one.
        price: Price of a worker per hour.
    """

    seconds_per_epoch: float = 0.065
    spread: float = 0.7
    error: float = 0.3
    overhead: float = 0.01
    recording: float = 0.0021
    startup: float = 10.0
    node_workers: int = 16
    losses: float = 0.01
    replacement: float = 300.0
    price: float = 0.04


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search.

    Attributes:
        seconds: Time from its beginning to its end.
        busy: Seconds of trainings that counted, on all workers together.
        again: Seconds of trainings that were lost with nodes.
        lost: Number of lost nodes.
        tasks: Number of tasks.
    """

    seconds: float
    busy: float
    again: float
    lost: int
    tasks: int


class Scheduler:
    """A search on some workers, event by event.

    Args:
        workers: Their number.
        met: The circumstances.
        seed: Seed of the random durations and losses.
    """

    def __init__(self, workers: int, met: Circumstances, seed: int) -> None:
        self._met = met
        self._workers = workers
        self._luck = random.Random(seed)
        self._free = [(met.startup, number) for number in range(workers)]  # when each becomes free
        heapq.heapify(self._free)
        nodes = math.ceil(workers / met.node_workers)
        self._losses = [self._lasts() for _ in range(nodes)]
        self._back = [0.0] * nodes
        self._recorded = 0.0
        self._busy = self._again = 0.0
        self._lost = self._tasks = 0

    def round(self, trainings: int, epochs: int) -> None:
        """Run so many trainings; workers that are free early wait for the last."""
        met = self._met
        mean = epochs * met.seconds_per_epoch
        jobs = [self._drawn(mean) for _ in range(trainings)]
        waiting = deque(sorted(jobs, reverse=True))
        end = 0.0
        while waiting:
            since, worker = heapq.heappop(self._free)
            node = worker // met.node_workers
            if self._losses[node] <= since:  # trainings that a loss interrupts are handled below
                self._lose(node)
            if since < self._back[node]:
                heapq.heappush(self._free, (self._back[node], worker))
                continue
            expected = [job[0] for job in islice(waiting, MOST)]
            size = batch_size(expected, len(waiting), self._workers)
            batch = [waiting.popleft() for _ in range(size)]
            self._tasks += 1
            until = since + met.overhead + sum(seconds for _, seconds in batch)
            if (loss := self._losses[node]) < until:
                waiting.extendleft(reversed(batch))
                self._again += loss - since
                heapq.heappush(self._free, (loss, worker))
                continue
            for _, seconds in batch:
                self._recorded = max(self._recorded + met.recording, since)
                self._busy += seconds
            heapq.heappush(self._free, (max(until, self._recorded), worker))
            end = max(end, until, self._recorded)
        self._free = [(max(since, end), worker) for since, worker in self._free]
        heapq.heapify(self._free)

    def _lose(self, node: int) -> None:
        self._lost += 1
        self._back[node] = self._losses[node] + self._met.replacement + self._met.startup
        self._losses[node] = self._back[node] + self._lasts()

    def _lasts(self) -> float:
        """Seconds until a node is lost."""
        return self._luck.expovariate(self._met.losses / 3600) if self._met.losses else math.inf

    def _drawn(self, mean: float) -> tuple[float, float]:
        """The expected duration of a training, and its actual one."""
        met = self._met
        seconds = mean * math.exp(self._luck.gauss(0, met.spread) - met.spread**2 / 2)
        return seconds * math.exp(self._luck.gauss(0, met.error)), seconds

    @property
    def outcome(self) -> Outcome:
        """The outcome so far."""
        seconds = min(since for since, _ in self._free)
        return Outcome(seconds, self._busy, self._again, self._lost, self._tasks)


def simulate(schedule: Schedule, workers: int, met: Circumstances, seed: int = 0) -> Outcome:
    """A search by evolution on some workers."""
    scheduler = Scheduler(workers, met, seed)
    for stage in EvolutionSettings().workload(schedule).stages:
        for _ in range(stage.times):
            scheduler.round(stage.trainings, stage.epochs)
    return scheduler.outcome


def of_preset(name: str) -> Schedule:
    """The search of a preset, however many workers there are."""
    return find_preset(name).dpste


def of_time(seconds: float, workers: int, met: Circumstances) -> Schedule:
    """The search planned for some time."""
    typical = met.seconds_per_epoch / find_method(METHOD).drift  # for a network at the start of a search
    plan = planned(Budget(seconds=seconds, seconds_per_epoch=typical, workers=workers), METHOD)
    assert isinstance(plan.workplan, Schedule)
    return plan.workplan


def table(
    schedule_for: Callable[[int], Schedule], counts: Sequence[int], met: Circumstances, repeats: int
) -> Table:
    """One row for each number of workers: means over some simulations.

    Args:
        schedule_for: The search for a number of workers.
        counts: Numbers of workers.
        met: The circumstances.
        repeats: Number of simulations.
    """
    shown = Table()
    for name in COLUMNS:
        shown.add_column(name, justify="right")
    for workers in counts:
        schedule = schedule_for(workers)
        outcomes = [simulate(schedule, workers, met, seed) for seed in range(repeats)]
        seconds = sum(each.seconds for each in outcomes) / repeats
        busy = sum(each.busy for each in outcomes) / repeats
        shown.add_row(
            f"{workers:,}",
            f"{EvolutionSettings().workload(schedule).trainings:,}",
            _duration(seconds),
            f"{busy / seconds:.1f}",
            f"{busy / (workers * seconds):.0%}",
            f"{sum(each.lost for each in outcomes) / repeats:.1f}",
            f"{sum(each.again for each in outcomes) / repeats / busy:.2%}",
            f"{sum(each.tasks for each in outcomes) / repeats:,.0f}",
            f"{workers * seconds / 3600 * met.price:.2f}",
        )
    return shown


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def main() -> None:
    """Print the table that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="paper:klein-gordon", help="the schedule of the search")
    parser.add_argument("--budget", type=parse_duration, help="plan the search for this time instead: 2h")
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS, help="numbers of workers")
    parser.add_argument("--repeats", type=int, default=3, help="simulations per number of workers")
    met = Circumstances()
    for name, value in vars(met).items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(value), default=value, help=f"{value} by default")
    given = vars(parser.parse_args())
    counts, repeats = given.pop("workers"), given.pop("repeats")
    preset, seconds = given.pop("preset"), given.pop("budget")
    met = Circumstances(**given)

    def schedule_for(workers: int) -> Schedule:
        return of_preset(preset) if seconds is None else of_time(seconds, workers, met)

    Console(width=110).print(table(schedule_for, counts, met, repeats))


if __name__ == "__main__":
    main()
