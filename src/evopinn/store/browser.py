"""The browser of a run: pages of rows that the database sorts and filters, and numbers for charts.

Pages follow each other by key and not by number, so that the last of a hundred thousand rows is as near as
the first, and a running search adds rows without moving those in view.
"""

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, cast

from evopinn.errors import RunError, UnknownNameError
from evopinn.store.database import as_run_errors
from evopinn.store.reader import Reader
from evopinn.store.records import Entry, largest
from evopinn.store.rows import Row, errors_of, loss_of
from evopinn.store.schema import LARGEST_ERROR, RANKED_LOSS

SORTS: Mapping[str, str] = MappingProxyType(
    {
        "task": "task",
        "generation": "generation",
        "loss": RANKED_LOSS,
        "error": "error",
        "epochs": "epochs",
        "seconds": "seconds",
    }
)
"""The sort keys of rows, as SQL of an evaluation. Not-a-number sorts behind all numbers."""


@dataclass(frozen=True)
class Selection:
    """The evaluations to list, and their order.

    Attributes:
        sort: One of `SORTS`.
        descending: Whether the greatest come first.
        status: Only of this status.
        generation: Only of this generation.
        after: The end of the page before, from its `following`; empty for the first page.
    """

    sort: str = "task"
    descending: bool = False
    status: str | None = None
    generation: int | None = None
    after: str = ""


@dataclass(frozen=True)
class EvaluationLine:
    """An evaluation, reduced to the columns of a list; see `Entry`."""

    task: int
    attempt: int
    final: bool
    status: str
    loss: float
    error: float | None
    epochs: int
    seconds: float
    generation: int
    genome: str


@dataclass(frozen=True)
class Page:
    """Some evaluations of a selection.

    Attributes:
        lines: In order.
        total: The number of rows of the whole selection.
        following: The `after` of the next page; None on the last.
    """

    lines: Sequence[EvaluationLine]
    total: int
    following: str | None


class RoundStart(NamedTuple):
    """The start of a generation: its number, its first task, and the epochs of that task."""

    generation: int
    first: int
    epochs: int


class RecordedTask(NamedTuple):
    """A task as recorded, with its genome as unparsed text; see `Task`."""

    generation: int
    genome: str
    epochs: int
    seed: str
    operations: tuple[str, ...]
    parents: tuple[int, ...]
    continues: int | None
    coarseness: float


