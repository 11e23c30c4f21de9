"""Reading a run, also while another process writes to it: pages and aggregates, never all of it.

Each query reads a summary, an index or a page of rows, so that a hundred thousand evaluations are no burden.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from evopinn.errors import RunError
from evopinn.run.closing import Closing
from evopinn.run.database import check_identity, connect_for_reading, explained, readable
from evopinn.run.listed import (
    About,
    Entry,
    Event,
    FailureCount,
    FinalistEntry,
    GenerationSummary,
    RunState,
)
from evopinn.run.place import holder_of
from evopinn.run.records import TASK_COLUMNS, Row, errors_of, history_of, loss_of, task_of
from evopinn.run.schema import MIGRATIONS

if TYPE_CHECKING:
    from evopinn.searchers.task import Task
    from evopinn.training import History

T = TypeVar("T")
_ROW = """SELECT e.task, e.attempt, e.final, e.status, e.loss, e.errors, e.epochs, e.seconds, e.worker,
    e.started, e.ended, e.note, e.generation, e.key, e.coarseness, t.genome, t.seed, t.operations, t.parents
    FROM evaluations e JOIN tasks t ON t.number = e.task"""

_CANDIDATE = json.dumps(["candidate"])


class Reader(Closing):
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
            except BaseException:  # Ctrl-C too must leave nothing half done
                self._connection.close()
                raise

    def about(self) -> About:
        """What the run is."""
        writer = holder_of(self.directory)
        query = "SELECT config, versions, created FROM run"
        (about,) = self._each(lambda row: About(row[0], json.loads(row[1]), row[2], writer), query)
        return about

    def state(self) -> RunState:
        """Whether all is done, and if not, whether somebody is at it."""
        if self._each(_first, "SELECT 1 FROM events WHERE kind = 'finished' LIMIT 1"):
            return "finished"
        return "stopped" if holder_of(self.directory) is None else "running"

    def counts(self) -> dict[str, int]:
        """How many tasks were settled, by status."""
        return dict(self._each(_pair, "SELECT status, sum(number) FROM tallies WHERE final GROUP BY status"))

    def failures(self) -> list[FailureCount]:
        """The ways in which trainings failed, with how often they did."""
        query = """SELECT status, sum(failed * final) AS failures, sum(number * (NOT final)) AS retries
            FROM tallies GROUP BY status HAVING failures OR retries ORDER BY failures DESC, status"""
        return self._each(lambda row: FailureCount(*row), query)

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

    def finalists(self, size: int = 10) -> list[FinalistEntry]:
        """The final evaluations by genome, as far as they are settled, the best mean first.

        While the run goes on, the means may be of different numbers of evaluations.
        """
        # They are the last generation: its index leads to them past all others.
        query = """SELECT t.key, t.genome, e.task, e.loss, e.errors
            FROM tasks t JOIN evaluations e ON e.task = t.number AND e.final
            WHERE t.generation = (SELECT max(generation) FROM tasks) AND t.operations = ?
            ORDER BY t.number"""
        by_key: dict[str, list[Row]] = {}
        for key, *rest in self._each(_whole, query, _CANDIDATE):
            by_key.setdefault(key, []).append(tuple(rest))
        with readable(self.directory):
            found = [_finalist(key, rows) for key, rows in by_key.items()]
        return sorted(found, key=lambda finalist: finalist.mean_loss)[:size]

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

    def final_evaluation(self, number: int) -> Entry:
        """The evaluation that settled a task."""
        for entry in self._each(_entry, f"{_ROW} WHERE e.task = ? AND e.final", number):
            return entry
        raise RunError(f"the run {self.directory} has no final evaluation of a task {number}.")

    def fields(self) -> tuple[str, ...]:
        """The fields whose errors are known; none as long as no evaluation has any."""
        query = "SELECT errors FROM evaluations WHERE errors <> '{}' LIMIT 1"
        return next(iter(self._each(lambda row: tuple(errors_of(row[0])), query)), ())

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


def _first(row: Row) -> Any:
    return row[0]


def _whole(row: Row) -> Row:
    return row


def _entry(row: Row) -> Entry:
    task, attempt, final, status, loss, errors, *rest, seed, operations, parents = row
    lineage: Row = int(seed), tuple(json.loads(operations)), tuple(json.loads(parents))
    return Entry(task, attempt, bool(final), status, loss_of(loss), errors_of(errors), *rest, *lineage)


def _finalist(key: str, rows: list[Row]) -> FinalistEntry:
    genomes, tasks, losses, errors = zip(*rows, strict=True)
    ranked = [math.inf if math.isnan(loss) else loss for loss in map(loss_of, losses)]
    return FinalistEntry(genomes[0], key, tasks, tuple(ranked), tuple(map(errors_of, errors)))
