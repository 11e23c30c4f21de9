"""Evaluations: the assignments of workers, their trainings, and their results."""

import math
import pickle
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from evopinn.atomic_write import atomic_write
from evopinn.errors import RunError, StoredModelError
from evopinn.genome import Genome
from evopinn.problem import Problem
from evopinn.training import (
    Checkpoint,
    Progress,
    TrainingOptions,
    TrainingResult,
    load_checkpoint,
    save_checkpoint,
    spends_by_cost,
    train,
)
from evopinn.workers.problem_source import ProblemSource, same_fingerprint

EVALUATIONS_PER_EPOCH = 2
SPARE_EVALUATIONS = 20
"""A line search may try twenty steps. A training ends when it has used twice as many loss evaluations as it
has epochs, plus these: a limit that does not depend on how fast a machine is."""

TYPICAL_EPOCHS = 100
"""Epochs of an ordinary training in a search. A probe is the beginning of such a training, because the engine
is chosen by the length of a training and a short one might get another engine."""

_LEAST_STEPS = 2
"""Steps that a probe times at least; one step of Levenberg-Marquardt may count as many epochs."""

_LEAST_SECONDS = 0.5
"""Seconds that a probe times at least, unless half of a typical training takes less: the first few epochs
say little about later ones."""


@dataclass(frozen=True)
class Assignment:
    """One training for a worker.

    Attributes:
        genome: As text.
        epochs: How many epochs, including those of the training that it continues.
        seed: Of the initial parameters.
        coarseness: See `Problem.coarsened`.
        before: The training that this one continues, then the one which that continued, and so on. Each final
            state is in the file that its `keep` names; repeating the training restores one that is lost.
        keep: Where to save the final state.
        keep_below: Save it only up to this loss.
        state: The contents of a checkpoint file that the worker cannot see: the state that the last of
            `before` continues from or, if there is none, this training itself.
        carry: Whether to return the final state with the result.
    """

    genome: str
    epochs: int
    seed: int
    coarseness: float = 1.0
    before: "tuple[Assignment, ...]" = ()
    keep: Path | None = None
    keep_below: float = float("inf")
    state: bytes | None = None
    carry: bool = False


@dataclass(frozen=True)
class Probe:
    """A short training, done only to be timed."""

    genome: str
    epochs: int
    seed: int


@dataclass(frozen=True)
class ProbeTiming:
    """How long a probe took.

    Attributes:
        setup: Seconds before the first epoch that was timed and after the last.
        epochs: How many epochs were timed; 0 if the training failed at once.
        seconds: How long they took.
    """

    setup: float
    epochs: int
    seconds: float


@dataclass(frozen=True)
class ResultWithState:
    """A training's result and its final state, as the contents of a checkpoint file."""

    result: TrainingResult
    state: bytes


@dataclass(frozen=True)
class StorageFailure:
    """A training's state could not be saved or read; the genome is not to blame."""

    text: str


