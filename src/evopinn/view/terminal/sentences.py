"""Sentences on the state of a search, shared by the screen and the log."""

import math
import shlex
from collections.abc import Mapping

from evopinn.run.architecture import function_text
from evopinn.run.progress import Phase, Snapshot
from evopinn.run.wording import round_name
from evopinn.search import METHODS
from evopinn.view.numbers import duration, scientific

_ACTIVITIES: Mapping[Phase, str] = {
    "loading": "loading the problem",
    "starting": "starting the workers",
    "measuring": "measuring the speed of the problem",
    "evaluating": round_name("final", 0),
    "finished": "finished",
    "stopped": "stopped",
}
ROUNDS: tuple[Phase, ...] = ("searching", "evaluating")
"""Phases in which trainings are counted towards `done` of `asked`."""

ENDINGS: tuple[Phase, ...] = ("finished", "stopped")


def activity(now: Snapshot) -> str:
    """What the search is at: `generation 3/8`."""
    if now.phase != "searching":
        return _ACTIVITIES[now.phase]
    name = round_name(now.round, now.generation)
    return f"{name}/{now.generations}" if now.round in ("generation", "batch") else name


def opening(now: Snapshot) -> str:
    """What is searched, and where it is kept; or what is only timed."""
    workers = counted(now.workers, "worker")
    if not now.method:
        return f"timing: {now.problem} with {workers}"
    searches = now.method in METHODS  # a list is none, whatever the configuration calls it
    what = f"search: {now.problem} by {now.method}" if searches else f"training: {now.problem}"
    return f"{what} with {workers}, kept in {now.directory}"


def standing(now: Snapshot) -> str:
    """How far the search is: `generation 3/8, 12/40 trained, ...`."""
    trained = [f"{now.done}/{now.asked} trained"] if now.phase in ROUNDS else []
    return ", ".join([activity(now), *trained, *_course(now)])


def round_done(now: Snapshot) -> str:
    """That all trainings of a round are over."""
    return f"{activity(now)} done: " + ", ".join([f"{now.asked} trained", *_course(now)])


def ending(now: Snapshot) -> str:
    """What the search came to."""
    trained = f"{now.trained:,} trained" + (f" of {now.trainings:,}" if now.phase == "stopped" else "")
    line = f"{activity(now)}: " + ", ".join([trained, *_results(now), clock(now.seconds)])
    return f"{line}; {ways_to_go_on(now)[0]}" if now.phase == "stopped" else line


def ways_to_go_on(now: Snapshot) -> tuple[str, ...]:
    """How to resume a stopped search, in words, from the most exact to the shortest."""
    if now.in_study:  # to resume the run by itself would leave the study where it was
        return ("run the same command to resume",)
    commands = (f"resume {shlex.quote(str(now.directory))}", "resume RUN", "resume")
    return tuple(f"`evopinn {command}` resumes it" for command in commands)


def clock(seconds: float) -> str:
    """A duration that changes once a second at most: `12 s`, `4 min 05 s`."""
    return f"{int(seconds)} s" if seconds < 60 else duration(int(seconds))


def time_left(seconds: float) -> str:
    """A prediction, no finer than it deserves: `about 50 s left`, `about 7 min left`."""
    if seconds < 90:
        text = f"{math.ceil(seconds)} s"
    elif seconds < 3600:
        text = f"{math.ceil(seconds / 60)} min"
    else:
        text = duration(seconds)
    return f"about {text} left"


def counted(number: int, noun: str) -> str:
    """`1 worker`, `2 workers`."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def _course(now: Snapshot) -> list[str]:
    left = [] if now.seconds_left is None else [time_left(now.seconds_left)]
    return [*_results(now, " so far"), clock(now.seconds), *left]


def _results(now: Snapshot, until: str = "") -> list[str]:
    """Failures, and the best network that was found."""
    results = [f"{now.failed:,} failed{until}"] if now.trained else []
    for best in now.hall_of_fame[:1]:
        results.append(f"best loss {scientific(best.loss)}")
        if best.error is not None:
            results.append(f"error {scientific(best.error)}")
        results.append(f"activation {function_text(best.genome)}")
    return results
