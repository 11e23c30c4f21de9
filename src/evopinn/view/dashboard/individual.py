"""The page of one individual: its genome, its training, and its ancestors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evopinn.errors import EvopinnError, RunError
from evopinn.genome import Genome
from evopinn.problem import is_problem_file
from evopinn.run.goal import Goal
from evopinn.run.record import finite
from evopinn.run.wording import round_name
from evopinn.search.ranking import LAST, Rank
from evopinn.store.browser import Browser, RecordedTask
from evopinn.store.kept_networks import kept_weights
from evopinn.store.records import Entry
from evopinn.training import History
from evopinn.training.status import MEANINGS
from evopinn.view.dashboard.picture_cache import page_pictures
from evopinn.view.dashboard.tables import (
    ANCESTORS,
    ATTEMPTS,
    blank_row,
    page_columns,
    page_facts,
    page_row,
    page_table,
)
from evopinn.view.figures.figure_table import Scene
from evopinn.view.tables import Cell, Fact, Facts, Phrase, Table

Data = dict[str, Any]

_NOTE = 20_000
_GENERATIONS = 60
"""Ancestors that are listed at most."""

_POINTS = 400
"""Of a history, at most: more could not be told apart on a screen."""


def individual(directory: Path, number: int) -> Data:
    """A task of a run: its settings, the result of each attempt, its history and its ancestors."""
    with Browser(directory) as browser:
        asked = browser.recorded_task(number)
        attempts = browser.attempts(number)
        history = browser.history(number)
        parents = [_relative(browser, parent) for parent in asked.parents]
        line = _line(browser, asked.parents)
        source = Goal.of(browser.about().config, directory).source
    kept = number in kept_weights(directory)
    scene = Scene(trained=kept, measured=not is_problem_file(source))
    last = attempts[-1] if attempts else None
    return {
        "task": number,
        "genome": asked.genome,
        "latex": _latex(asked.genome),
        "facts": page_facts(Facts(_standing(asked, last))),
        "family": page_facts(Facts(_family(asked, parents))),
        "note": last.note[:_NOTE] if last else "",
        "attempts": page_table(
            Table("Attempts", ATTEMPTS, attempts), lambda each: each.attempt, sortable=False
        ),
        "history": history and _history(history),
        "ancestors": {
            "title": "Ancestors",
            "columns": [each | {"sortable": False} for each in page_columns(ANCESTORS)],
            "rows": [_ancestor(each) for each in line],
        },
        "kept": kept,
        "pictures": page_pictures("task", scene, source, asked.genome),
    }


def _standing(asked: RecordedTask, last: Entry | None) -> list[Fact]:
    """The settings of a task, and the result of its last attempt."""
    planned = Cell("count", asked.epochs)
    found: list[Fact] = [Fact("status", "not finished: running, or waiting for a worker")]
    epochs, time = Phrase(planned), []
    if last is not None:
        meaning = f": {MEANINGS[last.status]}" if last.status in MEANINGS else ""
        again = "" if last.final else "; it will be retried"
        errors = (Fact(f"error of {field}", Cell("scientific", each)) for field, each in last.errors.items())
        found = [
            Fact("status", f"{last.status}{meaning}{again}"),
            Fact("loss", Cell("scientific", last.loss)),
            *errors,
        ]
        epochs = Phrase(Cell("count", last.epochs), " of ", planned)
        time = [Fact("time", Phrase(Cell("seconds", last.seconds), ", ended ", Cell("moment", last.ended)))]
    round_ = f"generation {asked.generation:,}" if last is None else round_name(last.round, asked.generation)
    found += [Fact("round", round_), Fact("epochs", epochs), *time, Fact("seed", asked.seed)]
    if asked.coarseness > 1:
        found.append(Fact("points", f"coarser by {asked.coarseness:g} along each axis"))
    if asked.continues is not None:
        found.append(Fact("continues", Cell("task", asked.continues)))
    return found


def _family(asked: RecordedTask, parents: Sequence[Entry | int]) -> list[Fact]:
    said: list[str | Cell] = []
    for parent in parents:
        said += [", "] if said else []
        said += _parent(parent)
    return [Fact("made by", ", ".join(asked.operations)), Fact("parents", Phrase(*said) if said else "none")]


def _parent(parent: Entry | int) -> list[str | Cell]:
    if isinstance(parent, int):
        return ["task ", Cell("task", parent)]
    return ["task ", Cell("task", parent.task), " (loss ", Cell("scientific", parent.loss), ")"]


def _relative(browser: Browser, number: int) -> Entry | int:
    """An ancestor, or only its number if it is missing."""
    try:
        return browser.final_evaluation(number)
    except RunError:
        return number


def _ancestor(relative: Entry | int) -> Data:
    if isinstance(relative, Entry):
        return page_row(ANCESTORS, relative, str(relative.task))
    return blank_row(ANCESTORS, str(relative), {"task": str(relative)})


def _rank(relative: Entry | int) -> Rank:
    """The rank of an ancestor; missing ones come last."""
    return relative.rank if isinstance(relative, Entry) else LAST


def _line(browser: Browser, parents: Sequence[int]) -> list[Entry | int]:
    """The ancestors from the nearest on, following the better parent at each step."""
    line: list[Entry | int] = []
    seen: set[int] = set()
    while parents and len(line) < _GENERATIONS:
        best = min((_relative(browser, parent) for parent in parents), key=_rank)
        number = best if isinstance(best, int) else best.task
        if number in seen:
            break
        seen.add(number)
        line.append(best)
        try:
            parents = browser.recorded_task(number).parents
        except RunError:
            break
    return line


def _latex(genome: str) -> str | None:
    try:
        return Genome.parse(genome).activation.latex()
    except (EvopinnError, ValueError):  # Python refuses to read numbers of thousands of digits
        return None


def _history(history: History) -> Data:
    epochs, losses = list(history.epochs), list(history.losses)
    return {
        "losses": _points(epochs, losses),
        "errors": {
            field: _points(list(history.error_epochs), list(values))
            for field, values in history.errors.items()
        },
    }


def _points(epochs: Sequence[int | float], values: Sequence[float]) -> list[list[float | None]]:
    """Pairs of epoch and value: at most some hundreds, the last one among them."""
    every = max(1, -(-len(epochs) // _POINTS))
    pairs = [[float(epoch), finite(value)] for epoch, value in zip(epochs, values, strict=False)]
    kept = pairs[::every]
    return kept if not pairs or kept[-1] is pairs[-1] else [*kept, pairs[-1]]
