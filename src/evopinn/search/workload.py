"""The workload of a search: stages one after another, trainings in parallel."""

import math
from dataclasses import dataclass
from statistics import NormalDist

from evopinn.search.task import RoundKind


@dataclass(frozen=True)
class WorkloadStage:
    """Independent trainings of equal epochs, repeated several times one after another.

    Attributes:
        trainings: How many.
        epochs: Of each.
        times: How often.
        saved: Epochs saved because some of the trainings continue earlier ones.
        coarseness: Factor by which each axis has fewer points, so that an epoch costs less.
        again: The number of trainings of elitists, genomes of the generation before.
        kind: What it is.
    """

    trainings: int
    epochs: int
    times: int = 1
    saved: int = 0
    coarseness: float = 1.0
    again: int = 0
    kind: RoundKind = "generation"

    def span(self, workers: int, beside: float, coarse_exponent: float, spread: float) -> float:
        """The duration; see `Workload.span`."""
        weight = self.coarseness**-coarse_exponent
        one = weight * self.epochs + beside
        all_of_them = -(-self.trainings // workers) * one - weight * self.saved / workers
        return self.times * max(all_of_them, longest_of(self.trainings, spread) * one)


@dataclass(frozen=True)
class Workload:
    """The maximum work of a search: stages that each wait for the one before.

    Attributes:
        stages: In order; the last one is the evaluation of the candidates.
    """

    stages: tuple[WorkloadStage, ...]

    @property
    def trainings(self) -> int:
        """The number of trainings."""
        return sum(stage.times * stage.trainings for stage in self.stages)

    @property
    def epochs(self) -> int:
        """The epochs of all trainings."""
        return sum(stage.times * (stage.trainings * stage.epochs - stage.saved) for stage in self.stages)

    @property
    def generations(self) -> int:
        """The number of generations, or of batches of proposals."""
        searching = [stage for stage in self.stages if stage.kind in ("generation", "batch")]
        return sum(stage.times for stage in searching if stage.trainings)

    def span(
        self, workers: int, beside: float = 0.0, coarse_exponent: float = 0.0, spread: float = 0.0
    ) -> float:
        """Epochs one after another: a stage takes ⌈n / workers⌉ of its n trainings, or its longest one.

        Args:
            workers: The number of trainings in parallel.
            beside: The cost of a training in addition to its epochs, in epochs.
            coarse_exponent: p, if an epoch on points that are coarser by c costs c^-p; by default all epochs
                count alike.
            spread: Of the times of trainings: standard deviation of their logarithm.
        """
        return sum(stage.span(workers, beside, coarse_exponent, spread) for stage in self.stages)


def longest_of(trainings: int, spread: float) -> float:
    """The approximate expected duration of the longest of some trainings, in units of their mean.

    Their times are taken to be log-normal. The quantile is Blom's, for the largest of so many normal numbers.
    The time that two workers wait for each other is left out: measured paces of searches include it.

    Examples:
        >>> longest_of(1000, spread=0.0), round(longest_of(16, spread=0.5), 1), longest_of(2, spread=0.5)
        (1.0, 2.1, 1.0)
    """
    if trainings <= 2 or not spread:
        return float(min(trainings, 1))
    largest = NormalDist().inv_cdf((trainings - 0.375) / (trainings + 0.25))
    return max(math.exp(spread * largest - spread**2 / 2), 1.0)
