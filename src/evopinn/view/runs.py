"""Runs as tables for the terminal."""

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evopinn.run.ended import FailureKind
from evopinn.run.listed import Entry, FailureCount, FinalistEntry, GenerationSummary, RoundKind, RunState
from evopinn.run.place import RUNS
from evopinn.run.summary import Best, Intent, Summary, activation_of, structure_of
from evopinn.view.numbers import duration, scientific
from evopinn.view.plain import named_values, plain_table
from evopinn.view.run_charts import Chart

if TYPE_CHECKING:
    from evopinn.run.result import SearchResult

_GENERATIONS = 20  # Bayesian optimisation has hundreds, of a training each
_LONGEST_REASON = 300
_AFTER: Mapping[RoundKind, str] = {"bests": "bests again", "final": "final"}
_MEANINGS = {str(kind): kind.meaning for kind in FailureKind} | {
    "not-finite": "the loss or its gradient was not finite"
}
"""Of failures without a note."""


def runs_table(summaries: Iterable[Summary], unreadable: Iterable[tuple[Path, str]] = ()) -> Group:
    """Runs, one a line; below them those that cannot be read, with the reason."""
    table = plain_table(
        *("run", "problem", "method", "state", "round", "trained", "loss", "error"),
        *("started", "worker time"),
    )
    for each in summaries:
        entry = each.best.entry if each.best else None
        table.add_row(
            Text(each.directory.name),
            Text(each.intent.problem),
            Text(each.intent.method),
            each.state,
            _round(each.generations[-1]) if each.generations else "",
            f"{each.trained:,}",
            _number(entry and entry.loss),
            _number(entry and entry.error),
            _moment(each.created),
            duration(each.seconds),
        )
    reasons = [Text(f"{path.name}: {reason}") for path, reason in unreadable]
    return Group(*([table] if table.row_count else []), *reasons)


def show_tables(summary: Summary, charts: Iterable[Chart] = ()) -> Group:
    """One run: what it is, its winner, the best genomes, generations, failures, charts, what to do next."""
    parts: list[RenderableType] = [_head(summary)]
    sections = {
        "Final evaluations": _finalists(summary.finalists),
        "Hall of fame": _hall_of_fame(summary.hall_of_fame),
        _generations_title(summary.generations): _generations(summary.generations[-_GENERATIONS:]),
        "Failures": _failures(summary.failures),
    }
    for title, table in sections.items():
        if table.row_count:
            parts += ["", Text(title), table]
    for chart in charts:
        parts += ["", Text(chart.title), *(Text(line, no_wrap=True) for line in chart.lines)]
    return Group(*parts, "", Text(_next_step(summary.state, summary.directory, bool(summary.best))))


def found_table(result: "SearchResult") -> Group:
    """What a search has found: the lines of `str`, in columns that fit the terminal."""
    head = [Text(line) for line in result.headlines()]
    rows = result.table()
    if not rows:
        return Group(*head)
    table = plain_table(*rows[0])
    for figures in table.columns[:-2]:  # structure and activation give way
        figures.no_wrap = True
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return Group(*head, table)


def run_name(directory: Path) -> str:
    """How a user names a run to a command."""
    return shlex.quote(directory.name if directory.parent == RUNS else str(directory))


def _head(summary: Summary) -> Table:
    intent = summary.intent
    running = f" (process {summary.writer})" if summary.state == "running" else ""
    ended = "" if summary.ended is None else f", last training {_moment(summary.ended)}"
    failed = f", {summary.failed:,} failed" if summary.failed else ""
    work = f"{summary.epochs:,} epochs, {duration(summary.seconds)} of workers' time"
    values = {
        "run": str(summary.directory),
        "problem": f"{intent.problem} ({intent.source})" if _is_file(intent) else intent.problem,
        "method": intent.method if intent.seed is None else f"{intent.method}, seed {intent.seed}",
        **({"plan": intent.plan} if intent.plan else {}),
        "state": f"{summary.state}{running}",
        "started": f"{_moment(summary.created)}{ended}",
        "trained": f"{summary.trained:,} networks{failed}; {work}",
    }
    best = _best(summary.best) if summary.best else {"best": "nothing is recorded yet"}
    return named_values(values | best)


