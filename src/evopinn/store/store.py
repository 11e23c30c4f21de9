"""The store of a run: a directory that records all tasks and their evaluations.

It holds `run.sqlite`, the configuration as TOML and the weights of the hall of fame. One process writes to it
while any number may read. Recorded data survive any crash of the process or the machine.
"""

import contextlib
import json
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path

from evopinn.errors import RunError
from evopinn.search.task import Task
from evopinn.store.database import (
    as_read_errors,
    as_run_errors,
    check_unwritten,
    connect_for_writing,
    existing,
)
from evopinn.store.directory import CONFIG, DATABASE, WEIGHTS, WriterLock, disk_errors, refuse_network
from evopinn.store.records import Evaluation
from evopinn.store.rows import (
    TASK_COLUMNS,
    errors_text,
    history_row,
    loss_of,
    task_row,
)

_ADD_TASK = f"""INSERT INTO tasks ({", ".join(TASK_COLUMNS)}) VALUES ({", ".join("?" * len(TASK_COLUMNS))})
    ON CONFLICT (number) DO NOTHING"""
_GET_TASK = f"SELECT {', '.join(TASK_COLUMNS)} FROM tasks WHERE number = ?"
_ADD_EVALUATION = """INSERT INTO evaluations (task, attempt, final, status, loss, errors, epochs, seconds,
        worker, started, ended, note, generation, key, coarseness)
    SELECT number, (SELECT 1 + coalesce(max(attempt), 0) FROM evaluations WHERE task = number),
        ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, generation, key, coarseness FROM tasks WHERE number = ?"""


class Store(contextlib.AbstractContextManager["Store"]):
    """A run that this process writes to, made by `Store.create` or `Store.open`.

    Other processes cannot open it for writing meanwhile.
    """

    def __init__(
        self, directory: Path, claim: WriterLock, connection: sqlite3.Connection, clock: Callable[[], float]
    ) -> None:
        self.directory = directory
        self._claim = claim
        self._connection = connection
        self._clock = clock

    @classmethod
    def create(
        cls,
        directory: str | Path,
        config: str,
        versions: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.time,
    ) -> "Store":
        """Make a run in a directory that is new or empty; it appears complete or not at all.

        Args:
            directory: The run's.
            config: The configuration of the run, as TOML.
            versions: The versions of the packages that it runs with.
            clock: Seconds since 1970.
        """
        place = Path(directory)
        refuse_network(place)
        target = place.resolve()
        with disk_errors(f"a run cannot be made in {place}"), _draft(target) as draft:
            _refuse_taken(place)
            (draft / WEIGHTS).mkdir()
            _write_durably(draft / CONFIG, config)
            with as_run_errors(place):
                now = clock()
                with contextlib.closing(connect_for_writing(draft / DATABASE, now)) as connection:
                    row = (config, json.dumps(dict(versions)), now)
                    connection.execute("INSERT INTO run VALUES (1, ?, ?, ?)", row)
            try:
                draft.rename(target)
            except OSError:
                _refuse_taken(place)  # another process may have made it meanwhile
                raise
            _sync_directory(target.parent)
        return cls.open(place, clock=clock)

    @classmethod
    def open(cls, directory: str | Path, *, clock: Callable[[], float] = time.time) -> "Store":
        """Open a run for writing; one of an older version is brought up to date."""
        place = Path(directory)
        path = check_writable(place)
        with contextlib.ExitStack() as undo:
            claim = WriterLock(place)
            undo.callback(claim.release)
            with as_run_errors(place):
                check_unwritten(place)
                connection = connect_for_writing(path, clock())
            undo.pop_all()
        return cls(place, claim, connection, clock)

    @property
    def config(self) -> str:
        """The configuration of the run, as TOML."""
        with as_run_errors(self.directory):
            return self._connection.execute("SELECT config FROM run").fetchone()[0]

    def add_tasks(self, tasks: "Iterable[Task]") -> None:
        """Record tasks, in one transaction.

        Tasks that are recorded already, as in a resumed search, must be the same.
        """
        with self._transaction() as connection:
            for task in tasks:
                row = task_row(task)
                if not connection.execute(_ADD_TASK, row).rowcount:
                    recorded = connection.execute(_GET_TASK, (task.number,)).fetchone()
                    if recorded != row:
                        raise RunError(
                            f"task {task.number} of the run {self.directory} was a different task before "
                            f"(recorded: {recorded}; now: {row}); resume it with the version of evopinn that "
                            "made it."
                        )

    def record(self, evaluations: Sequence[Evaluation]) -> None:
        """Record evaluations; when this returns, they are on the disk."""
        with self._transaction() as connection:
            for evaluation in evaluations:
                cursor = connection.execute(_ADD_EVALUATION, _evaluation_row(evaluation))
                if not cursor.rowcount:
                    raise ValueError(f"task {evaluation.task} was not added before its evaluation")
                if evaluation.history is not None:
                    row = (cursor.lastrowid, *history_row(evaluation.history))
                    connection.execute("INSERT INTO histories VALUES (?, ?, ?, ?)", row)

    def note(self, kind: str, text: str = "") -> None:
        """Record an event of the run."""
        with self._transaction() as connection:
            row = (self._clock(), kind, text)
            connection.execute("INSERT INTO events (time, kind, text) VALUES (?, ?, ?)", row)

    def losses(self, first: int = 0, last: int = 2**62) -> dict[int, float]:
        """The losses of the settled tasks in a range of numbers, by number."""
        query = "SELECT task, loss FROM evaluations WHERE final AND task BETWEEN ? AND ? ORDER BY task"
        with as_read_errors(self.directory):
            rows = self._connection.execute(query, (first, last))
            return {number: loss_of(loss) for number, loss in rows}

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Fold the log into the database and release the lock."""
        try:
            with as_run_errors(self.directory):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._connection.close()
            self._claim.release()

    @contextlib.contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        with as_run_errors(self.directory):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:  # Ctrl-C too must leave nothing half done
                if self._connection.in_transaction:  # some failures have rolled back already
                    self._connection.execute("ROLLBACK")
                raise


def _evaluation_row(evaluation: Evaluation) -> tuple[object, ...]:
    return (
        evaluation.final,
        evaluation.status,
        evaluation.loss,
        errors_text(evaluation.errors),
        evaluation.epochs,
        evaluation.seconds,
        evaluation.worker,
        evaluation.started,
        evaluation.ended,
        evaluation.note,
        evaluation.task,
    )


def check_writable(place: Path) -> Path:
    """Refuse a run that cannot be written to.

    Returns:
        The path of its database.
    """
    path = existing(place)
    refuse_network(place)
    if not all(os.access(each, os.W_OK) for each in (place, path)):
        raise RunError(f"the run {place} is read-only; make it writable, or copy it to where you may write.")
    return path


def check_free(place: Path) -> None:
    """Refuse a directory in which a run cannot be made, before any effort is spent."""
    refuse_network(place)
    with disk_errors(f"a run cannot be made in {place}"):
        _refuse_taken(place)
        with _draft(place.resolve()):
            pass


@contextlib.contextmanager
def _draft(target: Path) -> Generator[Path]:
    """A directory in which a run is made before it gets its final name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    draft.mkdir()
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _refuse_taken(place: Path) -> None:
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise RunError(f"{place} exists already and is not overwritten; resume it or choose another name.")


def _sync_directory(path: Path) -> None:
    """Make a new name in a directory survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_durably(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
