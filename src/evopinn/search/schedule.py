"""A schedule: the population and the epochs of each generation of evolution."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from evopinn.errors import SearchError
from evopinn.search.selection import elitist_count
from evopinn.search.validation import check_whole
from evopinn.search.workload import Workload, WorkloadStage
from evopinn.search.workplan import MOST_TRAININGS, Workplan


@dataclass(frozen=True)
class Schedule(Workplan):
    """Populations S_g and training epochs E_g by generation.

    With dynamic population size and training epochs (DPSTE) the former fall and the latter rise.

    Attributes:
        populations: S_1 ≥ S_2 ≥ ... ≥ 2. Children come in pairs; an odd population leaves out the last one.
        epochs: E_1 ≤ E_2 ≤ ...

    Examples:
        >>> Schedule((8, 4), (10, 30)).workload(elitists=0.25, candidates=1, evaluations=2).epochs
        290
    """

    table: ClassVar = "schedule"
    wanted: ClassVar = "populations and epochs"

    populations: tuple[int, ...]
    epochs: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse an impossible schedule."""
        if len(self.populations) != len(self.epochs) or not self.populations:
            raise SearchError(
                f"a schedule has {len(self.populations)} populations and {len(self.epochs)} numbers of "
                "epochs; give one of each for every generation."
            )
        populations = tuple(check_whole("a population", size, 2, MOST_TRAININGS) for size in self.populations)
        epochs = tuple(check_whole("a number of epochs", number, 1) for number in self.epochs)
        if sorted(populations, reverse=True) != list(populations):
            raise SearchError(
                f"populations are {_listed(populations)}; they must not grow: put the largest first."
            )
        if sorted(epochs) != list(epochs):
            raise SearchError(f"epochs are {_listed(epochs)}; they must not fall: put the fewest first.")
        object.__setattr__(self, "populations", populations)
        object.__setattr__(self, "epochs", epochs)

    @property
    def generations(self) -> int:
        """The number of generations T."""
        return len(self.populations)

    @property
    def longest(self) -> int:
        """The epochs of the last generation."""
        return self.epochs[-1]

    def workload(
        self,
        elitists: float,
        candidates: int,
        evaluations: int,
        *,
        retrains_best: bool = False,
        continues: bool = False,
        coarseness: Sequence[float] | None = None,
    ) -> Workload:
        """The workload of evolution by this schedule.

        Args:
            elitists: The share R_e that is retrained in each generation after the first.
            candidates: N_c; there are no more than there are networks to choose them from.
            evaluations: N_e, for each candidate.
            retrains_best: Whether each generation's best is trained once more, as in random search, to choose
                the candidates from these.
            continues: Whether elitists continue their trainings, so that only new epochs cost. On other
                points they do so only where epochs rise.
            coarseness: Of each generation's points; 1 by default.
        """
        factors = coarseness or (1.0,) * self.generations
        stages = [WorkloadStage(self.populations[0], self.epochs[0], coarseness=factors[0])]
        efforts = zip(self.epochs, factors, strict=True)
        for size, (before, after) in zip(self.populations[1:], pairwise(efforts), strict=True):
            again = elitist_count(size, elitists)
            goes_on = continues and (after[0] > before[0] or after == before)
            saved = again * before[0] if goes_on else 0
            stages.append(
                WorkloadStage(size + again, after[0], saved=saved, coarseness=after[1], again=again)
            )
        if retrains_best:
            stages.append(WorkloadStage(self.generations, self.longest, kind="bests"))
        final = min(candidates, stages[-1].trainings) * evaluations
        return Workload((*stages, WorkloadStage(final, self.longest, kind="final")))

    def __str__(self) -> str:
        if len(set(zip(self.populations, self.epochs, strict=True))) == 1:
            return (
                f"{_generations(self.generations)} of {self.populations[0]} individuals, "
                f"{self.epochs[0]:,} epochs each"
            )
        return (
            f"{_generations(self.generations)} with populations {_listed(self.populations)} "
            f"and epochs {_listed(self.epochs)}"
        )


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in numbers)


def _generations(number: int) -> str:
    return "1 generation" if number == 1 else f"{number} generations"
