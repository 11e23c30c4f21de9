"""The budget of a search, in one of three units."""

from dataclasses import dataclass

from evopinn.errors import SearchError
from evopinn.search.validation import check_at_least, check_positive, check_whole


@dataclass(frozen=True)
class Budget:
    """The maximum cost of a search: one of seconds, epochs (of all trainings) or trainings.

    Attributes:
        seconds: Predicted time; needs `seconds_per_epoch`.
        epochs: Epochs of all trainings together.
        trainings: Number of trainings, those of elitists and of the final evaluations included.
        seconds_per_epoch: Time of an epoch of a typical genome on one worker.
        seconds_per_training: Time of a training in addition to its epochs.
        workers: How many trainings run side by side.
        spent: Seconds already spent of a budget in seconds, for example on measuring.
        coarse_exponent: p, if an epoch on points that are coarser by c on each axis costs c^-p of one on all.
            On two axes there are c² times fewer points, but part of the cost stays: 1.5 is a judgement.
        even: Whether an epoch costs the same whatever the genome, as it does where epochs count cost.
    """

    seconds: float | None = None
    epochs: int | None = None
    trainings: int | None = None
    seconds_per_epoch: float | None = None
    seconds_per_training: float = 0.0
    workers: int = 1
    spent: float = 0.0
    coarse_exponent: float = 1.5
    even: bool = False

    def __post_init__(self) -> None:
        """Refuse an invalid budget."""
        given = [name for name in ("seconds", "epochs", "trainings") if getattr(self, name) is not None]
        if len(given) != 1:
            raise SearchError(
                f"a budget was given in {' and '.join(given) or 'nothing'}; "
                "give exactly one of seconds, epochs and trainings."
            )
        for name in (given[0], "seconds_per_epoch"):
            if getattr(self, name) is not None:
                check_positive(f"the budget's {name}", getattr(self, name))
        for name in ("seconds_per_training", "spent", "coarse_exponent"):
            check_at_least(f"the budget's {name}", getattr(self, name), 0.0)
        check_whole("workers", self.workers, 1)
        if self.seconds is not None and self.seconds_per_epoch is None:
            raise SearchError("a budget in seconds needs seconds_per_epoch; measure it, or give epochs.")

    def __str__(self) -> str:
        if self.seconds is not None:
            gone = f", of which {spoken_time(self.spent)} are spent," if self.spent else ""
            return f"{spoken_time(self.seconds)}{gone}"
        return f"{self.epochs:,} epochs" if self.epochs is not None else f"{self.trainings:,} trainings"


def spoken_time(seconds: float) -> str:
    """A duration in words: two units at most.

    Examples:
        >>> spoken_time(42), spoken_time(599.6), spoken_time(7500)
        ('42 s', '10 min', '2 h 5 min')
    """
    if seconds < 9.5:
        return f"{seconds:.2g} s"
    whole_seconds = round(seconds)
    minutes, rest = divmod(whole_seconds, 60)
    hours, minutes_left = divmod(round(seconds / 60), 60)
    parts = ((hours, "h"), (minutes_left, "min")) if minutes >= 60 else ((minutes, "min"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
