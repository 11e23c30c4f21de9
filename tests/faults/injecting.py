"""How faults are brought about: each on a scene, its cause taken away at the end of the block."""

import os
import re
import shutil
import signal
import sqlite3
import time
from contextlib import closing, contextmanager, suppress

from mortal import SET_BACK
from scene import Over
from searches import attempts, kill, wait_until

import evopinn as ep
from evopinn.errors import RunError
from evopinn.store.directory import DATABASE
from evopinn.store.reader import Reader

PAGE = 4096
_TRIES, _RECORDED_WITHIN = 3, 20


def sends(number):
    @contextmanager
    def inject(scene):
        scene.driver.send_signal(number)
        yield

    return inject


@contextmanager
def presses_ctrl_c(scene):
    """A terminal sends it to the whole group."""
    os.killpg(scene.driver.pid, signal.SIGINT)
    yield


@contextmanager
def kills_while_log_is_written(scene):
    log = scene.directory / f"{DATABASE}-wal"
    before = log.stat().st_mtime_ns
    scene.wait_until(lambda: log.stat().st_mtime_ns != before, "a write", interval=0)
    scene.driver.kill()
    yield


@contextmanager
def kills_a_worker(scene):
    """Again, if it had no job in this moment."""
    before = len(scene.failed_attempts())
    for _ in range(_TRIES):
        kill(scene.worker())
        with suppress(AssertionError):
            wait_until(
                lambda: scene.has_ended or len(scene.failed_attempts()) > before, "", _RECORDED_WITHIN, 0.1
            )
            break
    yield


def residual_will(act):
    @contextmanager
    def inject(scene):
        scene.mark(act).unlink()
        yield
        assert scene.mark(act).exists()

    return inject


@contextmanager
def starts_a_second_driver(scene):
    expected = rf"is in use by process {scene.driver.pid} on .*; wait until it ends, or stop it\."
    before = _times_resumed(scene)
    refusal = _refusal_of_second(scene)
    if refusal is None:  # the first had come to the end of the search, and has nothing left but to say so
        assert _times_resumed(scene) == before, "two drivers at once"
        scene.await_end(0)
        raise Over
    assert re.search(expected, refusal), refusal
    yield


def _times_resumed(scene):
    with Reader(scene.directory) as reader:
        return sum(event.kind == "resumed" for event in reader.events())


def _refusal_of_second(scene):
    try:
        ep.resume(scene.directory, progress=False)
    except RunError as error:
        return str(error)
    return None


@contextmanager
def sets_clock_back(scene):
    scene.driver.send_signal(signal.SIGUSR2)
    yield
    long_ago = time.time() - SET_BACK / 2
    scene.wait_until(lambda: min(each.ended for each in attempts(scene.directory)) < long_ago, "the change")


def locks(seconds=None):
    """Another program writes for some seconds, or until the driver has given up."""

    @contextmanager
    def inject(scene):
        with closing(sqlite3.connect(scene.directory / DATABASE, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(seconds or 0)
            if seconds is None:
                yield
        if seconds is not None:
            yield

    return inject


@contextmanager
def fills_disk(scene):
    """To the last page, or nearly; the driver writes meanwhile."""
    assert scene.directory.parent.is_mount()  # else it would be the machine's disk
    filler = scene.directory.with_name("filler")
    with filler.open("wb") as file:
        for step in (256 * PAGE, PAGE):
            with suppress(OSError):
                while True:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, step)
        size = os.fstat(file.fileno()).st_size
        file.truncate(size - PAGE * scene.rng.choice([0, 1, 5, 20]))
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def takes_rights_away(scene):
    places = [scene.directory, *(each for each in scene.directory.iterdir() if each.is_dir())]
    for each in places:
        each.chmod(0o555)
    try:
        yield
    finally:
        for each in places:
            each.chmod(0o755)


@contextmanager
def tears_page(scene):
    """Half of a page is of another time, or its disk has lost a sector, or the end of the file."""
    database, copy = scene.directory / DATABASE, scene.directory.with_name("copy")
    shutil.copy(database, copy)
    content = bytearray(database.read_bytes())
    start = PAGE * scene.rng.randrange(len(content) // PAGE)
    match scene.rng.choice(["torn", "sector", "cut"]):
        case "torn":
            content[start + PAGE // 2 : start + PAGE] = bytes(PAGE // 2)
        case "sector":
            sector = start + 512 * scene.rng.randrange(PAGE // 512)
            content[sector : sector + 512] = scene.rng.randbytes(512)
        case "cut":
            del content[start + PAGE // 2 :]
    database.write_bytes(content)
    yield
    for path in scene.directory.glob(f"{DATABASE}*"):
        path.unlink()
    shutil.move(copy, database)


@contextmanager
def tears_log(scene):
    log = scene.directory / f"{DATABASE}-wal"
    content = bytearray(log.read_bytes())
    if content:  # all of it may just have been folded into the database
        start = scene.rng.randrange(len(content))
        content[start : start + 512] = scene.rng.randbytes(len(content[start : start + 512]))
        log.write_bytes(content)
    yield


def cuts_file_of(folder, pattern):
    @contextmanager
    def inject(scene):
        if paths := sorted((scene.directory / folder).glob(pattern)):
            path = scene.rng.choice(paths)
            os.truncate(path, scene.rng.randrange(path.stat().st_size))
        yield

    return inject
