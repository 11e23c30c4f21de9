"""Stores that are damaged, foreign, newer, older, full, read-only or in the wrong place."""

import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
import runs
from runs import make_closed_run, make_history, make_task
from simulated import make_evaluation

from evopinn.errors import RunError
from evopinn.store import directory as place
from evopinn.store import schema
from evopinn.store.database import check_soundness
from evopinn.store.directory import holder_of, network_file_system, refuse_network
from evopinn.store.reader import Reader
from evopinn.store.store import Store

FIRST = schema.MIGRATIONS[0]


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "runs" / "one"


@pytest.fixture
def store(directory):
    with Store.create(directory, runs.CONFIG, runs.VERSIONS, clock=lambda: 1.5e9) as store:
        yield store


def newer(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")


def foreign(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")


def no_database(path):
    path.write_bytes(b"this is no database at all " * 100)


def empty(path):
    path.write_bytes(b"")


def cut_short(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2 // 4096 * 4096])


def torn_pages(path):
    content = bytearray(path.read_bytes())
    for page in range(2, len(content) // 4096, 2):
        content[page * 4096 : page * 4096 + 2000] = os.urandom(2000)
    path.write_bytes(content)


def garbled_names(path):
    """The database's own message about it quotes what is no text."""
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREATE \xb9\xb9\xb9\xb9\xb9"))


def absent(path):
    path.unlink()


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (newer, r"\bnewer evopinn\b.*\bupgrade\b"),
        (foreign, r"\bnot a run\b.*\brun\.sqlite\b"),
        (no_database, r"\bdamaged\b.*\bdatabase\b"),
        (empty, r"\bnot a run\b.*\brun\.sqlite\b"),
        (cut_short, "damaged"),
        (torn_pages, "damaged"),
        (garbled_names, "damaged"),
        (absent, r"\bnot a run\b.*\bno run\.sqlite\b"),
    ],
)
def test_a_store_that_is_not_sound_is_met_with_a_clear_message(directory, harm, says):
    make_closed_run(directory, 200)
    harm(directory / "run.sqlite")
    before = {path: path.read_bytes() for path in directory.glob("run.sqlite")}
    with pytest.raises(RunError, match=says):
        Store.open(directory)
    assert holder_of(directory) is None
    if harm not in {cut_short, torn_pages}:  # readers do not read all of it first
        with pytest.raises(RunError, match=says):
            Reader(directory)
    if harm in {foreign, newer, no_database}:
        assert {path: path.read_bytes() for path in directory.glob("run.sqlite")} == before


def test_a_reader_makes_no_database_of_a_run_that_is_deleted_meanwhile(directory, monkeypatch):
    directory.mkdir(parents=True)
    monkeypatch.setattr("evopinn.store.database.existing", lambda directory: directory / "run.sqlite")
    with pytest.raises(RunError, match=f"{directory}: "):
        Reader(directory)
    assert list(directory.iterdir()) == []


def test_a_reader_of_damaged_contents_says_so(directory):
    make_closed_run(directory)
    with closing(sqlite3.connect(directory / "run.sqlite")) as connection:
        connection.execute("UPDATE histories SET numbers = x'00112233'")
        connection.commit()
    with Reader(directory) as reader, pytest.raises(RunError, match="damaged"):
        reader.history(0)


def test_whatever_is_in_the_file_there_is_no_error_but_ours(directory, tmp_path):
    make_closed_run(directory, 60)
    content = (directory / "run.sqlite").read_bytes()
    rng = random.Random(11)
    refused = 0
    for _ in range(150):
        harmed = bytearray(content)
        for _ in range(rng.choice([1, 3, 30])):
            place = rng.randrange(rng.choice([100, 8192, len(content)]))
            harmed[place : place + rng.randrange(1, 40)] = rng.randbytes(rng.randrange(1, 40))
        (directory / "run.sqlite").write_bytes(
            harmed[: rng.choice([len(content), rng.randrange(len(content))])]
        )
        for log in directory.glob("run.sqlite-*"):
            log.unlink()
        try:
            with Reader(directory) as reader:
                (
                    reader.about(),
                    reader.counts(),
                    reader.generations(),
                    reader.hall_of_fame(60),
                    reader.events(),
                )
                for entry in reader.page(size=60):
                    reader.task(entry.task), reader.history(entry.task)
            with Store.open(directory) as store:
                store.losses()
        except RunError:
            refused += 1
    assert refused > 50


def test_a_damaged_log_is_forgotten_or_refused_and_then_left_as_it_is(store, directory, tmp_path):
    """Where the database has taken over the log already, what is left of that would put back old pages."""
    store.add_tasks(make_task(number) for number in range(300))
    for how, numbers in (("TRUNCATE", range(150)), ("PASSIVE", range(150, 300))):
        for number in numbers:
            store.record([make_evaluation(number, history=make_history(number, epochs=20))])
        store._connection.execute(f"PRAGMA wal_checkpoint({how})")
    recorded = store.losses()
    killed = tmp_path / "killed"
    shutil.copytree(directory, killed, ignore=shutil.ignore_patterns("*-shm"))  # as a kill would leave it
    files = [killed / "run.sqlite", killed / "run.sqlite-wal"]
    sound = [path.read_bytes() for path in files]
    rng, counts = random.Random(3), Counter()
    for _ in range(40):
        log = bytearray(sound[1])
        start = rng.randrange(len(log))
        log[start : start + 512] = rng.randbytes(len(log[start : start + 512]))
        harmed = [sound[0], bytes(log)]
        for path, content in zip(files, harmed, strict=True):
            path.write_bytes(content)
        (killed / "run.sqlite-shm").unlink(missing_ok=True)
        said = ""
        try:
            with Store.open(killed) as opened:
                assert opened.losses().items() <= recorded.items()
        except RunError as error:
            said = str(error)
        counts["refused" if said else "forgotten"] += 1
        assert not said or "restore" in said
        assert not said or [path.read_bytes() for path in files] == harmed
    assert min(counts["forgotten"], counts["refused"]) > 0, counts


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RunError, match=rf"^{tmp_path}/no .*\brun\.sqlite"):
        Store.open(tmp_path / "no")


def test_a_full_disk_is_said_and_loses_nothing(store, directory):
    store.add_tasks(make_task(number) for number in range(50))
    store.record([make_evaluation(0)])
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(RunError, match=rf"{directory}: .*\bfull\b"):
        store.record([make_evaluation(n, history=make_history(n, epochs=2000)) for n in range(1, 50)])
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.losses() == {0: make_evaluation(0).loss}
    store.record([make_evaluation(1)])
    check_soundness(store._connection, directory)


def test_a_disk_without_room_for_a_name_in_the_lock_is_said(directory, monkeypatch):
    make_closed_run(directory)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(RunError, match=rf"{directory} .*: {os.strerror(errno.ENOSPC)}\."):
            Store.open(directory)
    Store.open(directory).close()


READ_ONLY = """
import os, sys
from evopinn.errors import RunError
from evopinn.store.reader import Reader
from evopinn.store.store import Store
if os.getuid() == 0:  # rights do not bind the superuser
    os.setuid(65534)
for attempt in (lambda: Store.open(sys.argv[1]), lambda: Store.create(sys.argv[1] + "2", "", {})):
    try:
        attempt()
    except RunError as error:
        print(error)
print(Reader(sys.argv[1]).counts())
"""


def test_a_read_only_run_can_be_read_but_not_resumed():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own directories are closed to other users
        directory = Path(folder) / "run"
        make_closed_run(directory)
        for path in (directory, Path(folder)):
            path.chmod(0o555)
        command = [sys.executable, "-c", READ_ONLY, str(directory)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        for path in (directory, Path(folder)):
            path.chmod(0o755)
    opened, created, counts = lines
    assert f"{directory} is read-only" in opened
    assert f"{directory}2: Permission denied." in created
    assert counts == "{'finished': 1}"


MOUNTS = r"""/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/scratch xfs rw 0 0
//box/share /mnt/my\040share cifs rw 0 0
tmpfs /over tmpfs rw 0 0
server:/over /over nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/tmp/runs", None),
        ("/home/me/runs/one", "NFS"),
        ("/home/scratch/runs", None),
        ("/homework", None),
        ("/mnt/my share/runs", "CIFS"),
        ("/over/runs", "NFS"),
    ],
)
def test_network_file_systems_are_recognised(tmp_path, path, name):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert network_file_system(Path(path), mounts) == name
    if name is not None:
        with pytest.raises(RunError, match=rf"{path} .*\({name}\)"):
            refuse_network(Path(path), mounts)


def test_a_system_without_a_table_of_mounts_refuses_nothing(tmp_path):
    refuse_network(tmp_path, tmp_path / "absent")


def test_runs_are_neither_made_nor_opened_on_network_file_systems(tmp_path, monkeypatch, directory):
    make_closed_run(directory)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/ {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(place.network_file_system, "__defaults__", (mounts,))
    monkeypatch.setattr(place.refuse_network, "__defaults__", (mounts,))
    with pytest.raises(RunError, match="NFS"):
        Store.create(tmp_path / "new", "", {})
    with pytest.raises(RunError, match="NFS"):
        Store.open(directory)
    assert not (tmp_path / "new").exists()


def test_an_older_schema_is_brought_up_to_date_step_by_step(tmp_path):
    steps = (
        FIRST,
        schema.Migration("colours", ("ALTER TABLE tasks ADD COLUMN colour TEXT",)),
        schema.Migration("broken", ("CREATE TABLE extra (x)", "INSERT INTO nowhere VALUES (1)")),
    )
    with closing(sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)) as connection:
        assert schema.migrate(connection, 1.0, steps[:1]) == steps[:1]
        assert schema.migrate(connection, 2.0, steps[:2]) == steps[1:2]
        assert schema.migrate(connection, 3.0, steps[:2]) == ()
        rows = connection.execute("SELECT version, purpose, applied FROM migrations").fetchall()
        assert rows == [(1, "first version", 1.0), (2, "colours", 2.0)]
        with pytest.raises(sqlite3.OperationalError):
            schema.migrate(connection, 4.0, steps)
        assert schema.version_of(connection) == 2
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'extra'").fetchall()


def test_an_older_run_is_resumed_but_not_read(directory, monkeypatch):
    make_closed_run(directory)
    later = (*schema.MIGRATIONS, schema.Migration("colours", ("ALTER TABLE tasks ADD COLUMN colour TEXT",)))
    monkeypatch.setattr("evopinn.store.database.MIGRATIONS", later)
    monkeypatch.setattr("evopinn.store.reader.OLDEST_READABLE", len(later))
    monkeypatch.setattr(schema.migrate, "__defaults__", (later,))
    with pytest.raises(RunError, match=rf"{directory} .*\bolder evopinn\b"):
        Reader(directory)
    Store.open(directory).close()
    with Reader(directory) as reader:
        assert reader.counts() == {"finished": 1}
