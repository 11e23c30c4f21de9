"""Reading a run, even while another process writes to it: pages and aggregates, never everything at once.

Each query reads a summary, an index or a page of rows, so that a hundred thousand evaluations are no burden.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from evopinn.errors import RunError
from evopinn.search.means import Mean, check_mean
from evopinn.search.ranking import Rank, best_mean_first
from evopinn.search.task import CANDIDATE, Score, Task
from evopinn.store.database import as_read_errors, as_run_errors, check_identity, connect_for_reading
from evopinn.store.directory import holder_of
from evopinn.store.records import (
    About,
    Entry,
    Event,
    FailureCount,
    FinalistEntry,
    GenerationSummary,
    RoundKind,
    RunState,
    SettledTask,
    round_kind,
)
from evopinn.store.rows import (
    TASK_COLUMNS,
    Check,
    Row,
    checked_list,
    checked_row,
    errors_of,
    history_of,
    loss,
    loss_of,
    moment,
    number,
    task_of,
    text,
    whole_number,
    whole_number_or_null,
)
from evopinn.store.schema import OLDEST_READABLE
from evopinn.store.toml_text import toml_data
from evopinn.training import History

T = TypeVar("T")
_ROW = """SELECT e.task, e.attempt, e.final, e.status, e.loss, e.errors, e.epochs, e.seconds, e.worker,
    e.started, e.ended, e.note, e.generation, e.key, e.coarseness, t.genome, t.seed, t.operations, t.parents
    FROM evaluations e JOIN tasks t ON t.number = e.task"""

_BY_RANK = ", ".join(f"s.{column}" for column in Rank._fields)
"""The ranking key in SQL. Standings have neither failures nor two rows of a genome."""

_FINAL = json.dumps([CANDIDATE])


class Reader:
    """A read-only view of a run.

    Args:
        directory: The run's.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        with as_run_errors(self.directory):
            self._connection = connect_for_reading(self.directory)
            try:
                self._version = check_identity(self._connection, self.directory)
                _refuse_older(self._version, self.directory)
            except BaseException:  # Ctrl-C too must leave nothing half done
                self._connection.close()
                raise

    def about(self) -> About:
        """The description of the run."""
        writer = holder_of(self.directory)
        query = "SELECT config, versions, created FROM run"
        for about in self._each(lambda row: _about(row, writer), query):
            return about
        raise RunError(
            f"the run {self.directory}: its database is damaged (it has no run); restore a copy of it."
        )

    def state(self) -> RunState:
        """Whether the run is finished, and if not, whether a process writes to it."""
        if self._each(_first, "SELECT 1 FROM events WHERE kind = 'finished' LIMIT 1"):
            return "finished"
        return "stopped" if holder_of(self.directory) is None else "running"

    def counts(self) -> dict[str, int]:
        """The number of settled tasks, by status."""
        query = "SELECT status, sum(number) FROM tallies WHERE final GROUP BY status"
        return dict(self._each(lambda row: _two(row, text, whole_number), query))

    def failures(self) -> list[FailureCount]:
        """The kinds of failure, with their counts and the first of each: by number, not by who was faster."""
        settled = "SELECT id FROM evaluations e WHERE final AND e.status = t.status ORDER BY task LIMIT 1"
        retried = "SELECT min(id) FROM evaluations e WHERE e.status = t.status"
        query = f"""SELECT e.status, failures, retries, e.task, e.note FROM (
                SELECT status, sum(failed * final) AS failures, sum(number * (NOT final)) AS retries,
                    coalesce(({settled}), ({retried})) AS first
                FROM tallies t GROUP BY status HAVING failures OR retries
            ) JOIN evaluations e ON e.id = first ORDER BY failures DESC, e.status"""
        return self._each(
            lambda row: FailureCount(*checked_row(row, text, whole_number, whole_number, whole_number, text)),
            query,
        )

    def generations(self) -> list[GenerationSummary]:
        """All generations that have tasks."""
        first = "SELECT generation, count(*) AS asked, min(number) AS number FROM tasks GROUP BY generation"
        rounds = f"SELECT g.generation, asked, operations FROM ({first}) g JOIN tasks USING (number)"
        asked = dict(self._each(_round, rounds))
        query = """SELECT generation, sum(number * final), sum(failed * final),
            min(CASE WHEN final THEN best ELSE 9e999 END), sum(epochs), sum(seconds)
            FROM tallies GROUP BY generation"""
        kinds = (whole_number, whole_number, whole_number, loss, whole_number, number)
        found = dict(self._each(lambda row: (row[0], checked_row(row, *kinds)[1:]), query))
        nothing = (0, 0, float("inf"), 0, 0.0)
        return [GenerationSummary(each, *asked[each], *found.get(each, nothing)) for each in sorted(asked)]

    def hall_of_fame(self, size: int = 10) -> list[Entry]:
        """The best evaluation of each of the best genomes, best first.

        Losses on all points come before losses on fewer points, which are not comparable.
        """
        query = f"{_ROW} JOIN standings s ON s.task = e.task WHERE e.final ORDER BY {_BY_RANK} LIMIT ?"
        return self._each(_entry, query, size)

    def finalists(self, size: int = 10) -> list[FinalistEntry]:
        """The final evaluations by genome, as far as they have ended, best mean first.

        During the run, the means may cover different numbers of evaluations.
        """
        # They are the last generation: its index leads to them past all others.
        query = """SELECT t.key, t.genome, e.task, e.loss, e.errors
            FROM tasks t JOIN evaluations e ON e.task = t.number AND e.final
            WHERE t.generation = (SELECT max(generation) FROM tasks) AND t.operations = ?
            ORDER BY t.number"""
        by_key: dict[str, list[Row]] = {}
        kinds = (text, text, whole_number, loss, text)
        for key, *rest in self._each(lambda row: checked_row(row, *kinds), query, _FINAL):
            by_key.setdefault(key, []).append(tuple(rest))
        mean = self._mean() if by_key else "arithmetic"
        with as_read_errors(self.directory):
            found = [_finalist(key, rows, mean) for key, rows in by_key.items()]
        return best_mean_first(found)[:size]

    def _mean(self) -> Mean:
        """The mean that ranks finalists; runs older than this choice do not record it."""
        try:
            settings = toml_data(self.about().config).get("settings")
            known = cast("dict[str, object]", settings) if isinstance(settings, dict) else {}
            return check_mean(known.get("mean", "arithmetic"))
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
        """The latest attempts that ended, newest first."""
        return self._each(_entry, f"{_ROW} ORDER BY e.id DESC LIMIT ?", size)

    def final_evaluation(self, number: int) -> Entry:
        """The evaluation that settled a task."""
        for entry in self._each(_entry, f"{_ROW} WHERE e.task = ? AND e.final", number):
            return entry
        raise RunError(f"the run {self.directory} has no final evaluation of a task {number}.")

    def settled_tasks(self) -> list[SettledTask]:
        """The results of all settled tasks, in order, in few columns."""
        query = """SELECT task, generation, loss, seconds, coarseness FROM evaluations
            WHERE final ORDER BY task"""
        return self._each(_settled_task, query)

    def genomes(self, most: int) -> list[tuple[int, str]]:
        """Generation and genome of tasks: a maximum number of each generation, evenly spread over it."""
        places = """SELECT number, generation, genome, count(*) OVER (PARTITION BY generation) AS size,
            row_number() OVER (PARTITION BY generation ORDER BY number) AS place FROM tasks"""
        query = f"""SELECT generation, genome FROM ({places})
            WHERE size <= ?1 OR place * ?1 / size > (place - 1) * ?1 / size ORDER BY number"""
        return self._each(lambda row: _two(row, whole_number, text), query, most)

    def efforts(self) -> dict[int, int]:
        """The training epochs of each generation."""
        query = "SELECT generation, max(epochs) FROM tasks GROUP BY generation"
        return dict(self._each(lambda row: _two(row, whole_number, whole_number), query))

    def fields(self) -> tuple[str, ...]:
        """The fields with known errors; none before an evaluation has any."""
        query = "SELECT errors FROM evaluations WHERE errors <> '{}' LIMIT 1"
        return next(iter(self._each(lambda row: tuple(errors_of(row[0])), query)), ())

    def task(self, number: int) -> Task:
        """The task with a number."""
        query = f"SELECT {', '.join(TASK_COLUMNS)} FROM tasks WHERE number = ?"
        for task in self._each(task_of, query, number):
            return task
        raise RunError(f"the run {self.directory} has no task {number}.")

    def history(self, number: int) -> History | None:
        """The history of a task's final evaluation, if it was recorded."""
        query = """SELECT h.epochs, h.fields, h.numbers
            FROM histories h JOIN evaluations e ON e.id = h.evaluation WHERE e.task = ? AND e.final"""
        return next(iter(self._each(history_of, query, number)), None)

    def events(self) -> list[Event]:
        """The events of the run, in order: one or two for each session."""
        query = "SELECT time, kind, text FROM events ORDER BY id"
        return self._each(lambda row: Event(*checked_row(row, moment, text, text)), query)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _each(self, make: Callable[[Row], T], query: str, *arguments: object) -> list[T]:
        with as_read_errors(self.directory):
            return [make(row) for row in self._connection.execute(query, arguments)]


