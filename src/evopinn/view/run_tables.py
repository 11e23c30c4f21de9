"""The tables of a run, each defined once for every view."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from evopinn.run.architecture import Architecture
from evopinn.run.record import RankedNetwork, RunRecord
from evopinn.run.wording import failure_note, round_brief, round_label, round_name
from evopinn.store.records import Entry
from evopinn.view.numbers import scientific
from evopinn.view.tables import Column, Table

MOST_ROUNDS = 60
"""The maximum number of rounds in a table; Bayesian optimisation has hundreds, with one training each."""

STRUCTURE_NOTE = (
    "A structure of 3×10 [0-1] has two hidden layers of ten neurons and the output layer, and a shortcut "
    "from the input of layer 0 to that of layer 1."
)


def _label(each: RankedNetwork) -> str:
    return round_label(each.entry.round, each.entry.generation)


def _last_round(run: RunRecord) -> str:
    last = run.generations[-1:]
    return "".join(round_brief(each.kind, each.generation) for each in last)


def _mean_of(run: RunRecord) -> str:
    """The number of trainings behind the means of loss and error, and the kind of mean."""
    if run.best is None:
        return ""
    finalist = run.best.finalist
    return f"{run.best.trainings}{finalist.which_mean if finalist else ''}"


def _of_entry(name: str) -> Callable[[Any], Any]:
    return lambda record: getattr(record.entry, name)


def _of_best(name: str) -> Callable[[RunRecord], Any]:
    return lambda run: run.best_architecture and getattr(run.best_architecture, name)


_ARCHITECTURE = (
    Column("parameters", "count", lambda each: each.architecture.parameters, gives_way=4),
    Column("structure", "structure", lambda each: each.architecture.structure, gives_way=3),
    Column("activation", "code", lambda each: each.architecture.function),
)

HALL_OF_FAME: Sequence[Column] = (
    Column("rank", "count", lambda each: each.rank, gives_way=8),
    Column("task", "task", _of_entry("task"), gives_way=2),
    Column("loss", "scientific", _of_entry("loss")),
    Column("error", "scientific", _of_entry("error"), gives_way=1),
    Column("epochs", "count", _of_entry("epochs"), gives_way=5),
    Column("time", "seconds", _of_entry("seconds"), gives_way=7, key="seconds"),
    Column("round", "name", _label, gives_way=6),
    Column("made by", "words", lambda each: ", ".join(each.entry.operations), gives_way=9),
    *_ARCHITECTURE,
)

ROUNDS: Sequence[Column] = (
    Column("round", "name", lambda each: round_name(each.summary.kind, each.summary.generation), heads=True),
    Column("networks", "count", lambda each: each.summary.asked, gives_way=1),
    Column("trained", "count", lambda each: each.summary.settled),
    Column("failed", "count", lambda each: each.summary.failed, gives_way=2),
    Column("epochs of each", "count", lambda each: each.epochs, gives_way=4),
    Column("best loss", "scientific", lambda each: each.summary.best),
    Column("epochs in all", "count", lambda each: each.summary.epochs, gives_way=3),
    Column("worker time", "seconds", lambda each: each.summary.seconds, gives_way=5),
)

FAILURES: Sequence[Column] = (
    Column("kind", "name", lambda each: each.status),
    Column("failed", "count", lambda each: each.failed),
    Column("tried again", "count", lambda each: each.retried, gives_way=2),
    Column("first task", "task", lambda each: each.task, gives_way=1),
    Column("what happened to it", "note", lambda each: failure_note(each.note, each.status)),
)

RUNS: Sequence[Column] = (
    Column("run", "words", lambda run: run.name, heads=True),
    Column("problem", "words", lambda run: run.goal.problem, gives_way=3),
    Column("method", "words", lambda run: run.goal.method, gives_way=6),
    Column("state", "verdict", lambda run: run.state),
    Column("round", "name", _last_round, gives_way=5),
    Column("trained", "count", lambda run: run.trained, gives_way=4),
    Column("loss", "scientific", lambda run: run.best and run.best.loss),
    Column("error", "scientific", lambda run: run.best and run.best.error, gives_way=2),
    Column("mean of", "name", _mean_of, gives_way=1),
    Column("started", "moment", lambda run: run.about.created, gives_way=7),
    Column("worker time", "seconds", lambda run: run.seconds, gives_way=8),
)


def hall_of_fame_table(run: RunRecord) -> Table:
    """The best single training of each of the best genomes."""
    best = run.best
    return Table(
        "Hall of fame",
        HALL_OF_FAME,
        run.hall_of_fame,
        sorts=True,
        sorted_by="rank",
        chosen=lambda each: best is not None and each.entry.task == best.entry.task,
    )


def live_hall_of_fame_table(entries: Sequence[Entry]) -> Table:
    """The hall of fame while a search runs, in the few columns that a screen has room for.

    Where errors are known, it has the largest of each network.
    """
    batches = any(each.round == "batch" for each in entries)
    several = any(len(each.errors) > 1 for each in entries)
    error = Column("max error" if several else "error", "number", _error_text, gives_way=1, key="error")
    columns = (
        Column("#", "count", lambda each: each.rank, key="rank"),
        Column("loss", "scientific", _of_entry("loss")),
        *([error] if any(each.errors for each in entries) else []),
        Column("batch" if batches else "gen", "name", _label, gives_way=3, key="round"),
        Column("network", "name", lambda each: each.architecture.size),
        Column("shortcuts", "count", lambda each: each.architecture.shortcuts, gives_way=2),
        Column("activation", "code", lambda each: each.architecture.function),
    )
    ranked = enumerate(entries, start=1)
    return Table(
        "", columns, [RankedNetwork(rank, each, _architecture(each.genome)) for rank, each in ranked]
    )


_architecture = lru_cache(maxsize=64)(Architecture)  # most genomes stay in the hall of fame


def _error_text(each: RankedNetwork) -> str:
    """An error in text, also one that is no number."""
    return "" if each.entry.error is None else scientific(each.entry.error)


def finalists_table(run: RunRecord) -> Table:
    """The genomes with final evaluations, each trained several times."""
    recommended = run.recommended
    mean = run.finalists[0].entry.mean_name if run.finalists else "mean"
    columns = (
        Column("rank", "count", lambda each: each.rank, gives_way=8),
        Column(f"{mean} loss", "scientific", _of_entry("mean_loss"), key="mean_loss"),
        Column(f"{mean} error", "scientific", _of_entry("mean_error"), gives_way=1, key="mean_error"),
        Column("least loss", "scientific", lambda each: min(each.entry.losses), gives_way=5),
        Column("greatest loss", "scientific", lambda each: max(each.entry.losses), gives_way=6),
        Column("trainings", "count", lambda each: len(each.entry.tasks), gives_way=7),
        *_ARCHITECTURE,
    )
    return Table(
        "Final evaluations",
        columns,
        run.finalists,
        sorts=True,
        sorted_by="rank",
        chosen=lambda each: each is recommended,
    )


def rounds_table(run: RunRecord, most: int = MOST_ROUNDS) -> Table:
    """The generations, and what came after them; the last ones if there are many."""
    title, count = "Batches" if run.has_batches else "Generations", len(run.rounds)
    title = title if count <= most else f"{title}, the last {most} of {count:,}"
    return Table(title, ROUNDS, run.rounds[-most:])


def failures_table(run: RunRecord) -> Table:
    """The ways in which trainings failed, with the first of each."""
    return Table("Failures", FAILURES, run.failures, sorts=True)


def runs_table(runs: Sequence[RunRecord]) -> Table:
    """Runs, one a row."""
    return Table("", RUNS, runs)


def side_by_side_table(runs: Sequence[RunRecord], href: Callable[[RunRecord], str] | None = None) -> Table:
    """Runs side by side, each with its recommended architecture.

    Args:
        runs: The runs.
        href: The link to each run within a page.
    """
    columns = (
        Column("run", "words", lambda run: run.name, heads=True, href=href),
        Column("state", "verdict", lambda run: run.state),
        Column("problem", "words", lambda run: run.goal.problem),
        Column("method", "words", lambda run: run.goal.method),
        Column("seed", "id", lambda run: run.goal.seed),
        Column("mean loss", "scientific", lambda run: run.best and run.best.loss),
        Column("mean error", "scientific", lambda run: run.best and run.best.error),
        Column("trained", "count", lambda run: run.trained),
        Column("epochs", "count", lambda run: run.epochs),
        Column("worker time", "seconds", lambda run: run.seconds),
        Column("start to end", "seconds", lambda run: run.elapsed),
        Column("parameters", "count", _of_best("parameters")),
        Column("structure", "structure", _of_best("structure")),
        Column("activation", "code", _of_best("function")),
    )
    return Table("Side by side", columns, runs, sorts=True)
