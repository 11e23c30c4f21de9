"""Trainings per second on workers of a Ray cluster compared with local workers, alternating on one machine.

    ray start --head --num-cpus 2 --include-dashboard=false
    python benchmarks/cluster_throughput.py --address 127.0.0.1:6379 --rounds 5

Both kinds of workers start once, and counting begins when each worker has done a training: starting takes
seconds, a search takes hours. The table also has the share of their time that workers spend in trainings,
which shows the overhead even on a busy machine.
"""

import argparse
import statistics
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from evopinn.training import TrainingOptions
from evopinn.workers.cluster.cluster import Cluster
from evopinn.workers.cluster.messages import WorkerResources
from evopinn.workers.evaluation import Assignment, Trainer, is_valid_result, packed_work, unpacked_result
from evopinn.workers.pool import LocalPool, Outcome, Pool
from evopinn.workers.problem_source import ProblemSource

GENOME = "layers=4 neurons=16 shortcuts=none activation=tanh(x)"
ARGUMENTS = (ProblemSource("klein-gordon"), TrainingOptions("lbfgs"))
LIMITS = {"memory_limit": 4 << 30, "startup_seconds": 600.0}


@dataclass(frozen=True)
class Rate:
    """Trainings per second, and the share of their time that workers spent in them."""

    per_second: float
    share: float


@contextmanager
def local(count: int) -> Generator[Pool]:
    """Workers of this process."""
    with LocalPool(Trainer, ARGUMENTS, count=count, accept=is_valid_result, **LIMITS) as workers:
        yield workers


@contextmanager
def remote(address: str, count: int) -> Generator[Pool]:
    """Workers on a cluster."""
    with Cluster(address, WorkerResources(), count, _ignore) as cluster:
        yield cluster.pool(Trainer, ARGUMENTS, pack=packed_work, unpack=unpacked_result, **LIMITS)


def warmed(workers: Pool, count: int, epochs: int) -> float:
    """Run trainings until each worker has done one; return how long one takes then."""
    seen: set[int] = set()
    while len(seen) < count:
        ended = _done(workers, count, epochs, None)
        seen |= {each.worker for each in ended}
    return statistics.median(each.seconds for each in _done(workers, count, epochs, None))


def timed(workers: Pool, count: int, epochs: int, trainings: int, expected: float) -> Rate:
    """Run so many trainings, as a driver does."""
    began = time.perf_counter()
    ended = _done(workers, trainings, epochs, expected)
    seconds = time.perf_counter() - began
    return Rate(trainings / seconds, sum(each.seconds for each in ended) / (count * seconds))


def _done(workers: Pool, trainings: int, epochs: int, expected: float | None) -> list[Outcome]:
    over: list[Outcome] = []
    asked = 0
    while len(over) < trainings:
        while asked < trainings and workers.room > 0:
            workers.submit(asked, Assignment(GENOME, epochs, seed=asked), 600.0, expected)
            asked += 1
        over += workers.wait(1.0)
        assert all(each.failure is None for each in over), over[-1].failure
    return over


def _ignore(_: str) -> None:
    """Discard a message."""


def main() -> None:
    """Print the table that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--address", required=True, help="host:port of a cluster with at least two CPUs")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2], help="numbers of workers")
    parser.add_argument("--short", type=int, nargs=2, default=[10, 24], help="epochs and number of trainings")
    parser.add_argument(
        "--medium", type=int, nargs=2, default=[100, 6], help="epochs and number of trainings"
    )
    given = parser.parse_args()
    shown = Table("workers", "epochs", "local /s", "Ray /s", "Ray / local", "local training", "Ray training")
    for count in given.counts:
        with local(count) as here, remote(given.address, count) as there:
            for epochs, trainings in (given.short, given.medium):
                rounds = _rounds((here, there), count, epochs, trainings, given.rounds)
                ratios = [afar.per_second / near.per_second for near, afar in rounds]
                rates = [
                    statistics.median(each.per_second for each in kind) for kind in zip(*rounds, strict=True)
                ]
                shares = [
                    statistics.median(each.share for each in kind) for kind in zip(*rounds, strict=True)
                ]
                spread = f"{statistics.median(ratios):.1%} ({min(ratios):.1%} to {max(ratios):.1%})"
                shown.add_row(
                    str(count),
                    str(epochs),
                    *(f"{each:.2f}" for each in rates),
                    spread,
                    *(f"{each:.1%}" for each in shares),
                )
    Console(width=110).print(shown)


def _rounds(
    both: tuple[Pool, Pool], count: int, epochs: int, trainings: int, rounds: int
) -> list[tuple[Rate, ...]]:
    """Rates of local and remote workers, alternating, and alternating who goes first."""
    expected = [warmed(workers, count, epochs) for workers in both]
    found: list[tuple[Rate, ...]] = []
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        rates = {each: timed(both[each], count, epochs, trainings, expected[each]) for each in order}
        found.append((rates[0], rates[1]))
    return found


if __name__ == "__main__":
    main()
