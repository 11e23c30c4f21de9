"""The SQLite database of a run: connections to it, and messages for its faults."""

import contextlib
import sqlite3
import struct
import zlib
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

from evopinn.errors import RunError
from evopinn.store.directory import DATABASE
from evopinn.store.schema import APPLICATION, MIGRATIONS, migrate, version_of

_BUSY_SECONDS = 10.0
# Messages for SQLite's codes.
_MEANINGS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and resume the run: nothing recorded is lost",
    sqlite3.SQLITE_READONLY: "it is read-only; make it writable, or copy the run to where you may write",
    sqlite3.SQLITE_CORRUPT: "its database is damaged; restore a copy of it",
    sqlite3.SQLITE_NOTADB: "its database is damaged or is not a database; restore a copy of it",
    sqlite3.SQLITE_CANTOPEN: "its database cannot be opened; check the permissions of the directory",
    sqlite3.SQLITE_BUSY: (
        "another program has locked its database; close it and try again: nothing recorded is lost"
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk cannot be read or written, or is full; fix that and try again: nothing recorded is lost"
    ),
}


_BUGS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)
_UNREADABLE = (
    *(zlib.error, struct.error, ValueError, TypeError, LookupError, ArithmeticError),
    *(AttributeError, RecursionError),
)


@contextlib.contextmanager
def as_run_errors(directory: Path) -> Generator[None]:
    """Turn the errors of a database into a `RunError` with advice, except those of a bug."""
    try:
        yield
    except _BUGS:
        raise
    except UnicodeDecodeError as error:  # raised for a message that quotes damaged text
        raise RunError(f"the run {directory}: {_MEANINGS[sqlite3.SQLITE_CORRUPT]}.") from error
    except sqlite3.Error as error:
        # The low byte is the kind of error. Text that is not UTF-8 comes without a code.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        meaning = _MEANINGS.get(code, "its database failed")
        raise RunError(f"the run {directory}: {meaning} ({error}).") from error


@contextlib.contextmanager
def as_read_errors(directory: Path) -> Generator[None]:
    """Like `as_run_errors`; also report unreadable contents as damage."""
    try:
        with as_run_errors(directory):
            yield
    except _UNREADABLE as error:
        meaning = _MEANINGS[sqlite3.SQLITE_CORRUPT]
        raise RunError(f"the run {directory}: {meaning} ({type(error).__name__}: {error}).") from error


def connect_for_writing(path: Path, now: float) -> sqlite3.Connection:
    """A connection in autocommit mode to a database that is brought up to date, or made.

    Its transactions survive a loss of power, and readers read meanwhile.
    """
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection, now)
    except BaseException:  # Ctrl-C too must leave nothing half done
        connection.close()
        raise
    return connection


def connect_for_reading(directory: Path) -> sqlite3.Connection:
    """A read-only connection, beside which a driver may write."""
    path = existing(directory)
    try:
        connection = _connect_read_only(path, "mode=ro")
    except sqlite3.OperationalError:
        # A reader, too, makes an index of the log, which fails in a read-only directory. Without a log, the
        # database alone is complete.
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise
        connection = _connect_read_only(path, "mode=ro&immutable=1")
    return connection


def existing(directory: Path) -> Path:
    """The path of a run's database, which must exist."""
    path = directory / DATABASE
    try:
        found = path.is_file()
    except OSError as error:
        raise RunError(f"the run {directory} cannot be read: {error.strerror}.") from error
    if not found:
        what = "is not a run: it has no" if directory.is_dir() else "does not exist: there is no"
        raise RunError(f"{directory} {what} {DATABASE}.")
    return path


def check_identity(connection: sqlite3.Connection, directory: Path) -> int:
    """Refuse a database that is not a run's or that a newer version made.

    Returns:
        The version of its schema.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise RunError(f"{directory} is not a run of evopinn: {DATABASE} is some other program's database.")
    version = version_of(connection)
    if version > len(MIGRATIONS):
        raise RunError(
            f"the run {directory} was made by a newer evopinn (its schema has version {version}, this one "
            f"knows versions up to {len(MIGRATIONS)}); upgrade evopinn to open it."
        )
    _refuse_programs(connection, directory)
    return version


def _refuse_programs(connection: sqlite3.Connection, directory: Path) -> None:
    """Refuse views, triggers and virtual tables that are not ours, since they might compute for ever."""
    ours = {statement for migration in MIGRATIONS for statement in migration.statements}
    query = """SELECT name, sql FROM sqlite_master
        WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%'"""
    for name, statement in connection.execute(query):
        if statement not in ours:
            raise RunError(
                f"the run {directory}: its database contains {name!r}, a view, trigger or virtual "
                "table that evopinn did not make; restore a copy of it."
            )


def check_unwritten(directory: Path) -> None:
    """Refuse a database that is not a run's or is damaged, without changing its files. Reads all of it.

    A connection that can write would fold the log into the database when it closes. If a part of the log that
    the database already contains is damaged, that would replace new pages by old ones.
    """
    with contextlib.closing(connect_for_reading(directory)) as connection:
        check_identity(connection, directory)
        check_soundness(connection, directory)


def check_soundness(connection: sqlite3.Connection, directory: Path) -> None:
    """Refuse a damaged database. Reads all of it."""
    flaws = [row[0] for row in connection.execute("PRAGMA quick_check(3)")]
    if flaws != ["ok"]:
        raise RunError(f"the run {directory}: its database is damaged ({flaws[0]}); restore a copy of it.")


def _connect_read_only(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path.resolve()))}?{mode}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:  # Ctrl-C too must leave nothing half done
        connection.close()
        raise
    return connection