def _best(best: Best) -> dict[str, str]:
    entry, finalist = best.entry, best.finalist
    values = {
        "best": entry.genome,
        "loss": f"{scientific(entry.loss)} after {entry.epochs:,} epochs (task {entry.task})",
    }
    values |= {f"error of {field}": scientific(error) for field, error in entry.errors.items()}
    if finalist:
        error = "" if finalist.mean_error is None else f", error {scientific(finalist.mean_error)}"
        count = len(finalist.tasks)
        values[f"mean of {count}"] = f"loss {scientific(finalist.mean_loss)}{error}"
    return values


def _finalists(finalists: Sequence[FinalistEntry]) -> Table:
    table = plain_table("mean loss", "mean error", "trained", "structure", "activation")
    for each in finalists:
        table.add_row(
            _number(each.mean_loss), _number(each.mean_error), str(len(each.tasks)), *_genome(each.genome)
        )
    return table


def _hall_of_fame(entries: Sequence[Entry]) -> Table:
    table = plain_table("task", "loss", "error", "epochs", "time", "structure", "activation")
    for each in entries:
        table.add_row(
            str(each.task),
            _number(each.loss),
            _number(each.error),
            f"{each.epochs:,}",
            duration(each.seconds),
            *_genome(each.genome),
        )
    return table


def _generations_title(generations: Sequence[GenerationSummary]) -> str:
    title = "Batches" if _are_batches(generations) else "Generations"
    count = len(generations)
    return title if count <= _GENERATIONS else f"{title}, the last {_GENERATIONS} of {count:,}"


def _generations(generations: Sequence[GenerationSummary]) -> Table:
    first = "batch" if _are_batches(generations) else "generation"
    table = plain_table(first, "trained", "of", "failed", "best loss", "epochs", "worker time")
    for each in generations:
        table.add_row(
            _AFTER.get(each.kind, f"{each.generation:,}"),
            *(f"{count:,}" for count in (each.settled, each.asked, each.failed)),
            _number(each.best),
            f"{each.epochs:,}",
            duration(each.seconds),
        )
    return table


def _failures(failures: Sequence[FailureCount]) -> Table:
    table = plain_table("kind", "failed", "tried again", "the first")
    for each in failures:
        reason = _reason(each.note) or _MEANINGS.get(each.status, "")
        first = Text(f"task {each.task}: {reason}")
        table.add_row(Text(each.status), f"{each.failed:,}", f"{each.retried:,}", first)
    return table


def _reason(note: str) -> str:
    """A note in a line: of a traceback the exception, of what a worker printed the last line."""
    first, *rest = note.strip().splitlines() or [""]
    before, traceback, _ = first.partition("Traceback ")
    start = before if traceback else f"{first} " if rest else first
    return (start + (rest[-1].strip() if rest else ""))[:_LONGEST_REASON]


def _are_batches(generations: Sequence[GenerationSummary]) -> bool:
    return any(each.kind == "batch" for each in generations)


def _round(each: GenerationSummary) -> str:
    return _AFTER.get(each.kind, f"{'batch' if each.kind == 'batch' else 'gen'} {each.generation:,}")


def _is_file(intent: Intent) -> bool:
    return intent.source != intent.problem and Path(intent.source).is_absolute()


def _next_step(state: RunState, directory: Path, found: bool) -> str:
    name = run_name(directory)
    steps = {
        "running": f"`evopinn stop {name}` ends it; it can be resumed.",
        "stopped": f"`evopinn resume {name}` goes on.",
        "finished": "It is finished.",
    }
    export = f" `evopinn export {name} best` writes its best network." if found else ""
    return steps[state] + export


def _genome(genome: str) -> tuple[Text, Text]:
    return Text(structure_of(genome)), Text(activation_of(genome))


def _number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else scientific(value)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
