"""What a worker does: train one task's genome, and say how it came out."""

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch

from evopinn.genome import Genome
from evopinn.problem import Problem
from evopinn.run.source import ProblemSource
from evopinn.training import Checkpoint, Progress, TrainingResult, load_checkpoint, save_checkpoint, train

EVALUATIONS_PER_EPOCH = 2
SPARE_EVALUATIONS = 20
"""A line search may try twenty steps. A training that needs more than twice as many evaluations as it has
epochs, and these, is ended: a limit in cost, which does not depend on how fast a machine is."""


@dataclass(frozen=True)
class TrainingOptions:
    """How every genome of a search is trained: see `train`."""

    optimizer: str = "lbfgs"
    precision: str = "float64"
    engine: str = "auto"
    errors_every: int = 100


@dataclass(frozen=True)
class Assignment:
    """One training that a worker is given.

    Attributes:
        genome: As text.
        epochs: For how many epochs, those of a checkpoint included.
        seed: Of the initial parameters.
        coarseness: See `Problem.coarsened`.
        start: A checkpoint to go on from.
        keep: Where to write the checkpoint of the end.
        keep_below: Only if the loss is not above this.
    """

    genome: str
    epochs: int
    seed: int
    coarseness: float = 1.0
    start: Path | None = None
    keep: Path | None = None
    keep_below: float = float("inf")


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
        setup: Seconds before the first epoch and after the last.
        epochs: Epochs trained; 0 if the training failed at once.
        seconds: That they took.
    """

    setup: float
    epochs: int
    seconds: float


class Trainer:
    """A worker's function from assignments to results; made once in each worker.

    Args:
        source: Where the problem comes from.
        options: How to train.
    """

    def __init__(self, source: ProblemSource, options: TrainingOptions) -> None:
        torch.set_num_threads(1)
        self._problem = source.load()
        self._coarsened = lru_cache(maxsize=8)(self._problem.coarsened)
        self._options = options

    def __call__(self, work: Assignment | Probe) -> TrainingResult | Timing:
        """Do what is asked."""
        return self._probe(work) if isinstance(work, Probe) else self._train(work)

    def _train(self, work: Assignment) -> TrainingResult:
        def keep(checkpoint: Checkpoint) -> None:
            if work.keep is not None and checkpoint.best_loss <= work.keep_below:
                save_checkpoint(checkpoint, work.keep)

        return train(
            self._coarsened(work.coarseness),
            Genome.parse(work.genome),
            epochs=work.epochs,
            seed=work.seed,
            optimizer=self._options.optimizer,
            max_evaluations=EVALUATIONS_PER_EPOCH * work.epochs + SPARE_EVALUATIONS,
            errors_every=self._options.errors_every,
            precision=self._options.precision,
            engine=self._options.engine,
            start=None if work.start is None else load_checkpoint(work.start),
            on_end=keep,
        )

    def _probe(self, work: Probe) -> Timing:
        began = time.perf_counter()
        moments: list[float] = []

        def mark(_: Progress) -> None:
            moments.append(time.perf_counter())

        train(
            self._problem,
            Genome.parse(work.genome),
            epochs=work.epochs,
            seed=work.seed,
            optimizer=self._options.optimizer,
            max_evaluations=EVALUATIONS_PER_EPOCH * work.epochs + SPARE_EVALUATIONS,
            precision=self._options.precision,
            engine=self._options.engine,
            on_progress=mark,
        )
        total = time.perf_counter() - began
        trained = moments[-1] - moments[0] if moments else 0.0
        return Timing(total - trained, max(len(moments) - 1, 0), trained)


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


def is_outcome(value: object) -> bool:
    """Whether a worker's answer makes sense."""
    return isinstance(value, TrainingResult | Timing)
