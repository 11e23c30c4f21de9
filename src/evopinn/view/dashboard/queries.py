"""What pages show, as plain data for JSON: numbers that are not finite are null, text is text."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from evopinn.errors import EvopinnError
from evopinn.problem import is_problem_file
from evopinn.run.config import Config
from evopinn.run.listed import RunState
from evopinn.run.pages import Browser, Page, Selection
from evopinn.run.summary import (
    Best,
    Intent,
    Summary,
    activation_of,
    find_best,
    finite,
    structure_of,
    summarise,
)
from evopinn.run.toml_text import toml_data
from evopinn.run.weights import kept_weights
from evopinn.searchers import Workload
from evopinn.view.dashboard.generations import generation_data, grouped
from evopinn.view.dashboard.individual import failure_reason, individual
from evopinn.view.dashboard.memory import Memory, Remembered
from evopinn.view.dashboard.places import Place, Places, sound

Data = dict[str, Any]

PAGE = 25
MOST_COMPARED = 8
PATIENCE = 1.0
"""Seconds for reading runs that are new to a list; the others follow when it is asked for again."""

_MOST_LOOKED_AT = 500
_LATEST = 40
_NOTE = 20_000


class Queries:
    """Questions about the runs of one place.

    Args:
        places: Where they lie.
        patience: Seconds for reading runs that are new to a list.
    """

    def __init__(self, places: Places, patience: float = PATIENCE) -> None:
        self._places = places
        self._patience = patience
        self._lines = Memory(most=None)
        self._looks = Memory(_MOST_LOOKED_AT)

    def overview(self) -> Data:
        """All runs in a line each, the newest first; those that cannot be read with the reason.

        Where there are many, those for which there was no time are read when this is asked for again.
        """
        places = self._places.all()
        self._lines.keep_only(place.directory for place in places)
        left = self._patience
        runs: list[Data] = []
        for place in places:
            known, began = self._lines.knows(place.directory), time.monotonic()
            runs.append(self._overview(place) if known or left > 0 else _waiting(place.name))
            left -= 0.0 if known else time.monotonic() - began
        runs.sort(key=lambda run: (run.get("created", 0.0), run["name"]), reverse=True)
        return {"directory": str(self._places.root), "runs": runs}

    def run(self, name: str) -> Data:
        """A run at a glance."""
        directory = self._places.find(name)
        answer = self._answer(self._looks, directory, "run", lambda known: _run(directory, known))
        return {"name": name, **answer}

    def settings(self, name: str) -> Data:
        """What does not change of a run: its configuration and the versions it began with."""
        directory = self._places.find(name)
        with sound(directory), Browser(directory) as browser:
            about = browser.about()
            versions = {str(name): str(each) for name, each in about.versions.items()}
            return _checked({"config": about.config, "versions": versions, "directory": str(directory)})

    def individuals(self, name: str, selection: Selection) -> Data:
        """A page of the evaluations."""
        directory = self._places.find(name)
        with sound(directory), Browser(directory) as browser:
            page = browser.listed(selection, PAGE)
            return _checked(_page(page) | {"statuses": browser.statuses(), "size": PAGE})

    def individual(self, name: str, number: int) -> Data:
        """One task: what was asked, how it came out, where it comes from."""
        directory = self._places.find(name)
        with sound(directory):
            return _checked({"name": name, **individual(directory, number)})

    def comparison(self, names: Sequence[str]) -> Data:
        """Several runs, but not too many: the best loss so far against what was spent."""
        shown, left_out = names[:MOST_COMPARED], names[MOST_COMPARED:]
        return {"runs": [self._compared(name) for name in shown], "left_out": list(left_out)}

    def _overview(self, place: Place) -> Data:
        if place.reason:
            return _unreadable(place.name, place.reason)
        try:
            line = self._answer(
                self._lines, place.directory, "overview", lambda _: _overview(place.directory)
            )
        except EvopinnError as error:
            return _unreadable(place.name, str(error))
        return {"name": place.name, **line}

    def _compared(self, name: str) -> Data:
        try:
            directory = self._places.find(name)
            answer = self._answer(self._looks, directory, "course", lambda known: _compared(directory, known))
        except EvopinnError as error:
            return _unreadable(name, str(error))
        return {"name": name, **answer}

    def _answer(
        self, memory: Memory, directory: Path, question: str, make: Callable[[Remembered], Data]
    ) -> Data:
        with sound(directory):
            return memory.answer(directory, question, lambda known: _checked(make(known)))


def _checked(data: Data) -> Data:
    """Data that JSON has words for; whatever else a damaged run has in their place raises."""
    json.dumps(data, allow_nan=False)
    return data


def _waiting(name: str) -> Data:
    return {"name": name, "state": "waiting", "trained": 0, "reason": "it is read in a moment."}


def _unreadable(name: str, reason: str) -> Data:
    return {"name": name, "state": "unreadable", "reason": reason}


def _overview(directory: Path) -> Data:
    with Browser(directory) as browser:
        about = browser.about()
        intent, state = Intent.of(about.config, directory), browser.state()
        trained, best = sum(browser.counts().values()), find_best(browser)
        latest = browser.latest(1)
    return {
        "state": state,
        "problem": intent.problem,
        "method": intent.method,
        "created": float(about.created),
        "ended": latest[0].ended if latest else None,
        "trained": trained,
        "trainings": _trainings(about.config, state, trained),
        **_best_figures(best),
    }


def _run(directory: Path, known: Remembered) -> Data:
    summary = summarise(directory)
    known.know(summary.created)
    with Browser(directory) as browser:
        config, rounds = browser.about().config, browser.rounds()
        quartiles = known.quartiles_of(
            browser, summary.generations, rounds, finished=summary.state == "finished"
        )
        pace = _pace(browser) if summary.state == "running" else None
    efforts = {each.generation: each.epochs for each in rounds}
    # Of many generations only a few become data.
    data = replace(summary, generations=()).data()
    del data["run"], data["counts"], data["started"]
    return data | {
        "created": float(summary.created),
        "writer": summary.writer,
        "epochs": summary.epochs,
        "seconds": summary.seconds,
        "asked": sum(each.asked for each in summary.generations),
        "trainings": _trainings(config, summary.state, summary.trained),
        "planned": [list(pair) for pair in summary.intent.schedule],
        "left": _seconds_left(_workload(config), summary, pace),
        "generations": [generation_data(each, efforts, quartiles) for each in grouped(summary.generations)],
        "generation_count": len(summary.generations),
        "failures": [_failure(each) for each in data["failures"]],
        "kept": sorted(kept_weights(directory)),
        "has_problem_file": is_problem_file(summary.intent.source),
        **_best_figures(summary.best),
    }


def _compared(directory: Path, known: Remembered) -> Data:
    with Browser(directory) as browser:
        about = browser.about()
        known.know(about.created)
        known.course.follow(browser)
        intent, state, best = Intent.of(about.config, directory), browser.state(), find_best(browser)
    course = known.course
    return {
        "state": state,
        "problem": intent.problem,
        "method": intent.method,
        "seed": intent.seed,
        "trained": course.trainings,
        "epochs": course.epochs,
        "seconds": course.seconds,
        "genome": best.entry.genome if best else None,
        "task": best.entry.task if best else None,
        **_best_figures(best),
        "course": course.points(),
    }


def _best_figures(best: Best | None) -> Data:
    """Loss and error of the best network; means of the final evaluations where there are any."""
    if best is None:
        return {"loss": None, "error": None, "means": 0, "mean": None}
    if best.finalist is None:
        return {"loss": finite(best.entry.loss), "error": finite(best.entry.error), "means": 0, "mean": None}
    finalist = best.finalist
    return {
        "loss": finite(finalist.mean_loss),
        "error": finite(finalist.mean_error),
        "means": len(finalist.tasks),
        "mean": finalist.mean,
    }


def _failure(each: Mapping[str, Any]) -> Data:
    return {
        **each,
        "note": str(each["note"])[:_NOTE],
        "reason": failure_reason(str(each["note"]), str(each["status"])),
    }


def _page(page: Page) -> Data:
    lines = [
        asdict(line)
        | {
            "loss": finite(line.loss),
            "error": finite(line.error),
            "structure": structure_of(line.genome),
            "activation": activation_of(line.genome),
        }
        for line in page.lines
    ]
    return {"rows": lines, "total": page.total, "following": page.following}


def _pace(browser: Browser) -> float | None:
    """Epochs a second, of all workers together, in the trainings that ended last."""
    latest = browser.latest(_LATEST)
    if len(latest) < 2:
        return None
    span = max(each.ended for each in latest) - min(each.started for each in latest)
    return sum(each.epochs for each in latest) / span if span > 0 else None


def _seconds_left(planned: Workload | None, summary: Summary, pace: float | None) -> float | None:
    if planned is None or not pace:
        return None
    return max(planned.epochs - summary.epochs, 0) / pace


def _trainings(config: str, state: RunState, trained: int) -> int | None:
    """How many there will be: at most, and exactly once all are done."""
    planned = _workload(config)
    return trained if state == "finished" else planned and max(planned.trainings, trained)


@lru_cache(maxsize=500)
def _workload(config: str) -> Workload | None:
    """What a run is to do, if its configuration can be read."""
    values = _values(config)
    values.pop("recorded", None)
    try:
        parsed = Config.of(values)
        layout = parsed.layout()
        return layout and parsed.find_method().workload(layout, parsed.method_settings())
    except EvopinnError:
        return None


def _values(config: str) -> dict[str, Any]:
    try:
        return toml_data(config)
    except ValueError:
        return {}
