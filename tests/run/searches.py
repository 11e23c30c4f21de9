"""Searches to test with: small ones, what of them must not depend on luck, and processes to harm."""

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from safetensors.torch import load_file

import evopinn as ep
from evopinn.store.directory import DATABASE
from evopinn.store.kept_networks import kept_weights
from evopinn.store.reader import Reader
from evopinn.store.rows import task_row

HERE = Path(__file__).parent
PROBLEM = str(HERE / "search_problem.py")
FAULTY = str(HERE / "faulty_problem.py")
SMALL = ep.Schedule((10, 6, 4), (5, 10, 15))
LONG = ep.Schedule((12, 8, 4), (10, 25, 50))
CONSTANT = ep.Schedule((6, 6, 6), (5, 5, 5))
LONG_CONSTANT = ep.Schedule((8, 8, 8), (30, 30, 30))
TRIALS = ep.Trials(14, 5)
FEW_FINALS = {"candidates": 2, "evaluations": 2}
OPTIONS = FEW_FINALS | {"continue_elitists": True, "skip_known": True, "coarsening": 2.0}
SEARCHES = {
    "evo-dpste": ("evo-dpste", SMALL, FEW_FINALS),
    "evo-dpste, shorter": ("evo-dpste", ep.Schedule((6, 4), (5, 10)), {"candidates": 1, "evaluations": 2}),
    "evo-dpste, longer": ("evo-dpste", LONG, FEW_FINALS),
    "evo-dpste with options": ("evo-dpste", SMALL, OPTIONS),
    "random": ("random", SMALL, FEW_FINALS),
    "random, longer": ("random", LONG, FEW_FINALS),
    "evolution": ("evolution", CONSTANT, FEW_FINALS),
    "evolution, longer": ("evolution", LONG_CONSTANT, FEW_FINALS),
    "bo-fcnet": ("bo-fcnet", TRIALS, FEW_FINALS | {"batch": 2}),
    "bo-fcresnet": ("bo-fcresnet", TRIALS, FEW_FINALS | {"batch": 1, "faithful": True}),
}
SEED = 3
PATIENCE = 120
_GONE_WITHIN = 2.0


def searched(directory, which, workers=1, problem=PROBLEM):
    """Begin or go on with one of `SEARCHES`, in this process."""
    method, schedule, settings = SEARCHES[which]
    return ep.search(
        problem,
        method=method,
        schedule=schedule,
        settings=settings,
        seed=SEED,
        workers=workers,
        run=directory,
        progress=False,
    )


def undisturbed_run(place, which):
    """The directory of a search that nothing happened to; made once for all test processes."""
    path = place / f"undisturbed-{which}"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        searched(path, which, workers=2)  # returns at once if it was done before
    return path


def command(directory, which, workers=1, problem=PROBLEM):
    """What to tell the command line to begin one of `SEARCHES`."""
    method, layout, settings = SEARCHES[which]
    words = ["search", problem, "--method", method, "--seed", SEED, "--workers", workers, "--run", directory]
    words.append("--no-report")  # it takes longer than these searches
    if isinstance(layout, ep.Trials):
        words += ["--trials", layout.evaluations, "--epochs", layout.epochs]
    else:
        words += ["--populations", _joined(layout.populations), "--epochs", _joined(layout.epochs)]
    for name, value in settings.items():
        words += ["--set", f"{name}={json.dumps(value)}"]
    return words


def _joined(numbers):
    return ",".join(map(str, numbers))


def bits(value):
    """Floating-point numbers in whatever they are wrapped in, to the last bit."""
    match value:
        case float():
            return value.hex()
        case dict():
            return {key: bits(each) for key, each in value.items()}
        case tuple() | list():
            return [bits(each) for each in value]
        case _:
            return value


