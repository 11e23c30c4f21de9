"""A run at a glance: what it is, how it stands, the best it has found. Needs no torch, and no long look."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast, get_origin

from evopinn.errors import RunError
from evopinn.run.deceit import deceit, kept_residuals
from evopinn.run.listed import Entry, Event, FailureCount, FinalistEntry, GenerationSummary, RunState
from evopinn.run.reading import Reader
from evopinn.run.rounds import PlannedRound, planned_rounds
from evopinn.run.toml_text import toml_data

T = TypeVar("T")


@dataclass(frozen=True)
class Intent:
    """What a run is to do, as its configuration says; empty where that says nothing.

    Attributes:
        problem: The problem's name; if that is not recorded, `source`.
        source: Where the problem comes from: a name of the catalogue, a file, or `python:` and the name of an
            object.
        method: The search method's name.
        seed: That all random choices follow from.
        plan: What will be done, in words.
        schedule: Population and epochs of each planned generation; empty for other ways to search.
        rounds: The same with the elitists that are trained again, and what comes after the generations.
        fingerprint: What tells the problem from others, as it was when the run began; None if not recorded.
    """

    problem: str
    source: str
    method: str
    seed: int | None
    plan: str
    schedule: tuple[tuple[int, int], ...] = ()
    rounds: tuple[PlannedRound, ...] = ()
    fingerprint: float | None = None

    @classmethod
    def of(cls, config: str, directory: Path) -> "Intent":
        """That of a configuration in TOML."""
        try:
            values = toml_data(config)
        except ValueError as error:
            raise RunError(f"the run {directory}: its configuration is not TOML ({error}).") from error
        try:
            recorded = _typed(values, "recorded", dict[str, Any]) or {}
            source = _typed(values, "problem", str) or ""
            method = _typed(values, "method", str) or ""
            schedule = _schedule(values.get("schedule"))
            return cls(
                problem=_typed(recorded, "problem", str) or source,
                source=source,
                method=method,
                seed=_typed(values, "seed", int),
                plan=_typed(recorded, "plan", str) or "",
                schedule=schedule,
                rounds=planned_rounds(schedule, values.get("settings"), method),
                fingerprint=_typed(recorded, "fingerprint", float),
            )
        except TypeError as error:
            raise RunError(
                f"the run {directory}: its configuration is damaged ({error}); restore a copy of it."
            ) from error


@dataclass(frozen=True)
class Best:
    """The best network of a run.

    Attributes:
        entry: The evaluation that it comes from.
        finalist: All final evaluations of its genome; None if it was never among the candidates.
        residuals: Sizes of the residual on the points of the training and on others, if they are known.
    """

    entry: Entry
    finalist: FinalistEntry | None
    residuals: Mapping[str, float] = field(default_factory=dict[str, float])

    def data(self) -> dict[str, Any]:
        """As plain data. Means are those of the final evaluations, of which there may be none."""
        finalist = self.finalist
        return _entry_data(self.entry) | {
            "mean": finalist and finalist.mean,
            "mean_loss": finalist and finite(finalist.mean_loss),
            "mean_error": finalist and finite(finalist.mean_error),
            "evaluations": len(finalist.tasks) if finalist else 0,
            "residuals": {name: finite(size) for name, size in self.residuals.items()},
            "overfitted": bool(deceit(self.residuals)),
        }


@dataclass(frozen=True)
class Summary:
    """A run at a glance.

    Attributes:
        directory: The run's.
        intent: What it is to do.
        state: Whether it runs.
        writer: The process that writes to it now, if one does.
        created: When it began, in seconds since 1970.
        ended: When the last training ended; None before the first.
        counts: Trainings that are over, by status.
        failures: The ways in which trainings failed.
        generations: In figures, and so are the rounds after them.
        best: The best network; None before the first.
        hall_of_fame: The best genomes, best first.
        finalists: The final evaluations by genome, the best mean first.
        events: When it was resumed, stopped and finished.
    """

    directory: Path
    intent: Intent
    state: RunState
    writer: int | None
    created: float
    ended: float | None
    counts: Mapping[str, int]
    failures: Sequence[FailureCount]
    generations: Sequence[GenerationSummary]
    best: Best | None
    hall_of_fame: Sequence[Entry]
    finalists: Sequence[FinalistEntry]
    events: Sequence[Event]

    @property
    def trained(self) -> int:
        """How many trainings are over."""
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """How many of them have no finite loss."""
        return sum(each.failed for each in self.failures)

    @property
    def epochs(self) -> int:
        """Trained in all attempts."""
        return sum(each.epochs for each in self.generations)

    @property
    def seconds(self) -> float:
        """Spent by all workers together."""
        return sum(each.seconds for each in self.generations)

    def data(self) -> dict[str, Any]:
        """As plain data that JSON has words for: what is not a finite number is null."""
        return {
            "run": str(self.directory),
            "problem": self.intent.problem,
            "source": self.intent.source,
            "method": self.intent.method,
            "seed": self.intent.seed,
            "plan": self.intent.plan,
            "state": self.state,
            "started": self.created,
            "ended": self.ended,
            "trained": self.trained,
            "failed": self.failed,
            "epochs": self.epochs,
            "seconds": self.seconds,
            "counts": dict(self.counts),
            "failures": [asdict(each) for each in self.failures],
            "generations": [asdict(each) | {"best": finite(each.best)} for each in self.generations],
            "best": self.best and self.best.data(),
            "hall_of_fame": [_entry_data(entry) for entry in self.hall_of_fame],
            "finalists": [_finalist_data(finalist) for finalist in self.finalists],
            "events": [asdict(each) for each in self.events],
        }


def summarise(directory: Path, top: int = 10) -> Summary:
    """Look at a run.

    Args:
        directory: The run's.
        top: How many genomes to list at most.
    """
    with Reader(directory) as reader:
        about = reader.about()
        latest = reader.latest(1)
        return Summary(
            directory=directory,
            intent=Intent.of(about.config, directory),
            state=reader.state(),
            writer=about.writer,
            created=about.created,
            ended=latest[0].ended if latest else None,
            counts=reader.counts(),
            failures=reader.failures(),
            generations=reader.generations(),
            best=find_best(reader),
            hall_of_fame=reader.hall_of_fame(top),
            finalists=reader.finalists(top),
            events=reader.events(),
        )


def find_best(reader: Reader) -> Best | None:
    """The winner's network of least loss; the winner has the best mean of the final evaluations.

    Before there are any, it is the first of the hall of fame; None if that is empty.
    """
    found = _best_evaluation(reader)
    if found is None:
        return None
    entry, winner = found
    return Best(entry, winner, kept_residuals(reader.directory, entry.task))


def _best_evaluation(reader: Reader) -> tuple[Entry, FinalistEntry | None] | None:
    best = reader.hall_of_fame()
    for winner in reader.finalists(1):
        if math.isfinite(winner.mean_loss):
            # An earlier training of the winner may have come out better than the final ones; it is kept if
            # it is in the hall of fame.
            for entry in best:
                if entry.key == winner.key:
                    return entry, winner
            _, task = min(zip(winner.losses, winner.tasks, strict=True))
            return reader.final_evaluation(task), winner
    return (best[0], None) if best else None


def finite(value: float | None) -> float | None:
    """A number as JSON has it: not-a-number and infinity are null."""
    return value if value is not None and math.isfinite(value) else None


def activation_of(genome: str) -> str:
    """The activation in a genome's text, which it ends with."""
    return genome.partition(" activation=")[2]


