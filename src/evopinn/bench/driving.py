"""A search from its first task to its last, as a run does it, with the time that took."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evopinn.run.checkpoints import Checkpoints
from evopinn.run.config import Config
from evopinn.run.driver import Driver, Limits
from evopinn.run.progress import Subject, Tally
from evopinn.run.session import versions
from evopinn.run.snapshot import Snapshot
from evopinn.run.store import Store
from evopinn.run.workforce import Workforce
from evopinn.searchers import EvolutionSettings, Finalist, Schedule, Score, Searcher, Task

METHOD = "evolution"
SETTINGS = EvolutionSettings()


@dataclass(frozen=True)
class Spent:
    """Seconds of this process's work, and on the clock."""

    cpu: float
    wall: float


class Batch:
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
        """A task is over."""
        self._untold.remove(number)

    @property
    def finished(self) -> bool:
        """Whether all tasks are over."""
        return not self._untold

    @property
    def finalists(self) -> Sequence[Finalist]:
        """None: nobody asks."""
        return ()


def _unwatched(_: Snapshot) -> None:
    """Nobody is told; what telling takes the driver is counted all the same."""


def drive(
    directory: Path,
    problem: str,
    schedule: Schedule,
    searcher: Searcher,
    workers: Workforce,
    count: int,
    watch: Callable[[Snapshot], None] = _unwatched,
) -> Spent:
    """Do a search, and record it as any run is.

    Args:
        directory: Where the run will be.
        problem: The problem's name.
        schedule: What the search does, as far as it follows one.
        searcher: At its beginning.
        workers: Ready for assignments.
        count: How many workers there are.
        watch: Told how the search stands.

    Returns:
        What the search took, without the making of its database.
    """
    layout = {"populations": list(schedule.populations), "epochs": list(schedule.epochs)}
    config = Config.of({"problem": problem, "method": METHOD, "schedule": layout}).spelled_out()
    with Store.create(directory, config.toml(), versions()) as store:
        subject = Subject(directory, problem, METHOD, count)
        driver = Driver(
            searcher=searcher,
            store=store,
            workers=workers,
            checkpoints=Checkpoints(directory, 0),
            limits=Limits(),
            tally=Tally(subject, SETTINGS.workload(schedule), watch),
            stopped=lambda: False,
        )
        cpu, wall = time.process_time(), time.perf_counter()
        driver.run()
        spent = Spent(time.process_time() - cpu, time.perf_counter() - wall)
        store.note("finished")
    return spent