def final_state(directory):
    """All of a run that luck must not change: not times, workers and attempts."""
    with Reader(directory) as reader:
        assert reader.state() == "finished"
        asked = sum(summary.asked for summary in reader.generations())
        return {
            "tasks": [_settled(reader, number) for number in range(asked)],
            "finalists": [
                (each.genome, each.tasks, bits(each.losses), bits(each.errors))
                for each in reader.finalists(size=1000)
            ],
            "hall of fame": [entry.task for entry in reader.hall_of_fame()],
            "weights": {number: _tensors(directory, number) for number in sorted(kept_weights(directory))},
        }


def assert_same_end(directory, expected, luck=""):
    """Two searches have ended alike, to the last bit; if not, say in a few lines where they part."""
    ours, theirs = final_state(directory), final_state(expected)
    if ours == theirs:
        return
    parts = [part for part in ours if ours[part] != theirs[part]]
    lines = [f"{directory} and {expected} differ in {', '.join(parts)} {luck}"]
    pairs = list(zip(ours["tasks"], theirs["tasks"], strict=False))
    differing = [number for number, (one, other) in enumerate(pairs) if one != other]
    for number in differing[:2]:
        lines += [f"task {number} of {place}: {_told(place, number)}" for place in (directory, expected)]
    lines += [f"tasks: {len(ours['tasks'])} and {len(theirs['tasks'])}, the first to differ: {differing[:9]}"]
    lines += [f"weights: {list(ours['weights'])} and {list(theirs['weights'])}"]
    failed = [entry for entry in attempts(directory) if not entry.final or entry.note]
    lines += [f"{each.task}, attempt {each.attempt}: {each.status} {each.note[-200:]}" for each in failed[:9]]
    raise AssertionError("\n".join(lines))


def _told(directory, number):
    """A task and how it came out, in a line."""
    with Reader(directory) as reader:
        task, entry = reader.task(number), reader.final_evaluation(number)
    origin = (task.genome.text, task.seed, task.epochs, task.coarseness, task.origin)
    return f"{origin} -> {entry.status} {entry.loss!r} after {entry.epochs} by attempt {entry.attempt}"


def _settled(reader, number):
    entry, history = reader.final_evaluation(number), reader.history(number)
    course = history and (history.losses, history.epochs, history.error_epochs, dict(history.errors))
    outcome = (entry.status, entry.loss, dict(entry.errors), entry.epochs, course)
    return [*bits(task_row(reader.task(number))), *bits(outcome)]


def _tensors(directory, number):
    tensors = load_file(Path(directory) / "weights" / f"{number:08d}.safetensors")
    return {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}


def attempts(directory):
    """All attempts that were recorded, in the order of their tasks."""
    with Reader(directory) as reader:
        return reader.page(size=10_000)


def settled_count(directory):
    """How many tasks of a run are settled; none if there is no run yet."""
    path = Path(directory) / DATABASE
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM evaluations WHERE final").fetchone()[0]


def wait_until(condition, what, seconds=PATIENCE, interval=0.01):
    """Wait for something to come true."""
    last = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < last, f"waited {seconds:g} s for {what}"
        time.sleep(interval)


@contextmanager
def started(*command, **options):
    """A process with its own group, like one that a shell starts; killed if the test does not end it."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def evopinn(*words, **options):
    """The command line in a process of its own."""
    program = "from evopinn.cli import main; main()"
    return started(sys.executable, "-c", program, *map(str, words), **options)


def workers_of(driver):
    """The worker processes that a process has started and that live."""
    return [pid for pid in processes() if _driver_of(pid) == driver]


def assert_no_worker_is_left(driver):
    """A driver that is gone takes its workers with it."""
    wait_until(lambda: not workers_of(driver), "the workers to end", _GONE_WITHIN)


def kill(pid):
    """End a process that may have ended by itself."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def processes():
    """The ids of all processes."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _driver_of(pid):
    """The driver of a worker process, as its command line names it; None for any other process."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return None
    # One that has ended and is not waited for yet has no command line any more.
    is_worker = len(words) > 4 and any(b"evopinn.workers.process" in word for word in words)
    return int(words[-2]) if is_worker else None
