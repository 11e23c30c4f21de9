"""What a search asks for, and what it is told: genomes and scores, nothing of how they come about."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evopinn.genome import Genome
from evopinn.means import Mean, mean_of


@dataclass(frozen=True)
class Origin:
    """Where an individual comes from.

    Attributes:
        operations: What was done to get it, in order: ("initial",), ("crossover",), ("insert layer", "change
            node"), ("copy",) if chance changed nothing, ("elitist",), in random search ("survivor",) and
            ("retrained best",), ("proposed",), ("candidate",) for the final evaluations.
        parents: Numbers of the tasks that it descends from.
    """

    operations: tuple[str, ...]
    parents: tuple[int, ...] = ()


@dataclass(frozen=True)
class Task:
    """One training that a search asks for.

    Attributes:
        number: Its number in the run, from 0, in the order of asking.
        generation: The generation or batch, from 1. Random search trains its generations' bests again in one
            more than the last; the final evaluations come in one more still.
        genome: What to train.
        epochs: For how many epochs.
        seed: Of the initial weights.
        origin: Lineage.
        continues: Number of the task whose final state this one may go on from, instead of starting anew.
        coarseness: Factor by which each axis may have fewer points than the problem says; 1 for all points.
    """

    number: int
    generation: int
    genome: Genome
    epochs: int
    seed: int
    origin: Origin
    continues: int | None = None
    coarseness: float = 1.0


@dataclass(frozen=True)
class Score:
    """How a task came out.

    Attributes:
        loss: The least training loss; infinite if the training failed in any way.
    """

    loss: float

    @property
    def fitness(self) -> float:
        """Minus the loss; what is not a number ranks last."""
        return -math.inf if math.isnan(self.loss) else -self.loss


@dataclass(frozen=True)
class Finalist:
    """A candidate after its evaluations from scratch.

    Attributes:
        genome: The candidate.
        tasks: Numbers of its final evaluations.
        losses: Their losses.
        mean: What these come to together.
    """

    genome: Genome
    tasks: tuple[int, ...]
    losses: tuple[float, ...]
    mean: Mean = "arithmetic"

    @property
    def mean_loss(self) -> float:
        """What finalists are ranked by."""
        return mean_of(self.losses, self.mean)


class Searcher(Protocol):
    """A search as a pure function of its seed and of what it is told.

    It knows neither clocks nor files nor processes. Tasks may be told in any order, and the course of the
    search does not depend on it; so a search is resumed by making it again and telling it what was recorded.
    """

    def ask(self) -> Sequence[Task]:
        """All tasks that can be begun now and were not asked for before; none while others must end first."""
        ...

    def tell(self, number: int, score: Score) -> None:
        """How a task came out; each task is told once."""
        ...

    @property
    def finished(self) -> bool:
        """Whether all is asked and told."""
        ...

    @property
    def finalists(self) -> Sequence[Finalist]:
        """The candidates, best mean first, once the search is finished."""
        ...