class Browser(Reader):
    """A reader that also gives pages of a run."""

    def evaluations(self, selection: Selection, size: int = 50) -> Page:
        """A page of evaluations, one line for each attempt.

        Args:
            selection: The evaluations, and where the page starts.
            size: Maximum number of rows.
        """
        key = _sort_key(selection.sort, self._version)
        conditions, arguments = _conditions(selection)
        if selection.after:
            sign = "<" if selection.descending else ">"
            conditions.append(f"({key}, id) {sign} (?, ?)")
            arguments += _position(selection.after)
        direction = "DESC" if selection.descending else "ASC"
        chosen = f"SELECT id, {key} AS place FROM evaluations"
        if conditions:
            chosen += f" WHERE {' AND '.join(conditions)}"
        # The rows are chosen first: genomes are looked up for one page only.
        query = f"""SELECT place, e.id, e.task, e.attempt, e.final, e.status, e.loss, e.errors, e.epochs,
                e.seconds, e.generation, t.genome
            FROM ({chosen} ORDER BY place {direction}, id {direction} LIMIT ?) chosen
                JOIN evaluations e ON e.id = chosen.id JOIN tasks t ON t.number = e.task
            ORDER BY place {direction}, e.id {direction}"""
        found = self._each(_line, query, *arguments, size + 1)
        following = found[size - 1][0] if len(found) > size else None
        return Page([line for _, line in found[:size]], self._total(selection), following)

    def statuses(self) -> dict[str, int]:
        """The number of attempts, by status."""
        query = "SELECT status, sum(number) FROM tallies GROUP BY status ORDER BY status"
        return dict(self._each(lambda row: (str(row[0]), int(row[1])), query))

    def rounds(self) -> list[RoundStart]:
        """The starts of all generations, in order."""
        query = """SELECT t.generation, t.number, t.epochs
            FROM (SELECT min(number) AS first FROM tasks GROUP BY generation) JOIN tasks t ON t.number = first
            ORDER BY t.number"""
        return self._each(lambda row: RoundStart(*row), query)

    def losses_from(self, first: int) -> list[tuple[int, float]]:
        """Generation and loss of the settled tasks with numbers from `first` on."""
        query = "SELECT generation, loss FROM evaluations WHERE final AND task >= ?"
        return self._each(lambda row: (row[0], loss_of(row[1])), query, first)

    def steps_after(self, evaluation: int) -> list[tuple[int, float, float | None, int, float]]:
        """Attempts that ended after one, in order: number, coarseness, loss, epochs, seconds."""
        query = "SELECT id, coarseness, loss, epochs, seconds FROM evaluations WHERE id > ? ORDER BY id"
        return self._each(
            lambda row: cast(tuple[int, float, float | None, int, float], row), query, evaluation
        )

    def recorded_task(self, number: int) -> RecordedTask:
        """The task with a number."""
        query = """SELECT generation, genome, epochs, seed, operations, parents, continues, coarseness
            FROM tasks WHERE number = ?"""
        for asked in self._each(_asked, query, number):
            return asked
        raise RunError(f"the run {self.directory} has no task {number}.")

    def attempts(self, number: int) -> list[Entry]:
        """All attempts at a task; none before the first has ended."""
        return [entry for entry in self.page(number - 1, 1) if entry.task == number]

    def copy(self, path: Path) -> None:
        """Copy the whole database to a file, without delaying its writer."""
        with as_run_errors(self.directory):
            target = sqlite3.connect(path)
            try:
                self._connection.backup(target)
                # A copy has no log beside it that would have to come along.
                target.execute("PRAGMA journal_mode = DELETE")
            finally:
                target.close()

    def _total(self, selection: Selection) -> int:
        conditions = ["1"]
        arguments: list[object] = []
        for column, value in (("status", selection.status), ("generation", selection.generation)):
            if value is not None:
                conditions.append(f"{column} = ?")
                arguments.append(value)
        query = f"SELECT coalesce(sum(number), 0) FROM tallies WHERE {' AND '.join(conditions)}"
        (total,) = self._each(lambda row: int(row[0]), query, *arguments)
        return total


def _sort_key(name: str, version: int) -> str:
    if name == "error" and version < 2:
        return LARGEST_ERROR
    try:
        return SORTS[name]
    except KeyError:
        hint = f"There are {', '.join(SORTS)}."
        raise UnknownNameError("column to sort by", name, SORTS, hint=hint) from None


def _conditions(selection: Selection) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    arguments: list[object] = []
    if selection.status is not None:
        conditions.append("status = ?")
        arguments.append(selection.status)
    if selection.generation is not None:  # the index is on the tasks
        conditions.append("task IN (SELECT number FROM tasks WHERE generation = ?)")
        arguments.append(selection.generation)
    return conditions, arguments


def _position(after: str) -> tuple[float, int]:
    place, _, number = after.partition(",")
    try:
        found = float(place), int(number)
    except ValueError:
        found = math.nan, 0
    if math.isnan(found[0]) or abs(found[1]) >= 2**63:
        raise RunError(f"a page cannot start after {after!r}; start with the first page.")
    return found


def _line(row: Row) -> tuple[str, EvaluationLine]:
    place, number, task, attempt, final, status, loss, errors, *rest = row
    error = largest(errors_of(errors).values())
    return f"{float(place)!r},{number}", EvaluationLine(
        task, attempt, bool(final), status, loss_of(loss), error, *rest
    )


def _asked(row: Row) -> RecordedTask:
    generation, genome, epochs, seed, operations, parents, *rest = row
    lineage = tuple(map(str, json.loads(operations))), tuple(map(int, json.loads(parents)))
    return RecordedTask(generation, str(genome), epochs, str(seed), *lineage, *rest)
