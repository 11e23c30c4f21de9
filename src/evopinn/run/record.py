"""The record of a run, from which every view, list and program is made. It needs no torch."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evopinn.problem.scales import UNSCALED
from evopinn.run.architecture import Architecture, activation_text, start_text
from evopinn.run.goal import Goal
from evopinn.run.planned_rounds import ScheduledRound, scheduled_rounds
from evopinn.run.wording import why_no_network
from evopinn.store.kept_networks import KeptNetwork, kept_network, kept_weights
from evopinn.store.reader import Reader
from evopinn.store.records import (
    About,
    Entry,
    Event,
    FailureCount,
    FinalistEntry,
    GenerationSummary,
    RunState,
)
from evopinn.training.warnings import is_overfitted, overfitting_warning


@dataclass(frozen=True)
class BestNetwork:
    """The most accurate network of a run.

    Attributes:
        entry: The evaluation that it comes from.
        finalist: All final evaluations of its genome; None if it was never among the candidates.
        residuals: Sizes of the residual on training points and on held-out points, if known.
    """

    entry: Entry
    finalist: FinalistEntry | None
    residuals: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def loss(self) -> float:
        """The mean over the final evaluations of its genome; before there are any, its own loss."""
        return self.entry.loss if self.finalist is None else self.finalist.mean_loss

    @property
    def error(self) -> float | None:
        """The same for the largest error; None where no solution is known."""
        return self.entry.error if self.finalist is None else self.finalist.mean_error

    @property
    def trainings(self) -> int:
        """The number of trainings behind the means of loss and error."""
        return 1 if self.finalist is None else len(self.finalist.tasks)

    @property
    def warning(self) -> str:
        """A warning if the network overfits its training points; empty if it does not."""
        return overfitting_warning(self.residuals)

    def data(self) -> dict[str, Any]:
        """The network as plain data, with the means of the final evaluations, if there are any."""
        finalist = self.finalist
        return _entry_data(self.entry) | {
            "mean": finalist and finalist.mean,
            "mean_loss": finalist and finite(finalist.mean_loss),
            "mean_error": finalist and finite(finalist.mean_error),
            "evaluations": len(finalist.tasks) if finalist else 0,
            "residuals": {name: finite(size) for name, size in self.residuals.items()},
            "overfitted": is_overfitted(self.residuals),
        }


@dataclass(frozen=True)
class RankedNetwork:
    """A network of the hall of fame.

    Attributes:
        rank: From 1.
        entry: The evaluation that it comes from.
        architecture: Its genome.
        is_kept: Whether the run has kept its weights; None if that was not looked up.
    """

    rank: int
    entry: Entry
    architecture: Architecture
    is_kept: bool | None = None


@dataclass(frozen=True)
class RankedFinalist:
    """A genome with final evaluations.

    Attributes:
        rank: From 1.
        entry: Its final evaluations.
        architecture: The genome.
    """

    rank: int
    entry: FinalistEntry
    architecture: Architecture


@dataclass(frozen=True)
class RunRound:
    """A generation, or a round after them.

    Attributes:
        summary: In figures.
        epochs: Epochs of each of its trainings, if known.
    """

    summary: GenerationSummary
    epochs: int | None


@dataclass(frozen=True)
class RunRecord:
    """A run at one moment; slower parts are read on first use.

    Attributes:
        directory: The run's.
        goal: The goal of the run.
        about: Its configuration as text, the versions and time of its start, and its writer.
        state: Whether it runs.
        ended: When the last training ended; None before the first.
        counts: Finished trainings, by status.
        failures: The kinds of failure.
        generations: The figures of the generations and of the rounds after them.
        best: The most accurate network; None before the first.
        best_entries: The best evaluations of the best genomes, best first.
        finalist_entries: The final evaluations by genome, the best mean first.
        events: The times at which it was resumed, stopped and finished.
        problem_sizes: The numbers of coordinates and fields of its problem, if known.
    """

    directory: Path
    goal: Goal
    about: About
    state: RunState
    ended: float | None
    counts: Mapping[str, int]
    failures: Sequence[FailureCount]
    generations: Sequence[GenerationSummary]
    best: BestNetwork | None
    best_entries: Sequence[Entry]
    finalist_entries: Sequence[FinalistEntry]
    events: Sequence[Event]
    problem_sizes: tuple[int, int] | None = None

    @classmethod
    def read(cls, directory: Path, top: int = 10) -> "RunRecord":
        """Read a run.

        Args:
            directory: The run's.
            top: Maximum number of genomes to list.
        """
        with Reader(directory) as reader:
            about = reader.about()
            latest = reader.latest(1)
            return cls(
                directory=directory,
                goal=Goal.of(about.config, directory),
                about=about,
                state=reader.state(),
                ended=latest[0].ended if latest else None,
                counts=reader.counts(),
                failures=reader.failures(),
                generations=reader.generations(),
                best=find_best(reader),
                best_entries=reader.hall_of_fame(top),
                finalist_entries=reader.finalists(top),
                events=reader.events(),
            )

    @property
    def name(self) -> str:
        """The name of its directory."""
        return self.directory.resolve().name

    @property
    def trained(self) -> int:
        """The number of finished trainings."""
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """The number of these without a finite loss."""
        return sum(each.failed for each in self.failures)

    @property
    def epochs(self) -> int:
        """Epochs trained in all attempts."""
        return sum(each.epochs for each in self.generations)

    @property
    def seconds(self) -> float:
        """Seconds spent by all workers together."""
        return sum(each.seconds for each in self.generations)

    @property
    def elapsed(self) -> float | None:
        """Seconds from its start to its last training; None before the first."""
        return None if self.ended is None else max(0.0, self.ended - self.about.created)

    @property
    def was_killed(self) -> bool:
        """Whether it stopped without recording so."""
        told = bool(self.events) and self.events[-1].kind == "stopped"
        return self.state == "stopped" and not told

    @property
    def pauses(self) -> int:
        """The number of times that it was resumed."""
        return sum(event.kind == "resumed" for event in self.events)

    @property
    def recommended(self) -> RankedFinalist | None:
        """The architecture with the best mean over its final evaluations; None before there is one."""
        first = next(iter(self.finalists), None)
        return first if first is not None and math.isfinite(first.entry.mean_loss) else None

    @cached_property
    def best_architecture(self) -> Architecture | None:
        """The genome of the most accurate network: the recommended architecture, once there is one."""
        return Architecture(self.best.entry.genome, self.sizes) if self.best else None

    @property
    def why_no_network(self) -> str:
        """The reason why there is no network, and advice."""
        return why_no_network(self.directory, self.state, self.failures)

    @cached_property
    def kept(self) -> frozenset[int]:
        """The tasks with kept networks."""
        return kept_weights(self.directory)

    @cached_property
    def kept_best(self) -> KeptNetwork:
        """The metadata of the most accurate network that is kept."""
        tasks = [self.best.entry.task] if self.best else []
        tasks += [each.task for each in self.best_entries]
        looks = (kept_network(self.directory, task) for task in tasks if task in self.kept)
        return next((look for look in looks if look.fields), KeptNetwork())

    @cached_property
    def sizes(self) -> tuple[int, int] | None:
        """The numbers of inputs and outputs of its networks, if a kept network or the problem has them."""
        look = self.kept_best
        return (len(look.coordinates), len(look.fields)) if look.fields else self.problem_sizes

    @cached_property
    def hall_of_fame(self) -> Sequence[RankedNetwork]:
        """The best single training of each of the best genomes, best first."""
        return [
            RankedNetwork(rank, each, Architecture(each.genome, self.sizes), each.task in self.kept)
            for rank, each in enumerate(self.best_entries, start=1)
        ]

    @cached_property
    def finalists(self) -> Sequence[RankedFinalist]:
        """The genomes with final evaluations, the best mean first."""
        return [
            RankedFinalist(rank, each, Architecture(each.genome, self.sizes))
            for rank, each in enumerate(self.finalist_entries, start=1)
        ]

    @cached_property
    def rounds(self) -> Sequence[RunRound]:
        """The generations and the rounds after them, with the epochs of their trainings."""
        return [RunRound(each, self.round_epochs.get(each.generation)) for each in self.generations]

    @cached_property
    def round_epochs(self) -> Mapping[int, int]:
        """The epochs of a training of each round."""
        with Reader(self.directory) as reader:
            return reader.efforts()

    @property
    def schedule(self) -> Sequence[ScheduledRound]:
        """The started rounds, and those that are still planned."""
        finished = self.state == "finished"
        return scheduled_rounds(self.generations, self.round_epochs, self.goal.rounds, finished=finished)

    @property
    def has_batches(self) -> bool:
        """Whether its rounds are batches of proposals."""
        return any(each.kind == "batch" for each in self.generations)

    def data(self) -> dict[str, Any]:
        """The record as plain data for JSON: numbers that are not finite are null."""
        return {
            "run": str(self.directory),
            "problem": self.goal.problem,
            "source": self.goal.source,
            "method": self.goal.method,
            "seed": self.goal.seed,
            "plan": self.goal.plan,
            "warnings": list(self.goal.warnings),
            **({} if self.goal.scales == UNSCALED else {"scales": self.goal.scales.to_json()}),
            "state": self.state,
            "started": self.about.created,
            "ended": self.ended,
            "trained": self.trained,
            "failed": self.failed,
            "epochs": self.epochs,
            "seconds": self.seconds,
            "counts": dict(self.counts),
            "failures": [asdict(each) for each in self.failures],
            "generations": [asdict(each) | {"best": finite(each.best)} for each in self.generations],
            "best": self.best and self.best.data(),
            "hall_of_fame": [_entry_data(entry) for entry in self.best_entries],
            "finalists": [_finalist_data(finalist) for finalist in self.finalist_entries],
            "events": [asdict(each) for each in self.events],
        }


def find_best(reader: Reader) -> BestNetwork | None:
    """The most accurate network: of the recommended architecture's, the one with the least loss.

    Before there are final evaluations, it is the first of the hall of fame; None if that is empty.
    """
    found = _best_evaluation(reader)
    if found is None:
        return None
    entry, winner = found
    return BestNetwork(entry, winner, kept_network(reader.directory, entry.task).residuals)


def _best_evaluation(reader: Reader) -> tuple[Entry, FinalistEntry | None] | None:
    best = reader.hall_of_fame()
    for winner in reader.finalists(1):
        if math.isfinite(winner.mean_loss):
            # An earlier training of the winner may have come out better than the final ones; it is kept if
            # it is in the hall of fame.
            for entry in best:
                if entry.key == winner.key:
                    return entry, winner
            return min(map(reader.final_evaluation, winner.tasks), key=lambda entry: entry.rank), winner
    return (best[0], None) if best else None


def finite(value: float | None) -> float | None:
    """A number for JSON: None, which becomes null, for not-a-number and infinity."""
    return value if value is not None and math.isfinite(value) else None


def _start_data(genome: str) -> dict[str, str]:
    """A start other than the paper's, which a genome does not name either."""
    start = start_text(genome)
    return {"start": start} if start else {}


def _entry_data(entry: Entry) -> dict[str, Any]:
    return {
        "task": entry.task,
        "generation": entry.generation,
        "genome": entry.genome,
        "activation": activation_text(entry.genome),
        **_start_data(entry.genome),
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
        "activation": activation_text(finalist.genome),
        **_start_data(finalist.genome),
        "mean": finalist.mean,
        "mean_loss": finite(finalist.mean_loss),
        "mean_error": finite(finalist.mean_error),
        "tasks": list(finalist.tasks),
        "losses": [finite(loss) for loss in finalist.losses],
        "errors": [{field: finite(error) for field, error in each.items()} for each in finalist.errors],
    }
