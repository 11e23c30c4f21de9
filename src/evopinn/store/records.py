"""Records read from a run: evaluations, finalists, generations, failures and events."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from evopinn.search.means import Mean, mean_of
from evopinn.search.ranking import Rank
from evopinn.search.task import CANDIDATE, PROPOSED, RETRAINED, RoundKind, Score
from evopinn.training import History

RunState = Literal["running", "finished", "stopped"]
"""A process writes to the run; all its work is done; or neither, and it can be resumed."""

_ROUNDS: Mapping[str, RoundKind] = {PROPOSED: "batch", RETRAINED: "bests", CANDIDATE: "final"}


@dataclass(frozen=True)
class About:
    """The description of a run.

    Attributes:
        config: Its configuration, as TOML.
        versions: The versions of the packages with which it started.
        created: When, in seconds since 1970.
        writer: The process that writes to it now, if one does.
    """

    config: str
    versions: Mapping[str, str]
    created: float
    writer: int | None


@dataclass(frozen=True)
class Evaluation:
    """One finished attempt at a task.

    Attributes:
        task: The task's number.
        status: The status of the training, or the reason why it gave no result.
        loss: The least training loss; infinite if it failed.
        started: Start in seconds since 1970.
        ended: End in seconds since 1970.
        errors: The relative L2 error of each field, where a solution is known.
        epochs: The number of trained epochs.
        seconds: The duration.
        worker: Serial number of the worker.
        note: A note for people, such as "cut by wall clock" or the reason of a failure.
        history: The history of the training.
        final: Whether this settles the task; False if the task will be tried again.
    """

    task: int
    status: str
    loss: float
    started: float
    ended: float
    errors: Mapping[str, float] = field(default_factory=dict[str, float])
    epochs: int = 0
    seconds: float = 0.0
    worker: int | None = None
    note: str = ""
    history: History | None = None
    final: bool = True


@dataclass(frozen=True)
class Entry:
    """An evaluation with the columns of its task: see `Evaluation` and `Task`."""

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
    def rank(self) -> Rank:
        """The rank of the evaluation in its run."""
        return Rank.of(Score(self.loss), coarseness=self.coarseness, task=self.task)

    @property
    def round(self) -> RoundKind:
        """The kind of round that `generation` numbers."""
        return round_kind(self.operations)


class SettledTask(NamedTuple):
    """The result of a task, in the few columns that charts need.

    Attributes:
        task: Its number.
        generation: The round that it belongs to.
        loss: Infinite or not a number if it failed.
        seconds: The duration.
        coarseness: The factor by which each axis had fewer points.
    """

    task: int
    generation: int
    loss: float
    seconds: float
    coarseness: float


@dataclass(frozen=True)
class FinalistEntry:
    """A candidate's final evaluations, as far as they have ended.

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
        """The heading of a column of means."""
        return "mean" if self.mean == "arithmetic" else f"{self.mean} mean"

    @property
    def which_mean(self) -> str:
        """The suffix of means in text: empty for arithmetic ones."""
        return "" if self.mean == "arithmetic" else f" ({self.mean})"

    @property
    def mean_error(self) -> float | None:
        """The mean of the largest errors; None if one of them is not known."""
        known = [error for each in self.errors if (error := largest(each.values())) is not None]
        return mean_of(known, self.mean) if len(known) == len(self.errors) else None


@dataclass(frozen=True)
class GenerationSummary:
    """The figures of a generation or another round of trainings.

    Attributes:
        generation: Its number.
        kind: What it is.
        asked: The number of its tasks.
        settled: The number of tasks with a final evaluation.
        failed: The number of these without a finite loss.
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
    """The count of one kind of failure.

    Attributes:
        status: The kind of failure.
        failed: Tasks that it settled, without a finite loss.
        retried: Attempts after which another was made.
        task: The first failed task.
        note: The note of its evaluation.
    """

    status: str
    failed: int
    retried: int
    task: int
    note: str


@dataclass(frozen=True)
class Event:
    """An event of the run as a whole.

    Attributes:
        time: When, in seconds since 1970.
        kind: `resumed`, `stopped` or `finished`.
        text: A note for people, such as changed versions of packages.
    """

    time: float
    kind: str
    text: str


def round_kind(operations: Sequence[str]) -> RoundKind:
    """The kind of round of a task, from the operations that made its genome."""
    return _ROUNDS.get(operations[0], "generation") if operations else "generation"


def largest(errors: Iterable[float]) -> float | None:
    """The largest error, not-a-number if one is that; None if there is none."""
    return max(errors, key=lambda error: math.inf if math.isnan(error) else error, default=None)