def _refuse_older(version: int, directory: Path) -> None:
    if version < OLDEST_READABLE:
        raise RunError(
            f"the run {directory} was made by an older evopinn (its schema has version {version}); resume it "
            "once to bring it up to date."
        )


def _about(row: Row, writer: int | None) -> About:
    config, versions, created = checked_row(row, text, text, moment)
    found: dict[str, str] = {str(name): str(version) for name, version in json.loads(versions).items()}
    return About(config, found, created, writer)


def _two(row: Row, *kinds: Check) -> tuple[Any, Any]:
    first, second = checked_row(row, *kinds)
    return first, second


def _round(row: Row) -> tuple[int, tuple[RoundKind, int]]:
    generation, asked, operations = checked_row(row, whole_number, whole_number, text)
    return generation, (round_kind(checked_list(operations, text)), asked)


def _first(row: Row) -> Any:
    return row[0]


def _settled_task(row: Row) -> SettledTask:
    task, generation, value, *rest = checked_row(row, whole_number, whole_number, loss, number, number)
    return SettledTask(task, generation, loss_of(value), *rest)


_ENTRY: Sequence[Check] = (
    *(
        whole_number,
        whole_number,
        whole_number,
        text,
        loss,
        text,
        whole_number,
        number,
        whole_number_or_null,
        moment,
        moment,
        text,
    ),
    *(whole_number, text, number, text, text, text, text),
)


def _entry(row: Row) -> Entry:
    task, attempt, final, status, value, errors, *rest, seed, operations, parents = checked_row(row, *_ENTRY)
    lineage: Row = int(seed), checked_list(operations, text), checked_list(parents, whole_number)
    return Entry(task, attempt, bool(final), status, loss_of(value), errors_of(errors), *rest, *lineage)


def _finalist(key: str, rows: list[Row], mean: Mean) -> FinalistEntry:
    genomes, tasks, losses, errors = zip(*rows, strict=True)
    ranked = tuple(Score(loss_of(each)).ranked_loss for each in losses)
    return FinalistEntry(genomes[0], key, tasks, ranked, tuple(map(errors_of, errors)), mean)
