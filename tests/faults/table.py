"""The faults that a search must survive: how each is brought about, and what is said then."""

import re
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import injecting as how
from scene import Over, Scene

from evopinn.errors import RunError
from evopinn.store.directory import DATABASE
from evopinn.store.reader import Reader
from evopinn.store.store import Store

_FAILED, _REFUSED = 1, 2  # exit codes


@dataclass(frozen=True)
class Fault:
    """One row.

    Attributes:
        inject: Brings it about in a scene, and takes its cause away at the end of the block.
        meet: What is expected then.
        says: What the message must match; for a worker's fault, the note of the attempt.
        code: With which the driver ends, if it does.
        lasts: Whether a resumed run is refused alike as long as the cause is there.
        at: Waits for the moment.
        mount: Whether a file system of its own is needed.
    """

    inject: Callable[[Scene], AbstractContextManager[None]]
    meet: "Callable[[Scene, Fault], None]"
    says: str = ""
    code: int = _FAILED
    lasts: bool = False
    at: Callable[[Scene], None] = Scene.await_moment
    mount: bool = False


def befall(scene, fault):
    """Have a fault happen; afterwards nothing that was recorded is lost."""
    fault.at(scene)
    fault.meet(scene, fault)
    scene.look()


def stops(scene, fault):
    """The driver ends and says why."""
    with fault.inject(scene):
        said = scene.await_end(fault.code)
        assert re.search(fault.says, said), said
        if fault.lasts:
            scene.start()
            said = scene.await_end(_FAILED, _REFUSED)
            assert re.search(fault.says, said), said


def goes_on(scene, fault):
    """The search goes on; if the fault was a worker's, an attempt is recorded."""
    before = scene.failed_attempts()
    with fault.inject(scene):
        if fault.says:
            scene.wait_until(lambda: scene.failed_attempts() != before, "a failed attempt")
            if scene.has_ended and scene.failed_attempts() == before:  # no training was left to meet it
                scene.await_end(0)
                raise Over
            new = [f"{each.status}: {each.note}" for each in scene.failed_attempts() if each not in before]
            assert any(re.search(fault.says, note) for note in new), new
    if scene.has_ended:
        scene.await_end(0)


def mends(scene, fault):
    """What a stopped run has lost is made again when it goes on; the end of the scene will tell."""
    with fault.inject(scene):
        pass


def forgets(scene, fault):
    """After a kill, what was in a damaged part of the log is not recorded any more, and trained again.

    If the database had taken over pages from behind that part, the run is refused and left as it is.
    """
    scene.driver.kill()
    scene.await_end(-signal.SIGKILL)
    files = [scene.directory / name for name in (DATABASE, f"{DATABASE}-wal")]
    sound = [path.read_bytes() for path in files]
    with fault.inject(scene):
        harmed = [path.read_bytes() for path in files]
        told = _told_by(lambda: Store.open(scene.directory).close())
    if told is None:
        scene.seen.clear()
        return
    assert re.search(fault.says, told), told
    assert [path.read_bytes() for path in files] == harmed
    for path, content in zip(files, sound, strict=True):
        path.write_bytes(content)


def refuses(scene, fault):
    """A stopped run that is damaged is left alone: whoever writes to it is told, or else whoever reads it.

    Returns:
        Whether anybody was told; not so if there was nothing in the place.
    """
    Store.open(scene.directory).close()  # which folds a log that a kill left into the database
    sound = _read(scene.directory)
    with fault.inject(scene):
        before = (scene.directory / DATABASE).read_bytes()
        told = _told_by(lambda: Store.open(scene.directory).close())
        if told is not None:
            assert (scene.directory / DATABASE).read_bytes() == before
        told = told or _told_by(lambda: _read(scene.directory))
        assert re.search(fault.says, told) if told else _read(scene.directory) == sound
    return told is not None


RESUME = r"`evopinn resume .*`"
SAFE = r"(recorded is safe.* resume the run|nothing recorded is lost)"
FAULTS = {
    "driver killed": Fault(how.sends(signal.SIGKILL), stops, code=-signal.SIGKILL),
    "driver killed while it starts": Fault(
        how.sends(signal.SIGKILL), stops, code=-signal.SIGKILL, at=Scene.await_start
    ),
    "driver killed in the middle of writing": Fault(how.sends(signal.SIGUSR1), stops, code=-signal.SIGKILL),
    "driver killed while the log is written": Fault(
        how.kills_while_log_is_written, stops, code=-signal.SIGKILL
    ),
    "driver asked to end": Fault(how.sends(signal.SIGTERM), stops, RESUME, 130),
    "Ctrl-C": Fault(how.presses_ctrl_c, stops, RESUME, 130),
    "worker killed": Fault(how.kills_a_worker, goes_on, "crashed: .*SIGKILL"),
    "worker crashes": Fault(how.residual_will("segfault"), goes_on, "crashed: .*SIGSEGV"),
    "worker hangs": Fault(how.residual_will("hang"), goes_on, r"deadline: .*\b10 s\b"),
    "worker out of memory": Fault(how.residual_will("eat"), goes_on, "memory: "),
    "second driver": Fault(how.starts_a_second_driver, goes_on),
    "clock set back": Fault(how.sets_clock_back, goes_on),
    "store locked for a moment": Fault(how.locks(2.0), goes_on),
    "store locked": Fault(how.locks(), stops, rf"{SAFE}.*\(database is locked\)"),
    "disk full": Fault(how.fills_disk, stops, rf"(No space left|full).*{SAFE}", lasts=True, mount=True),
    "directory read-only": Fault(
        how.takes_rights_away, stops, rf"Permission denied.*{SAFE}|read-only; make it writable", lasts=True
    ),
    "database page damaged": Fault(how.tears_page, refuses, "restore a copy of it", at=Scene.await_rest),
    "log of the database damaged": Fault(how.tears_log, forgets, "restore a copy of it"),
    "weights cut short": Fault(how.cuts_file_of("weights", "*.safetensors"), mends, at=Scene.await_rest),
    "description of weights cut short": Fault(
        how.cuts_file_of("weights", "*.json"), mends, at=Scene.await_rest
    ),
    "checkpoint cut short": Fault(
        how.cuts_file_of("checkpoints", "*.safetensors"), mends, at=Scene.await_rest
    ),
}


def _read(directory):
    """All that there is to be read in a run."""
    with Reader(directory) as reader:
        entries = reader.page(size=10_000)
        courses = [(reader.task(entry.task), reader.history(entry.task)) for entry in entries]
        return repr(
            (entries, courses, reader.about(), reader.events(), reader.counts(), reader.hall_of_fame())
        )


def _told_by(act):
    """The message with which something is refused; None if it is not."""
    try:
        act()
    except RunError as error:
        return str(error)
    return None
