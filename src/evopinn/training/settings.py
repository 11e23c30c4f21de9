"""The settings of a training: defaults and checks, without torch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from evopinn.checks import MAX_COUNT, bounded_whole
from evopinn.errors import TrainingError, UnknownNameError
from evopinn.genome import Genome, PublishedModel, find_published, is_published

T = TypeVar("T")

PAPER_OPTIMIZER = "lbfgs"
"""The optimiser of the paper, which its preset and its published models are trained with."""

DEFAULT_EPOCHS = 1000
"""Epochs of a single training; a search plans those of its own."""


@dataclass(frozen=True)
class TrainingOptions:
    """The options of all trainings of a search, with the defaults of every training: see `train`.

    Attributes:
        optimizer: See `train`.
        precision: See `train`.
        engine: See `train`.
        errors_every: See `train`.
        device: See `train`.
        memory_share: Share of the memory of a GPU, which several trainings may use.
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


def usual_optimiser(genome: object) -> str:
    """The optimiser of a training for which none is named; that of the paper for a published model.

    Args:
        genome: The network as `train` takes it.
    """
    published = is_published(genome) if isinstance(genome, str) else isinstance(genome, PublishedModel)
    return PAPER_OPTIMIZER if published else TrainingOptions.optimizer


def as_genome(genome: Genome | PublishedModel | str, problem: str) -> Genome:
    """The genome itself, or the one of a text or of a published model of a problem's family."""
    if isinstance(genome, str) and is_published(genome):
        genome = find_published(genome, problem.partition(":")[0])
    if isinstance(genome, PublishedModel):
        return genome.genome
    if isinstance(genome, str):
        return Genome.parse(genome)
    if not isinstance(genome, Genome):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TrainingError(
            f"genome is a {type(genome).__name__}; give a Genome or its text, "
            "such as 'layers=3 neurons=20 activation=tanh(x)'."
        )
    return genome


def whole(name: str, value: int, least: int, most: int = MAX_COUNT) -> int:
    """A whole number within limits."""
    return bounded_whole(name, value, least, most, TrainingError)


def positive_seconds(limit: float) -> float:
    """A positive time limit."""
    if not limit > 0:
        raise TrainingError(f"time_limit is {limit!r}; it must be a positive number of seconds.")
    return limit


def lookup(kind: str, name: str, table: Mapping[str, T]) -> T:
    """The entry of a table under a name; the error for an unknown name lists the known ones."""
    if not isinstance(name, str) or name not in table:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UnknownNameError(kind, str(name), table, f"There are {', '.join(table)}.")
    return table[name]
