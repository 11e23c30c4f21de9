"""What is read of a run: an evaluation, a finalist, a generation, an event, each as it is listed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evopinn.lineage import CANDIDATE, PROPOSED, RETRAINED
from evopinn.means import Mean, mean_of

RunState = Literal["running", "finished", "stopped"]
"""A process writes to the run; all that it was to do is done; neither, so that it can be resumed."""

RoundKind = Literal["generation", "batch", "bests", "final"]
"""A generation; a batch of proposals; the generations' bests once more; the final evaluations."""

_ROUNDS: Mapping[str, RoundKind] = {PROPOSED: "batch", RETRAINED: "bests", CANDIDATE: "final"}


@dataclass(frozen=True)
class About:
    """What a run is.

    Attributes:
        config: What it is to do, as TOML.
        versions: Of the packages that it was begun with.
        created: When, in seconds since 1970.
        writer: The process that writes to it now, if one does.
    """

    config: str
    versions: Mapping[str, str]
    created: float
    writer: int | None


@dataclass(frozen=True)
class Entry:
    """An evaluation as it is listed: see `Evaluation`, and `Task` for what belongs to its task."""

    task: int
    attempt: int
    final: bool
    status: str
    loss: float
    errors: Mapping[str, float]
    epochs: int
    seconds: float
    worker: int | None
    started: float
    ended: float
    note: str
    generation: int
    key: str
    coarseness: float
    genome: str
    seed: int = 0
    operations: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()

    @property
    def error(self) -> float | None:
        """The largest of the fields' errors; None where no solution is known."""
        return largest(self.errors.values())

    @property
    def round(self) -> RoundKind:
        """What `generation` is the number of."""
        return round_kind(self.operations)


class Outcome(NamedTuple):
    """How a task came out, in the few columns that charts need.

    Attributes:
        task: Its number.
        generation: The round that it belongs to.
        loss: Infinite or not a number if it failed.
        seconds: How long it took.
        coarseness: By how much fewer its points were along each axis.
    """

    task: int
    generation: int
    loss: float
    seconds: float
    coarseness: float


@dataclass(frozen=True)
class FinalistEntry:
    """A candidate's final evaluations, as far as they are settled.

    Attributes:
        genome: As text.
        key: The genome's.
        tasks: Their numbers.
        losses: Their losses; infinite where one failed.
        errors: Of each, the error of each field.
        mean: What finalists are ranked by.
    """

    genome: str
    key: str
    tasks: tuple[int, ...]
    losses: tuple[float, ...]
    errors: tuple[Mapping[str, float], ...]
    mean: Mean = "arithmetic"

    @property
    def mean_loss(self) -> float:
        """What finalists are ranked by."""
        return mean_of(self.losses, self.mean)

    @property
    def mean_name(self) -> str:
        """What a column of means is called."""
        return "mean" if self.mean == "arithmetic" else f"{self.mean} mean"

    @property
    def which_mean(self) -> str:
        """What is said behind means: nothing if they are arithmetic ones."""
        return "" if self.mean == "arithmetic" else f" ({self.mean})"

    @property
    def mean_error(self) -> float | None:
        """The mean of the largest errors; None if one of them is not known."""
        known = [error for each in self.errors if (error := largest(each.values())) is not None]
        return mean_of(known, self.mean) if len(known) == len(self.errors) else None


@dataclass(frozen=True)
class GenerationSummary:
    """A generation, or another round of trainings, in figures.

    Attributes:
        generation: Its number.
        kind: What it is.
        asked: How many tasks it has.
        settled: How many have a final evaluation.
        failed: How many of these have no finite loss.
        best: The least loss; infinite if there is none.
        epochs: Trained in all attempts.
        seconds: Spent by workers, on all attempts.
    """

    generation: int
    kind: RoundKind
    asked: int
    settled: int
    failed: int
    best: float
    epochs: int
    seconds: float


@dataclass(frozen=True)
class FailureCount:
    """How often trainings failed in one way.

    Attributes:
        status: The way.
        failed: Tasks that it settled, without a finite loss.
        retried: Attempts after which another was made.
        task: The first that it happened to.
        note: What is known of that.
    """

    status: str
    failed: int
    retried: int
    task: int
    note: str


@dataclass(frozen=True)
class Event:
    """Something that happened to the run as a whole.

    Attributes:
        time: When, in seconds since 1970.
        kind: `resumed`, `stopped` or `finished`.
        text: What a person should know, such as that versions of packages are others than before.
    """

    time: float
    kind: str
    text: str


def round_kind(operations: Sequence[str]) -> RoundKind:
    """What kind of round a task belongs to, by the operations that its genome comes from."""
    return _ROUNDS.get(operations[0], "generation") if operations else "generation"


def largest(errors: Iterable[float]) -> float | None:
    """The largest error, not-a-number if one is that; None if there is none."""
    return max(errors, key=lambda error: math.inf if math.isnan(error) else error, default=None)
