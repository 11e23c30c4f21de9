"""What a worker does: train one task's genome, and say how it came out."""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import torch

from evopinn.errors import RunError, StoredModelError
from evopinn.genome import Genome
from evopinn.problem import Problem
from evopinn.run.source import ProblemSource, fingerprint, same_fingerprint
from evopinn.training import (
    Checkpoint,
    Progress,
    TrainingResult,
    load_checkpoint,
    save_checkpoint,
    spends_by_cost,
    train,
)

EVALUATIONS_PER_EPOCH = 2
SPARE_EVALUATIONS = 20
"""A line search may try twenty steps. A training that needs more than twice as many evaluations as it has
epochs, and these, is ended: a limit in cost, which does not depend on how fast a machine is."""

TYPICAL_EPOCHS = 100
"""What a training of a search has, more or less. A probe is the beginning of such a one: the engine is chosen
by how long a training will be, and a short one might have another."""

_LEAST_STEPS = 2
"""That a probe times: a step of Levenberg-Marquardt may have many epochs."""

_LEAST_SECONDS = 0.5
"""That it times, unless half of a typical training's epochs take less: the first few epochs of a training are
no measure of the later ones."""


@dataclass(frozen=True)
class TrainingOptions:
    """How every genome of a search is trained: see `train`.

    Attributes:
        optimizer: See `train`, as for those that follow.
        precision: Likewise.
        engine: Likewise.
        errors_every: Likewise.
        device: Likewise.
        memory_share: Of the device's memory, if that is a GPU: several trainings may share it.
        coarseness: Factor by which each axis has fewer points in all trainings, whatever an assignment says.
    """

    optimizer: str = "lm"
    precision: str = "float64"
    engine: str = "auto"
    errors_every: int = 100
    device: str = "cpu"
    memory_share: float = 1.0
    coarseness: float = 1.0

    def on_gpu(self, gpus: float) -> "TrainingOptions":
        """The same on the GPU that a worker sees, or on its share of one."""
        return replace(self, device="cuda", memory_share=min(gpus, 1.0)) if gpus else self


@dataclass(frozen=True)
class Assignment:
    """One training that a worker is given.

    Attributes:
        genome: As text.
        epochs: For how many epochs, those of a checkpoint included.
        seed: Of the initial parameters.
        coarseness: See `Problem.coarsened`.
        before: The training to go on from, then the one that this went on from, and so on. Their states are
            where they were to be kept; one that is lost is the same again after the same training.
        keep: Where to write the checkpoint of the end.
        keep_below: Only if the loss is not above this.
        state: What the last of `before` goes on from, or this training itself if there is none: the contents
            of a file that the worker does not see.
        carry: Whether the state of the end is to come back with the result.
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
    """A short training that is only timed."""

    genome: str
    epochs: int
    seed: int


@dataclass(frozen=True)
class Timing:
    """How long a probe took.

    Attributes:
        setup: Seconds before the first epoch that is timed and after the last.
        epochs: Epochs that are timed; 0 if the training failed at once.
        seconds: That they took.
    """

    setup: float
    epochs: int
    seconds: float


@dataclass(frozen=True)
class Kept:
    """A training's result with the state of its end, as the contents of a file."""

    result: TrainingResult
    state: bytes


@dataclass(frozen=True)
class Trouble:
    """What kept a training's state from being kept: no fault of its genome."""

    text: str


