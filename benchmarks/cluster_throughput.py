"""Trainings an hour on workers of a Ray cluster beside local ones, in turns, on one machine.

    ray start --head --num-cpus 2 --include-dashboard=false
    python benchmarks/cluster_throughput.py --address 127.0.0.1:6379

Beside the rate there is the share of their time that workers train: it tells the overhead also on a machine
that is busy with other things, where rates do not.
"""

import argparse
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from evopinn.run.cluster.messages import Demand
from evopinn.run.cluster.parcels import sealed, unsealer
from evopinn.run.cluster.site import Cluster
from evopinn.run.evaluation import Assignment, Trainer, TrainingOptions, is_outcome
from evopinn.run.source import ProblemSource
from evopinn.run.workers import Workers
from evopinn.run.workforce import Workforce

GENOME = "layers=4 neurons=16 shortcuts=none activation=tanh(x)"
ARGUMENTS = (ProblemSource("klein-gordon"), TrainingOptions("lbfgs"))
LIMITS = {"memory_limit": 4 << 30, "startup_seconds": 600.0}


@dataclass(frozen=True)
class Rate:
    """Trainings a second, and the share of their time that workers spent in them."""

    per_second: float
    share: float


@contextmanager
def local(count: int) -> Generator[Workforce]:
    """Workers of this process."""
    with Workers(Trainer, ARGUMENTS, count=count, accept=is_outcome, **LIMITS) as workers:
        yield workers


@contextmanager
def remote(address: str, count: int) -> Generator[Workforce]:
    """Workers on a cluster."""
    with Cluster(address, Demand(), count, _ignore) as cluster:
        yield cluster.workers(Trainer, ARGUMENTS, sealed=sealed, unsealed=unsealer(is_outcome), **LIMITS)


def timed(workers: Workforce, count: int, epochs: int, trainings: int) -> Rate:
    """Have so many trainings done, as a driver does it, after one for each worker that is not counted."""
    expected = _done(workers, count, epochs, None)[1] / count
    seconds, spent = _done(workers, trainings, epochs, expected)
    return Rate(trainings / seconds, spent / (count * seconds))


def _done(workers: Workforce, trainings: int, epochs: int, expected: float | None) -> tuple[float, float]:
    began, spent, asked, left = time.perf_counter(), 0.0, 0, trainings
    while left:
        while asked < trainings and workers.room > 0:
            workers.submit(asked, Assignment(GENOME, epochs, seed=asked), 600.0, expected)
            asked += 1
        for ended in workers.wait(1.0):
            assert ended.failure is None, ended.failure
            spent += ended.seconds
            left -= 1
    return time.perf_counter() - began, spent


def _ignore(_: str) -> None:
    """Nobody is told."""


def main() -> None:
    """Print the table for what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--address", required=True, help="of a cluster with at least two CPUs: host:port")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2], help="numbers of workers")
    parser.add_argument("--short", type=int, nargs=2, default=[10, 24], help="epochs and number of trainings")
    parser.add_argument(
        "--medium", type=int, nargs=2, default=[100, 6], help="epochs and number of trainings"
    )
    given = parser.parse_args()
    shown = Table("workers", "epochs", "local /s", "Ray /s", "local training", "Ray training", "Ray / local")
    for _ in range(given.rounds):
        for count in given.counts:
            for epochs, trainings in (given.short, given.medium):
                here = _rate(local(count), count, epochs, trainings)
                there = _rate(remote(given.address, count), count, epochs, trainings)
                figures = (here.per_second, there.per_second)
                shares = (f"{here.share:.1%}", f"{there.share:.1%}", f"{there.share / here.share:.1%}")
                shown.add_row(str(count), str(epochs), *(f"{each:.2f}" for each in figures), *shares)
    Console(width=110).print(shown)


def _rate(made: AbstractContextManager[Workforce], count: int, epochs: int, trainings: int) -> Rate:
    with made as workers:
        return timed(workers, count, epochs, trainings)


if __name__ == "__main__":
    main()
