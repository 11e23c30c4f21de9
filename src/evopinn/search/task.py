"""Tasks that a search hands out, and scores that it receives: genomes and losses only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from evopinn.genome import Genome
from evopinn.search.means import Mean, mean_of

PROPOSED = "proposed"
"""The origin of proposals of Bayesian optimisation."""

RETRAINED = "retrained best"
"""The origin of the best of a generation of random search, when it is trained again."""

CANDIDATE = "candidate"
"""The origin of the final evaluations."""

RoundKind = Literal["generation", "batch", "bests", "final"]
"""A generation; a batch of proposals; the generations' bests once more; the final evaluations."""


@dataclass(frozen=True)
class Origin:
    """The origin of an individual.

    Attributes:
        operations: The operations that made it, in order: ("initial",), ("crossover",), ("insert layer",
            "change node"), ("copy",) if chance changed nothing, ("elitist",), in random search ("survivor",)
            and ("retrained best",), ("proposed",), ("candidate",) for the final evaluations.
        parents: Numbers of the tasks that it descends from.
    """

    operations: tuple[str, ...]
    parents: tuple[int, ...] = ()


@dataclass(frozen=True)
class Task:
    """One training that a search hands out.

    Attributes:
        number: Its number in the run, from 0, in the order of `ask`.
        generation: The generation or batch, from 1. In random search, the best of all generations are trained
            again in the generation after the last; the final evaluations follow in the next.
        genome: The genome to train.
        epochs: The number of epochs.
        seed: Of the initial weights.
        origin: Lineage.
        continues: Number of the task whose training this one may continue, instead of training from scratch.
        coarseness: Factor by which each axis may have fewer points than in the problem; 1 for all points.
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
    """The score of a task.

    Attributes:
        loss: The least training loss; infinite if the training failed in any way.
    """

    loss: float

    @property
    def ranked_loss(self) -> float:
        """The loss for ranking: infinite, and so last, unless it is a finite number."""
        return self.loss if math.isfinite(self.loss) else math.inf


@dataclass(frozen=True)
class Finalist:
    """A candidate after its evaluations from scratch.

    Attributes:
        genome: The candidate.
        tasks: Numbers of its final evaluations.
        losses: Their losses.
        mean: The kind of mean that combines them.
    """

    genome: Genome
    tasks: tuple[int, ...]
    losses: tuple[float, ...]
    mean: Mean = "arithmetic"

    @property
    def mean_loss(self) -> float:
        """The mean loss that ranks finalists."""
        return mean_of(self.losses, self.mean)


class Searcher(Protocol):
    """A search as a pure function of its seed and of the scores that it receives.

    It knows neither clocks nor files nor processes. Scores may arrive in any order without changing the
    search, so a driver resumes one by making it again and passing it the recorded scores.
    """

    def ask(self) -> Sequence[Task]:
        """All tasks that can start now and were not returned before; none while others must end first."""
        ...

    def tell(self, number: int, score: Score) -> None:
        """Receive the score of a task; each task has one score."""
        ...

    @property
    def finished(self) -> bool:
        """Whether all tasks have their scores."""
        ...

    @property
    def finalists(self) -> Sequence[Finalist]:
        """The candidates, best mean first, once the search is finished."""
        ...
