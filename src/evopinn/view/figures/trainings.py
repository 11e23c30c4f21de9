"""The trainings of a run as columns of numbers, fast for a hundred thousand of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evopinn.errors import FigureError
from evopinn.run.run_result import RunResult
from evopinn.store.reader import Reader
from evopinn.store.records import RoundKind

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trainings:
    """The settled tasks of a run, in order, as columns.

    Attributes:
        tasks: Their numbers.
        generations: The rounds that they belong to.
        losses: Their losses; infinite if a training failed.
        seconds: Their durations.
        coarseness: Factors by which axes had fewer points; only losses with equal factors compare.
        kinds: The kinds of the rounds, by number.
    """

    tasks: Whole
    generations: Whole
    losses: Floats
    seconds: Floats
    coarseness: Floats
    kinds: Mapping[int, RoundKind]

    @classmethod
    def of(cls, run: RunResult) -> Self:
        """The trainings of a run; refuse a run without any."""
        with Reader(run.directory) as reader:
            kinds: dict[int, RoundKind] = {each.generation: each.kind for each in reader.generations()}
            outcomes = reader.settled_tasks()
        if not outcomes:
            raise FigureError(f"the run {run.directory} has no finished training yet.")
        tasks, generations, losses, seconds, coarseness = zip(*outcomes, strict=True)
        lost = np.array(losses, dtype=np.float64)
        return cls(
            np.array(tasks, dtype=np.int64),
            np.array(generations, dtype=np.int64),
            np.where(np.isnan(lost), np.inf, lost),
            np.array(seconds, dtype=np.float64),
            np.array(coarseness, dtype=np.float64),
            kinds,
        )

    def where(self, mask: NDArray[np.bool_]) -> "Trainings":
        """Some of them."""
        return Trainings(
            self.tasks[mask],
            self.generations[mask],
            self.losses[mask],
            self.seconds[mask],
            self.coarseness[mask],
            self.kinds,
        )

    @property
    def succeeded(self) -> "Trainings":
        """Those with a finite loss above zero, which have a place on a logarithmic axis."""
        return self.where(np.isfinite(self.losses) & (self.losses > 0))

    def of_kinds(self, *kinds: RoundKind) -> "Trainings":
        """Those of rounds of some kinds."""
        rounds = [number for number, kind in self.kinds.items() if kind in kinds]
        return self.where(np.isin(self.generations, rounds))
