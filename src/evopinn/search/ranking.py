"""The ranking key, which decides everywhere which of two individuals is better.

Selection, the store's hall of fame, the weights that are kept, checkpoints and views all sort by it.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

from evopinn.search.task import Score


class Rank(NamedTuple):
    """The rank of an individual; the least is the best.

    A store has columns of these names, in which SQL sorts in the same order.

    Attributes:
        coarseness: Losses on all points come before losses on fewer points, which are not comparable.
        loss: The loss, infinite for a failure.
        task: The task number: of equals, the earlier one is better.
    """

    coarseness: float
    loss: float
    task: float

    @classmethod
    def of(cls, score: Score, *, coarseness: float = 1.0, task: int = 0) -> "Rank":
        """The rank of an individual.

        Args:
            score: The score of its training.
            coarseness: Of its points; the same for all within a generation.
            task: Its number. Leave it out where ties are identical or keep their order.
        """
        return cls(coarseness, score.ranked_loss, task)

    @property
    def failed(self) -> bool:
        """Whether the training failed: failures rank behind all others with as many points."""
        return math.isinf(self.loss)


LAST = Rank(math.inf, math.inf, math.inf)
"""The rank behind every individual."""


class _HasMean(Protocol):
    @property
    def mean_loss(self) -> float: ...


F = TypeVar("F", bound=_HasMean)


def best_mean_first(finalists: Iterable[F]) -> list[F]:
    """Candidates by the mean of their final evaluations; ties keep their order."""
    return sorted(finalists, key=lambda finalist: finalist.mean_loss)