def structure_of(genome: str) -> str:
    """What stands before the activation in a genome's text."""
    return genome.partition(" activation=")[0]


def _typed(table: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    """What a table has under a name, of the kind that it must be; None if there is nothing."""
    value = table.get(name)
    if value is not None and not isinstance(value, get_origin(kind) or kind):
        raise TypeError(f"{name} = {value!r}")
    return value


def _schedule(table: Any) -> tuple[tuple[int, int], ...]:
    known: Mapping[str, Any] = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    return tuple(zip(_counts(known.get("populations")), _counts(known.get("epochs")), strict=False))


def _counts(values: Any) -> list[int]:
    listed: list[Any] = cast("list[Any]", values) if isinstance(values, list) else []
    return [value for value in listed if isinstance(value, int)]


def _entry_data(entry: Entry) -> dict[str, Any]:
    return {
        "task": entry.task,
        "generation": entry.generation,
        "genome": entry.genome,
        "activation": activation_of(entry.genome),
        "loss": finite(entry.loss),
        "error": finite(entry.error),
        "errors": {field: finite(error) for field, error in entry.errors.items()},
        "epochs": entry.epochs,
        "seconds": entry.seconds,
        "status": entry.status,
    }


def _finalist_data(finalist: FinalistEntry) -> dict[str, Any]:
    return {
        "genome": finalist.genome,
        "activation": activation_of(finalist.genome),
        "mean": finalist.mean,
        "mean_loss": finite(finalist.mean_loss),
        "mean_error": finite(finalist.mean_error),
        "tasks": list(finalist.tasks),
        "losses": [finite(loss) for loss in finalist.losses],
        "errors": [{field: finite(error) for field, error in each.items()} for each in finalist.errors],
    }
