"""The SQLite schema of a run, and the migrations from older versions."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

APPLICATION = 0x45564F50  # "EVOP": marks a database as a run of ours

OLDEST_READABLE = 1
"""The oldest version that can be read without a migration."""

# Not-a-number, which JSON has as text, sorts behind all numbers.
LARGEST_ERROR = """coalesce(
    (SELECT max(CASE typeof(value) WHEN 'text' THEN 9e999 ELSE value END) FROM json_each(errors)), 9e999)"""
"""SQL for the largest error of an evaluation, to sort by; from version 2 on the column `error`."""


RANKED_LOSS = "coalesce(loss, 9e999)"
"""SQL for the loss that ranks an evaluation: SQLite stores NULL in the place of not-a-number."""


@dataclass(frozen=True)
class Migration:
    """One step to the next version of the schema.

    Attributes:
        purpose: What it is for; recorded in the database.
        statements: SQL.
    """

    purpose: str
    statements: Sequence[str]


# The first n rows make version n of the schema. A released row never changes.
#
# The trigger `stand` compares by the ranking key of `evopinn.search.ranking`, whose columns `standings` has.
# Triggers keep two summaries in step with the evaluations, in the same transaction, so that counts and the
# best genomes cost the same however long the run is. Histories have a table of their own so that evaluations
# stay small. A seed is text because SQLite's integers end at 2⁶³.
MIGRATIONS: Sequence[Migration] = (
    Migration(
        "first version",
        (
            """CREATE TABLE migrations (
                version INTEGER PRIMARY KEY, purpose TEXT NOT NULL, applied REAL NOT NULL
            )""",
            """CREATE TABLE run (
                id INTEGER PRIMARY KEY CHECK (id = 1), config TEXT NOT NULL, versions TEXT NOT NULL,
                created REAL NOT NULL
            )""",
            """CREATE TABLE tasks (
                number INTEGER PRIMARY KEY, generation INTEGER NOT NULL, genome TEXT NOT NULL,
                key TEXT NOT NULL, epochs INTEGER NOT NULL, seed TEXT NOT NULL, operations TEXT NOT NULL,
                parents TEXT NOT NULL, continues INTEGER, coarseness REAL NOT NULL
            )""",
            "CREATE INDEX tasks_by_generation ON tasks (generation)",
            """CREATE TABLE evaluations (
                id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES tasks (number),
                attempt INTEGER NOT NULL, final INTEGER NOT NULL, status TEXT NOT NULL, loss REAL,
                errors TEXT NOT NULL, epochs INTEGER NOT NULL, seconds REAL NOT NULL, worker INTEGER,
                started REAL NOT NULL, ended REAL NOT NULL, note TEXT NOT NULL,
                generation INTEGER NOT NULL, key TEXT NOT NULL, coarseness REAL NOT NULL,
                UNIQUE (task, attempt)
            )""",
            "CREATE UNIQUE INDEX one_final_evaluation ON evaluations (task) WHERE final",
            """CREATE TABLE tallies (
                generation INTEGER, status TEXT, final INTEGER, number INTEGER NOT NULL,
                failed INTEGER NOT NULL, best REAL NOT NULL, epochs INTEGER NOT NULL, seconds REAL NOT NULL,
                PRIMARY KEY (generation, status, final)
            ) WITHOUT ROWID""",
            """CREATE TRIGGER tally AFTER INSERT ON evaluations BEGIN
                INSERT INTO tallies VALUES (
                    new.generation, new.status, new.final, 1, NOT coalesce(new.loss < 9e999, 0),
                    coalesce(new.loss, 9e999), new.epochs, new.seconds
                ) ON CONFLICT DO UPDATE SET
                    number = number + 1, failed = failed + excluded.failed, best = min(best, excluded.best),
                    epochs = epochs + excluded.epochs, seconds = seconds + excluded.seconds;
            END""",
            """CREATE TABLE standings (
                key TEXT PRIMARY KEY, coarseness REAL NOT NULL, loss REAL NOT NULL,
                task INTEGER NOT NULL REFERENCES tasks (number)
            ) WITHOUT ROWID""",
            "CREATE INDEX standings_by_rank ON standings (coarseness, loss, task)",
            """CREATE TRIGGER stand AFTER INSERT ON evaluations WHEN new.final AND new.loss < 9e999 BEGIN
                INSERT INTO standings VALUES (new.key, new.coarseness, new.loss, new.task)
                ON CONFLICT DO UPDATE SET
                    coarseness = excluded.coarseness, loss = excluded.loss, task = excluded.task
                WHERE (excluded.coarseness, excluded.loss, excluded.task) < (coarseness, loss, task);
            END""",
            """CREATE TABLE histories (
                evaluation INTEGER PRIMARY KEY REFERENCES evaluations (id), epochs INTEGER NOT NULL,
                fields TEXT NOT NULL, numbers BLOB NOT NULL
            )""",
            """CREATE TABLE events (
                id INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
            )""",
        ),
    ),
    Migration(
        "the largest error in a column of its own, to sort by",
        (
            "ALTER TABLE evaluations ADD COLUMN error REAL NOT NULL DEFAULT 9e999",
            f"UPDATE evaluations SET error = {LARGEST_ERROR} WHERE errors <> '{{}}' AND json_valid(errors)",
            f"""CREATE TRIGGER measure AFTER INSERT ON evaluations WHEN new.errors <> '{{}}' BEGIN
                UPDATE evaluations SET error = {LARGEST_ERROR} WHERE id = new.id;
            END""",
        ),
    ),
)


def version_of(connection: sqlite3.Connection) -> int:
    """The version of a database's schema; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(
    connection: sqlite3.Connection, now: float, migrations: Sequence[Migration] = MIGRATIONS
) -> Sequence[Migration]:
    """Bring a database to the newest version, each step in a transaction of its own.

    Args:
        connection: In autocommit mode.
        now: The time to record.
        migrations: All migrations, from version 0 on.

    Returns:
        The migrations that were made.
    """
    first = version_of(connection)
    for version, migration in enumerate(migrations[first:], start=first + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in migration.statements:
                connection.execute(statement)
            connection.execute(
                "INSERT INTO migrations (version, purpose, applied) VALUES (?, ?, ?)",
                (version, migration.purpose, now),
            )
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
        except BaseException:  # Ctrl-C too must leave nothing half done
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    return migrations[first:]
