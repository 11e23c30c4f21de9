"""The cost of a search's trainings in a span, which is epochs one after another."""

from dataclasses import dataclass

from evopinn.search.budget import Budget
from evopinn.search.workload import Workload

PAPER_WORK, PAPER_FIRST, PAPER_LAST = 1.04e6, 100, 5000
"""The paper's search on Klein-Gordon: so much work, and epochs from the first generation to the last."""

LEAST_LENGTH = 6
"""The minimum span in trainings of the last generation: many workers make a search wide, not short."""

SPREAD, EVEN_SPREAD = 0.7, 0.2
"""Of the times of trainings in one generation: standard deviation of their logarithm, and where epochs count
cost. In one search each on two workers it was 0.5 to 0.8 and 0.1 to 0.3."""


@dataclass(frozen=True)
class SpanCosts:
    """The costs that count in a span; by default only epochs.

    Attributes:
        workers: How many trainings run side by side.
        beside: The cost of a training in addition to its epochs, in epochs.
        coarse_exponent: How much less an epoch costs on coarser points.
        spread: Of the times of trainings, the longest of which a generation may have to wait for.
    """

    workers: int = 1
    beside: float = 0.0
    coarse_exponent: float = 0.0
    spread: float = 0.0

    @classmethod
    def of_time(cls, budget: Budget, pace: float) -> "SpanCosts":
        """The costs in time, if an epoch on all points takes `pace` seconds."""
        spread = EVEN_SPREAD if budget.even else SPREAD
        return cls(budget.workers, budget.seconds_per_training / pace, budget.coarse_exponent, spread)

    def span(self, workload: Workload) -> float:
        """The span of a workload."""
        return workload.span(self.workers, self.beside, self.coarse_exponent, self.spread)

    def work(self, trainings: int, epochs: float) -> float:
        """The work of trainings in parallel: all workers count until the last of them ends."""
        return -(-trainings // self.workers) * self.workers * epochs


def scaled_epochs(epochs: float, factor: float) -> int:
    """A number of epochs times a factor, at least 1."""
    return max(1, round(factor * epochs))
