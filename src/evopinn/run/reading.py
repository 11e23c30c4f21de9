"""Reading a run, also while another process writes to it: pages and aggregates, never all of it.

Each query reads a summary, an index or a page of rows, so that a hundred thousand evaluations are no burden.
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evopinn.errors import RunError
from evopinn.lineage import CANDIDATE
from evopinn.means import Mean, known_mean
from evopinn.run.closing import Closing
from evopinn.run.database import check_identity, connect_for_reading, explained, readable
from evopinn.run.listed import (
    About,
    Entry,
    Event,
    FailureCount,
    FinalistEntry,
    GenerationSummary,
    Outcome,
    RoundKind,
    RunState,
    round_kind,
)
from evopinn.run.place import holder_of
from evopinn.run.records import TASK_COLUMNS, Row, errors_of, history_of, loss_of, task_of
from evopinn.run.rows import Kind, fit, listed, loss, moment, number, text, whole, whole_or_none
from evopinn.run.schema import OLDEST_READABLE
from evopinn.run.toml_text import toml_data

if TYPE_CHECKING:
    from evopinn.searchers.task import Task
    from evopinn.training import History

T = TypeVar("T")
_ROW = """SELECT e.task, e.attempt, e.final, e.status, e.loss, e.errors, e.epochs, e.seconds, e.worker,
    e.started, e.ended, e.note, e.generation, e.key, e.coarseness, t.genome, t.seed, t.operations, t.parents
    FROM evaluations e JOIN tasks t ON t.number = e.task"""

_FINAL = json.dumps([CANDIDATE])


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
                self._version = check_identity(self._connection, self.directory)
                _refuse_older(self._version, self.directory)
            except BaseException:  # Ctrl-C too must leave nothing half done
                self._connection.close()
                raise

    def about(self) -> About:
        """What the run is."""
        writer = holder_of(self.directory)
        query = "SELECT config, versions, created FROM run"
        for about in self._each(lambda row: _about(row, writer), query):
            return about
        raise RunError(
            f"the run {self.directory}: its database is damaged (it has no run); restore a copy of it."
        )

    def state(self) -> RunState:
        """Whether all is done, and if not, whether somebody is at it."""
        if self._each(_first, "SELECT 1 FROM events WHERE kind = 'finished' LIMIT 1"):
            return "finished"
        return "stopped" if holder_of(self.directory) is None else "running"

    def counts(self) -> dict[str, int]:
        """How many tasks were settled, by status."""
        query = "SELECT status, sum(number) FROM tallies WHERE final GROUP BY status"
        return dict(self._each(lambda row: _two(row, text, whole), query))

    def failures(self) -> list[FailureCount]:
        """The ways in which trainings failed, with how often they did, and the first of each."""
        query = """SELECT e.status, failures, retries, e.task, e.note FROM (
                SELECT status, sum(failed * final) AS failures, sum(number * (NOT final)) AS retries,
                    (SELECT min(id) FROM evaluations e WHERE e.status = t.status) AS first
                FROM tallies t GROUP BY status HAVING failures OR retries
            ) JOIN evaluations e ON e.id = first ORDER BY failures DESC, e.status"""
        return self._each(lambda row: FailureCount(*fit(row, text, whole, whole, whole, text)), query)

    def generations(self) -> list[GenerationSummary]:
        """All generations that have tasks."""
        first = "SELECT generation, count(*) AS asked, min(number) AS number FROM tasks GROUP BY generation"
        rounds = f"SELECT g.generation, asked, operations FROM ({first}) g JOIN tasks USING (number)"
        asked = dict(self._each(_round, rounds))
        query = """SELECT generation, sum(number * final), sum(failed * final),
            min(CASE WHEN final THEN best ELSE 9e999 END), sum(epochs), sum(seconds)
            FROM tallies GROUP BY generation"""
        kinds = (whole, whole, whole, loss, whole, number)
        found = dict(self._each(lambda row: (row[0], fit(row, *kinds)[1:]), query))
        nothing = (0, 0, float("inf"), 0, 0.0)
        return [GenerationSummary(each, *asked[each], *found.get(each, nothing)) for each in sorted(asked)]

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
        kinds = (text, text, whole, loss, text)
        for key, *rest in self._each(lambda row: fit(row, *kinds), query, _FINAL):
            by_key.setdefault(key, []).append(tuple(rest))
        mean = self._mean() if by_key else "arithmetic"
        with readable(self.directory):
            found = [_finalist(key, rows, mean) for key, rows in by_key.items()]
        return sorted(found, key=lambda finalist: finalist.mean_loss)[:size]

    def _mean(self) -> Mean:
        """What finalists are ranked by; a run from before there was a choice does not say."""
        try:
            settings = toml_data(self.about().config).get("settings")
            known = cast("dict[str, object]", settings) if isinstance(settings, dict) else {}
            return known_mean(known.get("mean", "arithmetic"))
        except ValueError as error:
            reason = str(error).rstrip(".")
            raise RunError(
                f"the run {self.directory}: its configuration is damaged ({reason}); restore a copy of it."
            ) from error

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

    def outcomes(self) -> list[Outcome]:
        """How all settled tasks came out, in order: few columns, so that many rows are read at once."""
        query = """SELECT task, generation, loss, seconds, coarseness FROM evaluations
            WHERE final ORDER BY task"""
        return self._each(_outcome, query)

    def genomes(self, most: int) -> list[tuple[int, str]]:
        """Generation and genome of tasks: at most so many of each generation, evenly spread over it."""
        places = """SELECT number, generation, genome, count(*) OVER (PARTITION BY generation) AS size,
            row_number() OVER (PARTITION BY generation ORDER BY number) AS place FROM tasks"""
        query = f"""SELECT generation, genome FROM ({places})
            WHERE size <= ?1 OR place * ?1 / size > (place - 1) * ?1 / size ORDER BY number"""
        return self._each(lambda row: _two(row, whole, text), query, most)

    def efforts(self) -> dict[int, int]:
        """The epochs that the tasks of each generation are trained for."""
        query = "SELECT generation, max(epochs) FROM tasks GROUP BY generation"
        return dict(self._each(lambda row: _two(row, whole, whole), query))

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

    def events(self) -> list[Event]:
        """What happened to the run as a whole, in order: one or two for each time that it went on."""
        query = "SELECT time, kind, text FROM events ORDER BY id"
        return self._each(lambda row: Event(*fit(row, moment, text, text)), query)

    def close(self) -> None:
        """Free the database."""
        self._connection.close()

    def _each(self, make: Callable[[Row], T], query: str, *arguments: object) -> list[T]:
        with readable(self.directory):
            return [make(row) for row in self._connection.execute(query, arguments)]


def _refuse_older(version: int, directory: Path) -> None:
    if version < OLDEST_READABLE:
        raise RunError(
            f"the run {directory} was made by an older evopinn (its schema has version {version}); resume it "
            "once to bring it up to date."
        )


def _about(row: Row, writer: int | None) -> About:
    config, versions, created = fit(row, text, text, moment)
    found: dict[str, str] = {str(name): str(version) for name, version in json.loads(versions).items()}
    return About(config, found, created, writer)


def _two(row: Row, *kinds: Kind) -> tuple[Any, Any]:
    first, second = fit(row, *kinds)
    return first, second


def _round(row: Row) -> tuple[int, tuple[RoundKind, int]]:
    generation, asked, operations = fit(row, whole, whole, text)
    return generation, (round_kind(listed(operations, text)), asked)


def _first(row: Row) -> Any:
    return row[0]


def _outcome(row: Row) -> Outcome:
    task, generation, value, *rest = fit(row, whole, whole, loss, number, number)
    return Outcome(task, generation, loss_of(value), *rest)


_ENTRY: Sequence[Kind] = (
    *(whole, whole, whole, text, loss, text, whole, number, whole_or_none, moment, moment, text),
    *(whole, text, number, text, text, text, text),
)


def _entry(row: Row) -> Entry:
    task, attempt, final, status, value, errors, *rest, seed, operations, parents = fit(row, *_ENTRY)
    lineage: Row = int(seed), listed(operations, text), listed(parents, whole)
    return Entry(task, attempt, bool(final), status, loss_of(value), errors_of(errors), *rest, *lineage)


def _finalist(key: str, rows: list[Row], mean: Mean) -> FinalistEntry:
    genomes, tasks, losses, errors = zip(*rows, strict=True)
    ranked = [math.inf if math.isnan(each) else each for each in map(loss_of, losses)]
    return FinalistEntry(genomes[0], key, tasks, tuple(ranked), tuple(map(errors_of, errors)), mean)
