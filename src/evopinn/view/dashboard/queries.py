"""The data of the dashboard's pages, as plain data for JSON; numbers that are not finite become null."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from evopinn.errors import EvopinnError
from evopinn.problem import is_problem_file
from evopinn.run.config import Config
from evopinn.run.record import RunRecord, finite
from evopinn.run.wording import round_name
from evopinn.search import Workload
from evopinn.store.browser import Browser, Selection
from evopinn.store.toml_text import toml_data
from evopinn.view.dashboard.cache import RunCache, RunCaches
from evopinn.view.dashboard.generations import merged, round_data
from evopinn.view.dashboard.individual import individual
from evopinn.view.dashboard.listing import ListedRun, RunListing, sound
from evopinn.view.dashboard.picture_cache import page_pictures
from evopinn.view.dashboard.tables import (
    COMPARED,
    INDIVIDUALS,
    OVERVIEW,
    blank_row,
    page_cell,
    page_columns,
    page_facts,
    page_row,
    page_table,
)
from evopinn.view.figures.figure_table import Scene
from evopinn.view.numbers import duration, moment
from evopinn.view.run_tables import ROUNDS, failures_table, finalists_table, hall_of_fame_table
from evopinn.view.tables import Cell, Column, Fact, Facts, Table

Data = dict[str, Any]

PAGE = 25
MOST_COMPARED = 8
PATIENCE = 1.0
"""Seconds for reading runs that are new to a list; the others follow when it is asked for again."""

_MOST_LOOKED_AT = 500
_LATEST = 40


class Queries:
    """Queries about the runs in one directory.

    Args:
        places: Where they lie.
        patience: Seconds for reading runs that are new to a list.
    """

    def __init__(self, places: RunListing, patience: float = PATIENCE) -> None:
        self._places = places
        self._patience = patience
        self._lines = RunCaches(most=None)
        self._looks = RunCaches(_MOST_LOOKED_AT)

    def overview(self) -> Data:
        """A row for each run, newest first; unreadable ones show the reason.

        Where there are many, those for which there was no time are read when this is asked for again.
        """
        places = self._places.all()
        self._lines.keep_only(place.directory for place in places)
        left = self._patience
        rows: list[Data] = []
        for place in places:
            known, began = self._lines.knows(place.directory), time.monotonic()
            rows.append(self._overview(place) if known or left > 0 else _waiting(place.name))
            left -= 0.0 if known else time.monotonic() - began
        rows.sort(key=lambda row: (row["more"].get("created", 0.0), row["key"]), reverse=True)
        columns = page_columns(OVERVIEW)
        return {"directory": str(self._places.root), "table": {"columns": columns, "rows": rows}}

    def run(self, name: str) -> Data:
        """A run at a glance."""
        directory = self._places.find(name)
        answer = self._answer(self._looks, directory, "run", lambda known: _run(directory, known))
        return {"name": name, **answer}

    def settings(self, name: str) -> Data:
        """The fixed part of a run: its configuration and the versions it started with."""
        directory = self._places.find(name)
        with sound(directory), Browser(directory) as browser:
            about = browser.about()
            told = {"directory": directory, **about.versions}
            facts = Facts([Fact(str(name), str(each)) for name, each in told.items()])
            return _checked({"config": about.config, "facts": page_facts(facts)})

    def individuals(self, name: str, selection: Selection) -> Data:
        """A page of the evaluations."""
        directory = self._places.find(name)
        with sound(directory), Browser(directory) as browser:
            page = browser.evaluations(selection, PAGE)
            table = page_table(Table("", INDIVIDUALS, page.lines), lambda line: f"{line.task}.{line.attempt}")
            answer = {"table": table, "total": page.total, "following": page.following, "size": PAGE}
            return _checked(answer | {"statuses": browser.statuses()})

    def individual(self, name: str, number: int) -> Data:
        """One task: its settings, result and ancestors."""
        directory = self._places.find(name)
        with sound(directory):
            return _checked({"name": name, **individual(directory, number)})

    def comparison(self, names: Sequence[str]) -> Data:
        """A limited number of runs: the best loss so far against cost."""
        shown, left_out = names[:MOST_COMPARED], names[MOST_COMPARED:]
        rows = [self._compared(name) for name in shown]
        problems = {row["more"]["problem"] for row in rows if "problem" in row["more"]}
        return {
            "table": {"columns": page_columns(COMPARED), "rows": rows},
            "mixed": len(problems) > 1,
            "left_out": list(left_out),
        }

    def _overview(self, place: ListedRun) -> Data:
        if place.reason:
            return _unreadable(OVERVIEW, place.name, place.reason)
        try:
            row = self._answer(self._lines, place.directory, "overview", lambda _: _overview(place.directory))
        except EvopinnError as error:
            return _unreadable(OVERVIEW, place.name, str(error))
        return {**row, "key": place.name}

    def _compared(self, name: str) -> Data:
        try:
            directory = self._places.find(name)
            row = self._answer(self._looks, directory, "progress", lambda known: _compared(directory, known))
        except EvopinnError as error:
            return _unreadable(COMPARED, name, str(error))
        return {**row, "key": name}

    def _answer(
        self, memory: RunCaches, directory: Path, question: str, make: Callable[[RunCache], Data]
    ) -> Data:
        with sound(directory):
            return memory.answer(directory, question, lambda known: _checked(make(known)))


def _checked(data: Data) -> Data:
    """Data that JSON can express; anything else in a damaged run raises an error."""
    json.dumps(data, allow_nan=False)
    return data


def _waiting(name: str) -> Data:
    return _without_record(OVERVIEW, name, "waiting", "it will be read in a moment.")


def _unreadable(columns: Sequence[Column], name: str, reason: str) -> Data:
    return _without_record(columns, name, "unreadable", reason)


def _without_record(columns: Sequence[Column], name: str, state: str, reason: str) -> Data:
    row = blank_row(columns, name, {"run": name, "state": state, "problem": reason})
    return row | {"reason": reason, "more": {"state": state}}


def _overview(directory: Path) -> Data:
    run = RunRecord.read(directory)
    created, trainings = float(run.about.created), _trainings(run)
    more = {"state": run.state, "created": created, "trained": run.trained, "trainings": trainings}
    return page_row(OVERVIEW, run, more=more)


def _run(directory: Path, known: RunCache) -> Data:
    run = RunRecord.read(directory)
    known.know(run.about.created)
    finished = run.state == "finished"
    with Browser(directory) as browser:
        quartiles = known.quartiles_of(browser, run.generations, browser.rounds(), finished=finished)
        pace = _pace(browser) if run.state == "running" else None
    rounds = merged(run.rounds)
    alone = set(run.rounds)
    # Of many generations only a few become data.
    data = replace(run, generations=()).data()
    told = ("problem", "method", "source", "seed", "plan", "state", "ended", "failed", "best", "events")
    return {name: data[name] for name in told} | {
        "created": float(run.about.created),
        "trained": run.trained,
        "asked": sum(each.asked for each in run.generations),
        "trainings": _trainings(run),
        "planned": [list(pair) for pair in run.goal.schedule],
        "lead": _lead(run),
        "standing": _standing(run, _seconds_left(_workload(run.about.config), run, pace)),
        "round": _last_round(run),
        "tiles": _tiles(run),
        "attempts": run.trained + sum(each.retried for each in run.failures),
        "last_generation": run.generations[-1].generation if run.generations else 1,
        "generations": [round_data(each, quartiles if each in alone else {}) for each in rounds],
        "generation_count": len(run.rounds),
        "kept": sorted(run.kept),
        "has_problem_file": is_problem_file(run.goal.source),
        "tables": {
            "hall_of_fame": page_table(hall_of_fame_table(run), lambda each: each.entry.task),
            "finalists": page_table(_finalists(run), lambda each: each.entry.genome),
            "generations": page_table(
                Table("Generations", ROUNDS, rounds), lambda each: each.summary.generation
            ),
            "failures": page_table(failures_table(run), lambda each: each.status),
        },
        **_pictures(run),
    }


def _pictures(run: RunRecord) -> Data:
    """The pictures of the most accurate network, and those of the search."""
    best, source = run.best, run.goal.source
    if best is None:
        return {"pictures": [], "search_pictures": []}
    scene = Scene(
        finals=bool(run.finalist_entries),
        finished=run.state == "finished",
        trained=best.entry.task in run.kept,
        line=None,
        solved=None,
    )
    above = "means of the final evaluations" if best.finalist else "its own"
    note = f"This is the best single training (task {best.entry.task}); the figures above are {above}."
    return {
        "pictures": page_pictures("best", scene, source, best.entry.genome, note),
        "search_pictures": page_pictures("search", scene, source),
    }


def _compared(directory: Path, known: RunCache) -> Data:
    run = RunRecord.read(directory)
    with Browser(directory) as browser:
        known.know(run.about.created)
        known.progress.follow(browser)
    return page_row(COMPARED, run, more={"problem": run.goal.problem, "progress": known.progress.points()})


def _lead(run: RunRecord) -> str:
    goal = run.goal
    method = goal.method if goal.seed is None else f"{goal.method}, seed {goal.seed}"
    return " · ".join([goal.problem, method, goal.plan or f"started {moment(run.about.created)}"])


def _last_round(run: RunRecord) -> str:
    return "".join(round_name(each.kind, each.generation) for each in run.generations[-1:])


def _standing(run: RunRecord, left: float | None) -> str:
    """The progress of a run, in a line."""
    most = "" if run.state == "finished" else "at most "
    trainings = _trainings(run)
    words = [
        f"{run.trained:,} of {most}{trainings:,} trainings" if trainings else f"trainings: {run.trained:,}"
    ]
    if run.generations and run.state != "finished":
        counted = run.generations[-1].kind == "generation" and run.goal.schedule
        words.append(_last_round(run) + (f" of {len(run.goal.schedule)}" if counted else ""))
    if run.state == "running":
        words.append(f"{sum(each.asked for each in run.generations) - run.trained:,} under way or waiting")
    if left is not None:
        words.append(f"about {duration(left)} left")
    return " · ".join(words)


def _tiles(run: RunRecord) -> list[Data]:
    """The key figures of a run, each with a note."""
    best = run.best
    mean = (
        "one training"
        if best is None or best.finalist is None
        else f"mean of {best.trainings}{best.finalist.which_mean}"
    )
    last = "started" if run.state == "running" or run.ended is None else "last training"
    tiles = [
        ("best loss", Cell("scientific", best and finite(best.loss)), mean if best else "nothing yet"),
        ("relative L₂ error", Cell("scientific", best and finite(best.error)), mean),
        ("trained", Cell("count", run.trained), f"{run.failed:,} failed" if run.failed else "none failed"),
        ("epochs", Cell("count", run.epochs), ""),
        ("worker time", Cell("seconds", run.seconds), ""),
        (last, Cell("moment", run.about.created if last == "started" else run.ended), ""),
    ]
    known = [each for each in tiles if each[0] != "relative L₂ error" or not each[1].is_empty]
    return [{"label": label, "note": note, **page_cell(cell)} for label, cell, note in known]


def _finalists(run: RunRecord) -> Table:
    """The finalists, with the tasks of their trainings, which have pages."""
    table = finalists_table(run)
    return replace(
        table,
        columns=(*table.columns, Column("tasks", "tasks", lambda each: " ".join(map(str, each.entry.tasks)))),
    )


def _pace(browser: Browser) -> float | None:
    """Epochs per second of all workers together, in the latest trainings."""
    latest = browser.latest(_LATEST)
    if len(latest) < 2:
        return None
    span = max(each.ended for each in latest) - min(each.started for each in latest)
    return sum(each.epochs for each in latest) / span if span > 0 else None


def _seconds_left(planned: Workload | None, run: RunRecord, pace: float | None) -> float | None:
    if planned is None or not pace:
        return None
    return max(planned.epochs - run.epochs, 0) / pace


def _trainings(run: RunRecord) -> int | None:
    """The number of trainings: the maximum, and the exact number at the end."""
    planned = _workload(run.about.config)
    return run.trained if run.state == "finished" else planned and max(planned.trainings, run.trained)


@lru_cache(maxsize=500)
def _workload(config: str) -> Workload | None:
    """The workload of a run, if its configuration can be read."""
    values = _values(config)
    values.pop("recorded", None)
    try:
        parsed = Config.of(values)
        workplan = parsed.workplan()
        return workplan and parsed.find_method().workload(workplan, parsed.method_settings())
    except EvopinnError:
        return None


def _values(config: str) -> dict[str, Any]:
    try:
        return toml_data(config)
    except ValueError:
        return {}