class Trainer:
    """A worker's function from assignments to results; made once in each worker.

    Args:
        source: Where the problem comes from.
        options: How to train.
        expected: The fingerprint that the problem must have: a worker that is started late may find another
            problem in the file than those before it.
    """

    def __init__(
        self, source: ProblemSource, options: TrainingOptions, expected: float | None = None
    ) -> None:
        torch.set_num_threads(1)
        if torch.device(options.device).type == "cuda":
            torch.cuda.set_per_process_memory_fraction(options.memory_share)  # pyright: ignore[reportUnknownMemberType]
        self._problem = source.load()
        if expected is not None and not same_fingerprint(fingerprint(self._problem), expected):
            raise RunError(
                f"the problem {self._problem.name} has changed while the run went on: its losses are others; "
                "put it back as it was and resume the run, or begin another."
            )
        self._coarsened = lru_cache(maxsize=8)(self._problem.coarsened)
        self._options = options

    def __call__(self, work: Assignment | Probe) -> TrainingResult | Kept | Timing | Trouble:
        """Do what is asked."""
        return self._probe(work) if isinstance(work, Probe) else self._train(work)

    def _train(self, work: Assignment) -> TrainingResult | Kept | Trouble:
        try:
            carried = None if work.state is None else _from_bytes(work.state)
        except (OSError, StoredModelError) as error:
            return Trouble(f"a state that was sent could not be unpacked: {error}.")
        ended: list[Checkpoint] = []
        wanted = work.keep is not None or work.carry
        result = self._trained(work, self._state(work, carried), on_end=ended.append if wanted else None)
        # Only now: what is raised in here is the disk's fault, what was raised before is the problem's.
        try:
            for checkpoint in ended:
                if checkpoint.best_loss > work.keep_below:
                    continue
                if work.keep is not None:
                    save_checkpoint(checkpoint, work.keep)
                if work.carry:
                    return Kept(result, _to_bytes(checkpoint))
        except (OSError, StoredModelError) as error:
            return Trouble(str(error))
        return result

    def _state(self, work: Assignment, carried: Checkpoint | None) -> Checkpoint | None:
        """What a training goes on from: as it was kept or, if that is missing or damaged, trained again."""
        ended: list[Checkpoint] = [] if carried is None else [carried]
        lost: list[Assignment] = []
        for before in work.before:
            if kept := _kept(before):
                ended.append(kept)
                break
            lost.append(before)
        for before in reversed(lost):
            self._trained(before, ended[-1] if ended else None, on_end=ended.append)
        return ended[-1] if ended else None

    def _probe(self, work: Probe) -> Timing:
        began = time.perf_counter()
        marks: list[tuple[int, float]] = []

        def mark(progress: Progress) -> None:
            marks.append((progress.epoch, time.perf_counter()))
            if len(marks) <= 1 + _LEAST_STEPS:
                return
            epochs, seconds = marks[-1][0] - marks[1][0], marks[-1][1] - marks[1][1]
            if epochs >= work.epochs and (seconds >= _LEAST_SECONDS or 2 * epochs >= TYPICAL_EPOCHS):
                raise KeyboardInterrupt  # which ends a training like any other

        # One that is longer than the probe: errors are measured before the last epoch is reported.
        epochs = max(TYPICAL_EPOCHS, work.epochs + 2)
        self._trained(Assignment(work.genome, epochs, work.seed), None, on_progress=mark)
        total = time.perf_counter() - began
        if not marks:
            return Timing(total, 0, 0.0)
        # The first step compiles what it needs and is the first to touch its memory; there may be no other.
        (first, since), (last, until) = marks[1 if len(marks) > 2 else 0], marks[-1]
        return Timing(total - (until - since), last - first, until - since)

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
        )


def _kept(work: Assignment) -> Checkpoint | None:
    """The state that a training left, if it can be read."""
    try:
        return None if work.keep is None else load_checkpoint(work.keep)
    except (OSError, StoredModelError):
        return None


def _to_bytes(checkpoint: Checkpoint) -> bytes:
    """What a file of a state has in it."""
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
    """Refuse options that no training would take, by a training of no epochs."""
    train(
        problem,
        "layers=2 neurons=1 activation=x",
        epochs=0,
        optimizer=options.optimizer,
        precision=options.precision,
        engine=options.engine,
        errors_every=options.errors_every,
    )


def is_outcome(work: object, value: object) -> bool:
    """Whether a worker's answer to an assignment or a probe makes sense."""
    match work, value:
        case Probe(), Timing():
            return True
        case Assignment(), TrainingResult():
            return (
                value.genome.text == work.genome
                and value.seed == work.seed
                and (value.epochs <= work.epochs or spends_by_cost(value.optimizer))
                and value.theta.shape == (value.layout.size,)
                and (not math.isfinite(value.loss) or bool(value.theta.isfinite().all()))
            )
        case Assignment(), Trouble():
            return True
        case _:
            return False
