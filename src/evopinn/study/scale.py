"""How a study of the paper is made smaller: one number, and what it does to each part."""

from dataclasses import dataclass

from evopinn.errors import SearchError
from evopinn.searchers import Schedule, Trials

EPOCHS, POPULATIONS, AXES, REPEATS = 0.5, 0.35, 0.075, 0.25
"""Exponents: with a scale s, trainings have s^0.5 of the paper's epochs, a generation has s^0.35 as many of
them, each axis s^0.075 as many points, and everything is repeated s^0.25 times as often. On two axes a
generation thus costs s times as much as the paper's; final evaluations stay as many as they are."""

LEAST_POPULATION, LEAST_EPOCHS, LEAST_TRIALS = 4, 10, 2


@dataclass(frozen=True)
class Scale:
    """A share of the paper's effort.

    Attributes:
        value: s; 1 is the paper's full schedule.

    Examples:
        >>> Scale(0.01).epochs(5000), Scale(0.01).trials(10), round(Scale(0.01).coarseness, 3)
        (500, 3, 1.413)
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        if not 0 < self.value <= 1:
            raise SearchError(f"the scale is {self.value:g}; give a number above 0 and up to 1, the paper's.")

    @property
    def coarseness(self) -> float:
        """Factor by which each axis has fewer points."""
        return self.value**-AXES

    def epochs(self, number: int) -> int:
        """Epochs of a training."""
        return min(number, max(LEAST_EPOCHS, round(number * self.value**EPOCHS)))

    def population(self, number: int) -> int:
        """Individuals of a generation, an even number; or proposals."""
        scaled = 2 * round(number * self.value**POPULATIONS / 2)
        return number if self.value == 1 else min(number, max(LEAST_POPULATION, scaled))

    def trials(self, number: int) -> int:
        """Trainings of a model, each from another seed."""
        return min(number, max(LEAST_TRIALS, round(number * self.value**REPEATS)))

    def searches(self, number: int) -> int:
        """Independent searches by a method."""
        return max(1, round(number * self.value**REPEATS))

    def schedule(self, schedule: Schedule) -> Schedule:
        """A schedule of evolution."""
        return Schedule(
            tuple(map(self.population, schedule.populations)), tuple(map(self.epochs, schedule.epochs))
        )

    def trial_layout(self, trials: Trials) -> Trials:
        """Trials of Bayesian optimisation."""
        return Trials(self.population(trials.evaluations), self.epochs(trials.epochs))

    def describe(self) -> str:
        """What it does, in words."""
        if self.value == 1:
            return "scale 1: the paper's schedules, points and numbers of trials."
        s = self.value
        return (
            f"scale {s:g}: {s**EPOCHS:.3g} of the paper's epochs, {s**POPULATIONS:.3g} of its individuals, "
            f"{s**AXES:.3g} of its points along each axis, {s**REPEATS:.3g} of its repetitions."
        )