class Trainer:
    """The function from assignments to results; each worker makes one.

    Args:
        source: Where the problem comes from.
        options: How to train.
        expected: The fingerprint that the problem must have, since its file may change before a late worker
            starts.
    """

    def __init__(
        self, source: ProblemSource, options: TrainingOptions, expected: float | None = None
    ) -> None:
        torch.set_num_threads(1)
        if torch.device(options.device).type == "cuda":
            torch.cuda.set_per_process_memory_fraction(options.memory_share)  # pyright: ignore[reportUnknownMemberType]
        self._problem = source.problem
        if expected is not None and not same_fingerprint(source.fingerprint, expected):
            raise RunError(
                f"the problem {self._problem.name} has changed during the run: it now produces different "
                "losses; restore it and resume the run, or start another run."
            )
        self._coarsened = lru_cache(maxsize=8)(self._problem.coarsened)
        self._options = options

    def __call__(
        self, work: Assignment | Probe
    ) -> TrainingResult | ResultWithState | ProbeTiming | StorageFailure:
        """Do an assignment or a probe."""
        return self._probe(work) if isinstance(work, Probe) else self._train(work)

    def _train(self, work: Assignment) -> TrainingResult | ResultWithState | StorageFailure:
        try:
            carried = None if work.state is None else _from_bytes(work.state)
        except (OSError, StoredModelError) as error:
            return StorageFailure(f"the state that came with a training could not be read: {error}.")
        ended: list[Checkpoint] = []
        wanted = work.keep is not None or work.carry
        result = self._trained(work, self._state(work, carried), on_end=ended.append if wanted else None)
        # An error below is the disk's fault; one before it was the problem's.
        try:
            for checkpoint in ended:
                if checkpoint.best_loss > work.keep_below:
                    continue
                if work.keep is not None:
                    save_checkpoint(checkpoint, work.keep)
                if work.carry:
                    return ResultWithState(result, _to_bytes(checkpoint))
        except (OSError, StoredModelError) as error:
            return StorageFailure(str(error))
        return result

    def _state(self, work: Assignment, carried: Checkpoint | None) -> Checkpoint | None:
        """The state that a training continues from, computed again if its file is lost or damaged."""
        ended: list[Checkpoint] = [] if carried is None else [carried]
        lost: list[Assignment] = []
        for before in work.before:
            if kept := _saved_state(before):
                ended.append(kept)
                break
            lost.append(before)
        for before in reversed(lost):
            self._trained(before, ended[-1] if ended else None, on_end=ended.append)
        return ended[-1] if ended else None

    def _probe(self, work: Probe) -> ProbeTiming:
        started = time.perf_counter()
        marks: list[tuple[int, float]] = []

        def mark(progress: Progress) -> None:
            marks.append((progress.epoch, time.perf_counter()))
            if len(marks) <= 1 + _LEAST_STEPS:
                return
            epochs, seconds = marks[-1][0] - marks[1][0], marks[-1][1] - marks[1][1]
            if epochs >= work.epochs and (seconds >= _LEAST_SECONDS or 2 * epochs >= TYPICAL_EPOCHS):
                raise KeyboardInterrupt  # ends the training with a result

        # Longer than the probe, since errors are measured before the last epoch is reported.
        epochs = max(TYPICAL_EPOCHS, work.epochs + 2)
        self._trained(Assignment(work.genome, epochs, work.seed), None, on_progress=mark)
        total = time.perf_counter() - started
        if not marks:
            return ProbeTiming(total, 0, 0.0)
        # The first step also compiles kernels and touches memory for the first time; it may be the only one.
        (first, since), (last, until) = marks[1 if len(marks) > 2 else 0], marks[-1]
        return ProbeTiming(total - (until - since), last - first, until - since)

    def _most_evaluations(self, epochs: int) -> int | None:
        if spends_by_cost(self._options.optimizer):
            return None
        return EVALUATIONS_PER_EPOCH * epochs + SPARE_EVALUATIONS

    def _trained(
        self,
        work: Assignment,
        start: Checkpoint | None,
        on_end: Callable[[Checkpoint], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> TrainingResult:
        return train(
            self._coarsened(work.coarseness * self._options.coarseness),
            Genome.parse(work.genome),
            epochs=work.epochs,
            seed=work.seed,
            optimizer=self._options.optimizer,
            max_evaluations=self._most_evaluations(work.epochs),
            errors_every=self._options.errors_every,
            precision=self._options.precision,
            engine=self._options.engine,
            device=self._options.device,
            start=start,
            on_end=on_end,
            on_progress=on_progress,
            on_warning=None,  # said once for the whole run
        )


def _saved_state(work: Assignment) -> Checkpoint | None:
    """The final state of a training, if it can be read."""
    try:
        return None if work.keep is None else load_checkpoint(work.keep)
    except (OSError, StoredModelError):
        return None


def _to_bytes(checkpoint: Checkpoint) -> bytes:
    """The contents of a checkpoint's file."""
    with tempfile.TemporaryDirectory(prefix="evopinn-") as place:
        path = Path(place) / "state.safetensors"
        save_checkpoint(checkpoint, path)
        return path.read_bytes()


def _from_bytes(contents: bytes) -> Checkpoint:
    with tempfile.TemporaryDirectory(prefix="evopinn-") as place:
        path = Path(place) / "state.safetensors"
        path.write_bytes(contents)
        return load_checkpoint(path)


def check_options(problem: Problem, options: TrainingOptions) -> None:
    """Refuse options that a training would refuse, by a training of no epochs."""
    train(
        problem,
        "layers=2 neurons=1 activation=x",
        epochs=0,
        optimizer=options.optimizer,
        precision=options.precision,
        engine=options.engine,
        errors_every=options.errors_every,
        on_warning=None,
    )


def is_valid_result(work: object, value: object) -> bool:
    """Whether a worker's answer is a valid result of an assignment or a probe."""
    match work, value:
        case Probe(), ProbeTiming():
            return True
        case Assignment(), TrainingResult():
            return (
                value.genome.text == work.genome
                and value.seed == work.seed
                and (value.epochs <= work.epochs or spends_by_cost(value.optimizer))
                and value.theta.shape == (value.layout.size,)
                and (not math.isfinite(value.loss) or bool(value.theta.isfinite().all()))
            )
        case Assignment(), StorageFailure():
            return True
        case _:
            return False


def packed_work(work: Any) -> bytes:
    """An assignment packed for a node that does not see the run's directory.

    It carries the state that it continues from instead of the name of a file, which may be another file on
    another machine.
    """
    if isinstance(work, Assignment):
        lost, state = _latest_state(work.before)
        before = tuple(replace(each, keep=None) for each in lost)
        work = replace(work, before=before, keep=None, carry=work.keep is not None, state=state)
    return pickle.dumps(work, pickle.HIGHEST_PROTOCOL)


def unpacked_result(work: Any, packed: bytes) -> Any:
    """The result of an assignment, checked; a state that came with it is saved.

    Raises:
        ValueError: It cannot be a result of this assignment.
    """
    try:
        value = pickle.loads(packed)
    except Exception as error:  # bytes that are no pickle can raise anything
        raise ValueError(f"a result could not be read: {type(error).__name__}: {error}") from error
    result = value.result if isinstance(value, ResultWithState) else value
    if not is_valid_result(work, result):
        raise ValueError(f"a result that makes no sense: {result!r:.200}")
    if isinstance(value, ResultWithState) and isinstance(work, Assignment) and work.keep is not None:
        return _written(value, work.keep)
    return result


def _written(kept: ResultWithState, path: Path) -> Any:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, lambda temporary: temporary.write_bytes(kept.state))
    except OSError as error:
        return StorageFailure(f"the checkpoint could not be saved as {path}: {error}.")
    return kept.result


def _latest_state(before: tuple[Assignment, ...]) -> tuple[tuple[Assignment, ...], bytes | None]:
    """The trainings whose states cannot be read, and the latest state before them that can."""
    for index, each in enumerate(before):
        if each.keep is None:
            continue
        try:
            load_checkpoint(each.keep)  # which tells a damaged file
            return before[:index], each.keep.read_bytes()
        except (OSError, StoredModelError):
            continue
    return before, None
