"""One individual of a search: its genome, how its training went, and whom it descends from."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evopinn.errors import EvopinnError, RunError
from evopinn.genome import Genome
from evopinn.problem import is_problem_file
from evopinn.run.listed import Entry
from evopinn.run.pages import Browser
from evopinn.run.statuses import MEANINGS
from evopinn.run.summary import Intent, activation_of, finite, structure_of
from evopinn.run.weights import kept_weights

if TYPE_CHECKING:
    from evopinn.training import History

Data = dict[str, Any]

_REASON = 300
_NOTE = 20_000
_GENERATIONS = 60
"""Ancestors that are listed at most."""

_POINTS = 400
"""Of a course, at most: more could not be told apart on a screen."""


def individual(directory: Path, number: int) -> Data:
    """A task of a run: what was asked, how each attempt came out, the course, the ancestors."""
    with Browser(directory) as browser:
        asked = browser.asked(number)
        attempts = browser.attempts(number)
        history = browser.history(number)
        parents = [_relative(browser, parent) for parent in asked.parents]
        line = _line(browser, asked.parents)
        round_kind = attempts[0].round if attempts else None
        source = Intent.of(browser.about().config, directory).source
    genome = asked.genome
    return {
        "task": number,
        "generation": asked.generation,
        "round": round_kind,
        "genome": genome,
        "structure": structure_of(genome),
        "activation": activation_of(genome),
        "latex": _latex(genome),
        "epochs": asked.epochs,
        "seed": asked.seed,
        "operations": list(asked.operations),
        "parents": parents,
        "continues": asked.continues,
        "coarseness": asked.coarseness,
        "attempts": [_attempt(entry) for entry in attempts],
        "history": history and _course(history),
        "line": line,
        "kept": number in kept_weights(directory),
        "problem_file": source if is_problem_file(source) else None,
    }


def failure_reason(note: str, status: str) -> str:
    """Why a training failed, in a line: of a traceback the exception, else what the status means."""
    lines = note.strip().splitlines()
    return (lines[-1].strip() if lines else MEANINGS.get(status, ""))[:_REASON]


def _attempt(entry: Entry) -> Data:
    return {
        "attempt": entry.attempt,
        "final": entry.final,
        "status": entry.status,
        "meaning": MEANINGS.get(entry.status, ""),
        "loss": finite(entry.loss),
        "error": finite(entry.error),
        "errors": {field: finite(error) for field, error in entry.errors.items()},
        "epochs": entry.epochs,
        "seconds": entry.seconds,
        "worker": entry.worker,
        "started": entry.started,
        "ended": entry.ended,
        "note": entry.note[:_NOTE],
    }


def _relative(browser: Browser, number: int) -> Data:
    """An ancestor; of one that is not there, the number only."""
    try:
        entry = browser.final_evaluation(number)
    except RunError:
        return {"task": number}
    return {
        "task": number,
        "generation": entry.generation,
        "operations": list(entry.operations),
        "genome": entry.genome,
        "loss": finite(entry.loss),
        "error": finite(entry.error),
    }


def _line(browser: Browser, parents: Sequence[int]) -> list[Data]:
    """The ancestors, from the nearest on, at each step the better parent."""
    line: list[Data] = []
    seen: set[int] = set()
    while parents and len(line) < _GENERATIONS:
        known = [_relative(browser, parent) for parent in parents]
        best = min(known, key=lambda each: math.inf if each.get("loss") is None else each["loss"])
        if best["task"] in seen:
            break
        seen.add(best["task"])
        line.append(best)
        try:
            parents = browser.asked(best["task"]).parents
        except RunError:
            break
    return line


def _latex(genome: str) -> str | None:
    try:
        return Genome.parse(genome).activation.latex()
    except (EvopinnError, ValueError):  # numbers of thousands of digits are none to Python
        return None


def _course(history: "History") -> Data:
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
