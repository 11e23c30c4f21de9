"""Reading a run, also while another process writes to it: pages and aggregates, never all of it.

Each query reads a summary, an index or a page of rows, so that a hundred thousand evaluations are no burden.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from evopinn.errors import RunError
from evopinn.run.database import check_identity, connect_for_reading, explained, readable
from evopinn.run.place import holder_of
from evopinn.run.records import TASK_COLUMNS, Row, errors_of, history_of, loss_of, task_of
from evopinn.run.schema import MIGRATIONS

if TYPE_CHECKING:
    from evopinn.search.task import Task
    from evopinn.training import History

T = TypeVar("T")
_ROW = """SELECT e.task, e.attempt, e.final, e.status, e.loss, e.errors, e.epochs, e.seconds, e.worker,
    e.started, e.ended, e.note, e.generation, e.key, e.coarseness, t.genome
    FROM evaluations e JOIN tasks t ON t.number = e.task"""


@dataclass(frozen=True)
class About:
    """What a run is.

    Attributes:
        config: What it is to do, as TOML.
        versions: Of the packages that it was begun with.
        created: When, in seconds since 1970.
        writer: The process that writes to it now, if one does.
    """

    config: str
    versions: Mapping[str, str]
    created: float
    writer: int | None


@dataclass(frozen=True)
class Entry:
    """An evaluation as it is listed: see `Evaluation`, and of its task the generation, genome and key."""

    task: int
    attempt: int
    final: bool
    status: str
    loss: float
    errors: Mapping[str, float]
    epochs: int
    seconds: float
    worker: int | None
    started: float
    ended: float
    note: str
    generation: int
    key: str
    coarseness: float
    genome: str


@dataclass(frozen=True)
class GenerationSummary:
    """A generation in figures.

    Attributes:
        generation: Its number.
        asked: How many tasks it has.
        settled: How many have a final evaluation.
        failed: How many of these have no finite loss.
        best: The least loss; infinite if there is none.
        epochs: Trained in all attempts.
        seconds: Spent by workers, on all attempts.
    """

    generation: int
    asked: int
    settled: int
    failed: int
    best: float
    epochs: int
    seconds: float


@dataclass(frozen=True)
class Event:
    """Something that happened to the run as a whole; `identity` rises with time."""

    identity: int
    time: float
    kind: str
    text: str


class Reader:
    """A run that is looked at and cannot be changed.

    Args:
        directory: The run's.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        with explained(self.directory):
            self._connection = connect_for_reading(self.directory)
            try:
                _refuse_older(check_identity(self._connection, self.directory), self.directory)
            except BaseException:
                self._connection.close()
                raise

    def about(self) -> About:
        """What the run is."""
        writer = holder_of(self.directory)
        query = "SELECT config, versions, created FROM run"
        (about,) = self._each(lambda row: About(row[0], json.loads(row[1]), row[2], writer), query)
        return about

    def counts(self) -> dict[str, int]:
        """How many tasks were settled, by status."""
        return dict(self._each(_pair, "SELECT status, sum(number) FROM tallies WHERE final GROUP BY status"))

    def generations(self) -> list[GenerationSummary]:
        """All generations that have tasks."""
        asked = dict(self._each(_pair, "SELECT generation, count(*) FROM tasks GROUP BY generation"))
        query = """SELECT generation, sum(number * final), sum(failed * final),
            min(CASE WHEN final THEN best ELSE 9e999 END), sum(epochs), sum(seconds)
            FROM tallies GROUP BY generation"""
        found = dict(self._each(lambda row: (row[0], row[1:]), query))
        nothing = (0, 0, float("inf"), 0, 0.0)
        return [GenerationSummary(each, asked[each], *found.get(each, nothing)) for each in sorted(asked)]

    def hall_of_fame(self, size: int = 10) -> list[Entry]:
        """The best evaluation of each of the best genomes, best first.

        Losses on all points come before losses on fewer: they are not comparable.
        """
        query = f"""{_ROW} JOIN standings s ON s.task = e.task WHERE e.final
            ORDER BY s.coarseness, s.loss, s.task LIMIT ?"""
        return self._each(_entry, query, size)

    def best_of_generation(self, generation: int, size: int = 10) -> list[Entry]:
        """The best evaluations of a generation, best first; a genome may be among them more than once."""
        query = f"""{_ROW} WHERE e.final AND e.loss < 9e999 AND e.generation = ?
            ORDER BY e.coarseness, e.loss, e.task LIMIT ?"""
        return self._each(_entry, query, generation, size)

    def page(self, after: int = -1, size: int = 50) -> list[Entry]:
        """All attempts at tasks with a number above `after`, in order; at most `size`, but whole tasks."""
        query = f"{_ROW} WHERE e.task > ? ORDER BY e.task, e.attempt LIMIT ?"
        entries = self._each(_entry, query, after, size)
        if len(entries) == size:  # the last task may have more attempts
            rest = f"{_ROW} WHERE e.task = ? AND e.attempt > ? ORDER BY e.attempt"
            entries += self._each(_entry, rest, entries[-1].task, entries[-1].attempt)
        return entries

    def latest(self, size: int = 20) -> list[Entry]:
        """The attempts that ended last, the newest first."""
        return self._each(_entry, f"{_ROW} ORDER BY e.id DESC LIMIT ?", size)

    def task(self, number: int) -> "Task":
        """What was asked for under a number."""
        query = f"SELECT {', '.join(TASK_COLUMNS)} FROM tasks WHERE number = ?"
        for task in self._each(task_of, query, number):
            return task
        raise RunError(f"the run {self.directory} has no task {number}.")

    def history(self, number: int) -> "History | None":
        """The course of a task's final evaluation, if it was recorded."""
        query = """SELECT h.epochs, h.fields, h.numbers
            FROM histories h JOIN evaluations e ON e.id = h.evaluation WHERE e.task = ? AND e.final"""
        return next(iter(self._each(history_of, query, number)), None)

    def events(self, after: int = 0, size: int = 100) -> list[Event]:
        """What happened to the run after an event, in order."""
        query = "SELECT id, time, kind, text FROM events WHERE id > ? ORDER BY id LIMIT ?"
        return self._each(lambda row: Event(*row), query, after, size)

    def close(self) -> None:
        """Free the database."""
        self._connection.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _each(self, make: Callable[[Row], T], query: str, *arguments: object) -> list[T]:
        with readable(self.directory):
            return [make(row) for row in self._connection.execute(query, arguments)]


def _refuse_older(version: int, directory: Path) -> None:
    if version < len(MIGRATIONS):
        raise RunError(
            f"the run {directory} was made by an older evopinn (its schema has version {version}); resume it "
            "once to bring it up to date."
        )


def _pair(row: Row) -> tuple[Any, int]:
    return row[0], row[1]


def _entry(row: Row) -> Entry:
    task, attempt, final, status, loss, errors, *rest = row
    return Entry(task, attempt, bool(final), status, loss_of(loss), errors_of(errors), *rest)
