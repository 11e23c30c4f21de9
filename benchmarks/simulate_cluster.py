"""How long a search takes on 1 to 1,000 workers of a cluster, and what it costs: the scheduler simulated.

    python benchmarks/simulate_cluster.py --preset paper:klein-gordon
    python benchmarks/simulate_cluster.py --budget 2h

The first is always the same search; the second is planned for the time that is given, and so becomes larger
with the number of workers.

Nothing is trained. Each round of the search has its trainings, longest expected first, dealt out in batches
by the very rule that a cluster gets them by; a round ends when its last training does. A node that is lost
takes its workers with it until another takes its place, and what they were at is done again.
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

from evopinn.run.cluster.batching import MOST, batch_size
from evopinn.searchers import Budget, EvolutionSettings, Schedule, find_method, find_preset, planned
from evopinn.training.duration import parse_duration

COLUMNS = ("workers", "trainings", "time", "speed-up", "busy", "nodes lost", "done again", "tasks", "cost")
METHOD = "evo-dpste"
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)


@dataclass(frozen=True)
class Circumstances:
    """What a search meets on a cluster.

    Attributes:
        seconds_per_epoch: The mean over a search, on one worker.
        spread: Of the times of trainings: standard deviation of their logarithm.
        error: Of what is expected of them, likewise.
        overhead: Seconds that a task costs beside its trainings.
        recording: Seconds that the driver needs for an evaluation, one after the other.
        startup: Seconds until a worker has loaded the problem.
        node_workers: Workers on a node.
        losses: Of nodes, per node and hour.
        replacement: Seconds until another node has taken a lost one's place.
        price: Of a worker for an hour.
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
    """What became of a search.

    Attributes:
        seconds: From its beginning to its end.
        busy: Seconds of trainings that counted, on all workers together.
        again: Seconds of trainings that were lost with nodes.
        lost: How many nodes were.
        tasks: How many tasks there were.
    """

    seconds: float
    busy: float
    again: float
    lost: int
    tasks: int


class Scheduler:
    """A search on some workers, event by event.

    Args:
        workers: How many.
        met: The circumstances.
        seed: Of its luck.
    """

    def __init__(self, workers: int, met: Circumstances, seed: int) -> None:
        self._met = met
        self._workers = workers
        self._luck = random.Random(seed)
        self._free = [(met.startup, number) for number in range(workers)]  # when each has nothing to do
        heapq.heapify(self._free)
        nodes = math.ceil(workers / met.node_workers)
        self._losses = [self._lasts() for _ in range(nodes)]
        self._back = [0.0] * nodes
        self._recorded = 0.0
        self._busy = self._again = 0.0
        self._lost = self._tasks = 0

    def round(self, trainings: int, epochs: int) -> None:
        """Have so many trainings done; whoever is free early waits for the last."""
        met = self._met
        mean = epochs * met.seconds_per_epoch
        jobs = [self._drawn(mean) for _ in range(trainings)]
        waiting = deque(sorted(jobs, reverse=True))
        end = 0.0
        while waiting:
            since, worker = heapq.heappop(self._free)
            node = worker // met.node_workers
            if self._losses[node] <= since:  # those that it hit in the middle were in turn before
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
        """What is expected of a training, and how long it takes."""
        met = self._met
        seconds = mean * math.exp(self._luck.gauss(0, met.spread) - met.spread**2 / 2)
        return seconds * math.exp(self._luck.gauss(0, met.error)), seconds

    @property
    def outcome(self) -> Outcome:
        """What has become of it so far."""
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
    layout = find_preset(name).layout("dpste")
    assert isinstance(layout, Schedule)
    return layout


def of_time(seconds: float, workers: int, met: Circumstances) -> Schedule:
    """The search that is planned for some time."""
    typical = met.seconds_per_epoch / find_method(METHOD).drift  # of a network that a search begins with
    layout = planned(Budget(seconds=seconds, seconds_per_epoch=typical, workers=workers), METHOD).layout
    assert isinstance(layout, Schedule)
    return layout


def table(
    schedule_for: Callable[[int], Schedule], counts: Sequence[int], met: Circumstances, repeats: int
) -> Table:
    """One row for each number of workers: means over some simulations.

    Args:
        schedule_for: The search on so many workers.
        counts: Numbers of workers.
        met: The circumstances.
        repeats: How many simulations.
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
    """Print the table for what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="paper:klein-gordon", help="the schedule of the search")
    parser.add_argument("--budget", type=parse_duration, help="or the time that it is planned for: 2h")
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS, help="numbers of workers")
    parser.add_argument("--repeats", type=int, default=3, help="simulations for each of them")
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
