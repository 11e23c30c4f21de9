"""How fast this problem trains on these workers: a short measurement, from which a budget becomes a plan."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evopinn.checks import MOST, shown
from evopinn.errors import RunError, SearchError
from evopinn.genome import Space, initial_population
from evopinn.run.cost import CostOf, typical_cost
from evopinn.run.ended import Ended
from evopinn.run.evaluation import Probe, Timing
from evopinn.run.workforce import Workforce
from evopinn.searchers import Budget
from evopinn.training import parse_duration

_PROBES_PER_WORKER = 8
_EPOCHS = 10
_DEADLINE = 300.0
_BARE = re.compile(r"\s*(\d[\d_,.]*)\s*")
_COUNTED = re.compile(r"\s*(\d[\d_,]*)\s*(epochs?|trainings?|evaluations?)\s*")


@dataclass(frozen=True)
class Pace:
    """How fast trainings are on one worker while the others are busy too.

    Attributes:
        seconds_per_epoch: Of a typical genome.
        seconds_per_training: Beside its epochs.
    """

    seconds_per_epoch: float
    seconds_per_training: float


@dataclass(frozen=True)
class Amount:
    """How much a search may cost, in one of three units."""

    unit: Literal["seconds", "epochs", "trainings"]
    value: float

    def budget(self) -> Budget:
        """The budget, if the unit does not need to be measured."""
        count = int(self.value)
        return Budget(epochs=count) if self.unit == "epochs" else Budget(trainings=count)


def parse_budget(text: str) -> Amount:
    """What a budget is worth that a person writes down.

    Examples:
        >>> parse_budget("10m")
        Amount(unit='seconds', value=600.0)
        >>> parse_budget("30_000 epochs")
        Amount(unit='epochs', value=30000)
    """
    counted = _COUNTED.fullmatch(text)
    if counted is not None:
        digits = counted[1].replace(",", "").replace("_", "")
        if len(digits) > len(str(MOST)):
            raise SearchError(f"the budget is {shown(text)}; it must be at most {MOST:,}.")
        number = int(digits)
        return Amount("epochs" if counted[2].startswith("epoch") else "trainings", number)
    if bare := _BARE.fullmatch(text):
        number = shown(bare[1]).strip("'")
        raise SearchError(
            f"the budget is {shown(text)}, without a unit; write {number}s or {number}m for a time, "
            f"'{number} epochs' or '{number} trainings'."
        )
    try:
        return Amount("seconds", parse_duration(text))
    except ValueError:
        raise SearchError(
            f"{shown(text)} is not a budget; write a time such as 10m or 2h, '30000 epochs' or "
            "'300 trainings'."
        ) from None


def measured(
    workers: Workforce, count: int, space: Space, cost: CostOf, seed: int, stopped: Callable[[], bool]
) -> Pace | None:
    """Time short trainings of genomes that a search might begin with, on all workers at once.

    Args:
        workers: Free ones.
        count: How many there are.
        space: Where the genomes lie.
        cost: The predicted cost of an epoch.
        seed: Which genomes.
        stopped: Whether to give up.

    Returns:
        The pace, or None if it was given up.
    """
    genomes = initial_population(space, _PROBES_PER_WORKER * count, np.random.default_rng(seed))
    for number, genome in enumerate(genomes):
        workers.submit(number, Probe(genome.text, _EPOCHS, seed), _DEADLINE)
    timings: list[tuple[float, Timing]] = []
    failures: list[Ended] = []
    while workers.outstanding:
        if stopped():
            return None
        for ended in workers.wait(timeout=0.2):
            if isinstance(ended.value, Timing):
                timings.append((cost(genomes[ended.number]), ended.value))
            elif not ended.retried:
                failures.append(ended)
    trained = [(each, timing) for each, timing in timings if timing.epochs]
    if not trained:
        raise RunError(_nothing_trained(len(genomes), failures))
    # Of each network alike: a probe has the more epochs the faster they are.
    per_cost = sum(t.seconds / t.epochs for _, t in trained) / sum(each for each, _ in trained)
    setup = float(np.mean([timing.setup for _, timing in timings]))
    return Pace(per_cost * typical_cost(space, cost), setup)


def _nothing_trained(count: int, failures: list[Ended]) -> str:
    if failures and failures[0].failure is not None:
        reason = failures[0].failure.detail.strip().splitlines()[-1]  # of a traceback, what it comes to
        return f"none of {count} networks could be trained on this problem; one says:\n{reason}"
    return (
        f"the loss of none of {count} networks is finite on this problem; look at its residual and "
        "conditions with `evopinn problems`."
    )


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        """Since then."""
        return self._clock() - self._began
