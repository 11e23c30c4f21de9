"""Runs as tables for the terminal."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evopinn.run.deceit import deceit
from evopinn.run.listed import Entry, FailureCount, FinalistEntry, GenerationSummary, RoundKind, RunState
from evopinn.run.statuses import MEANINGS
from evopinn.run.summary import Best, Intent, Summary, activation_of, structure_of
from evopinn.run.wording import run_name, visible, why_no_network
from evopinn.view.numbers import duration, scientific
from evopinn.view.plain import PlainTable, named_values, plain_table
from evopinn.view.run_charts import Chart

if TYPE_CHECKING:
    from evopinn.run.result import SearchResult

_GENERATIONS = 20  # Bayesian optimisation has hundreds, of a training each
_LONGEST_REASON = 300
_AFTER: Mapping[RoundKind, str] = {"bests": "bests again", "final": "final"}
_KILLED = " (without a word, as when its process is killed)"


def runs_table(summaries: Iterable[Summary], unreadable: Iterable[tuple[Path, str]] = ()) -> Group:
    """Runs, one a line; below them those that cannot be read, with the reason."""
    figures = ("trained", "loss", "error", "mean of", "started", "worker time")
    table = plain_table(
        *("run", "problem", "method", "state", "round", *figures),
        figures=figures,
        give_way=("worker time", "started", "method", "round", "trained", "problem", "error", "mean of"),
    )
    for each in summaries:
        table.add_cells(
            each.directory.name,
            each.intent.problem,
            each.intent.method,
            each.state,
            _round(each.generations[-1]) if each.generations else "",
            f"{each.trained:,}",
            *_best_figures(each.best),
            _moment(each.created),
            duration(each.seconds),
        )
    reasons = [Text(visible(f"{path.name}: {reason}")) for path, reason in unreadable]
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
    return Group(*parts, "", Text(visible(_next_step(summary.state, summary.directory, bool(summary.best)))))


def found_table(result: "SearchResult") -> Group:
    """What a search has found: the lines of `str`, in columns that fit the terminal."""
    head = [Text(line) for line in result.headlines()]
    rows = result.table()
    if not rows:
        return Group(*head)
    table = plain_table(
        *rows[0],
        figures=rows[0][:-2],
        give_way=("time", "epochs", "structure", "parameters", "error"),
    )
    for row in rows[1:]:
        table.add_cells(*row)
    return Group(*head, table)


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
        "state": f"{summary.state}{running}{_KILLED if _was_killed(summary) else ''}",
        "started": f"{_moment(summary.created)}{ended}",
        "trained": f"{summary.trained:,} networks{failed}; {work}",
    }
    if summary.best:
        return named_values(values | _best(summary.best))
    reason = why_no_network(summary.directory, summary.state, summary.failures)
    return named_values(values | {"best": f"none: {reason}"})


def _was_killed(summary: Summary) -> bool:
    """Whether a run has stopped without having said so."""
    told = bool(summary.events) and summary.events[-1].kind == "stopped"
    return summary.state == "stopped" and not told


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
        values[f"mean of {count}"] = f"loss {scientific(finalist.mean_loss)}{error}{finalist.which_mean}"
    if words := deceit(best.residuals):
        values["warning"] = words
    return values


def _best_figures(best: Best | None) -> tuple[str, str, str]:
    """Loss and error, and of how many trainings they are the mean: the final ones, or else the best alone."""
    if best is None:
        return "", "", ""
    entry, finalist = best.entry, best.finalist
    if finalist is None:
        return _number(entry.loss), _number(entry.error), "1"
    return (
        _number(finalist.mean_loss),
        _number(finalist.mean_error),
        f"{len(finalist.tasks)}{finalist.which_mean}",
    )


def _finalists(finalists: Sequence[FinalistEntry]) -> PlainTable:
    mean = finalists[0].mean_name if finalists else "mean"
    figures = (f"{mean} loss", f"{mean} error", "trained")
    table = plain_table(
        *figures, "structure", "activation", figures=figures, give_way=("trained", "structure", figures[1])
    )
    for each in finalists:
        table.add_cells(
            _number(each.mean_loss), _number(each.mean_error), str(len(each.tasks)), *_genome(each.genome)
        )
    return table


def _hall_of_fame(entries: Sequence[Entry]) -> PlainTable:
    figures = ("task", "loss", "error", "epochs", "time")
    table = plain_table(
        *figures,
        *("structure", "activation"),
        figures=figures,
        give_way=("time", "epochs", "structure", "task", "error"),
    )
    for each in entries:
        table.add_cells(
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


def _generations(generations: Sequence[GenerationSummary]) -> PlainTable:
    first = "batch" if _are_batches(generations) else "generation"
    figures = (first, "trained", "of", "failed", "best loss", "epochs", "worker time")
    table = plain_table(*figures, figures=figures, give_way=("worker time", "epochs", "failed", "of"))
    for each in generations:
        table.add_cells(
            _AFTER.get(each.kind, f"{each.generation:,}"),
            *(f"{count:,}" for count in (each.settled, each.asked, each.failed)),
            _number(each.best),
            f"{each.epochs:,}",
            duration(each.seconds),
        )
    return table


def _failures(failures: Sequence[FailureCount]) -> PlainTable:
    figures = ("kind", "failed", "tried again")
    table = plain_table(*figures, "the first", figures=figures, give_way=("tried again",))
    for each in failures:
        reason = _reason(each.note) or MEANINGS.get(each.status, "")
        table.add_cells(each.status, f"{each.failed:,}", f"{each.retried:,}", f"task {each.task}: {reason}")
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


def _genome(genome: str) -> tuple[str, str]:
    return structure_of(genome), activation_of(genome)


def _number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else scientific(value)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
