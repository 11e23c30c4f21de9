"""The plan of a run: from its configuration alone, or from a budget of time and a measured speed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evopinn.checks import MAX_COUNT, shown
from evopinn.errors import RunError, SearchError
from evopinn.genome import Space, initial_population
from evopinn.run.config import DEFAULT_BUDGET, Config
from evopinn.search import Budget, Plan, planned
from evopinn.training import CostOf, parse_duration, spends_by_cost, typical_cost
from evopinn.workers.evaluation import Probe, ProbeTiming
from evopinn.workers.pool import Outcome, Pool

_PROBES_PER_WORKER = 8
_EPOCHS = 10
_DEADLINE = 300.0
_BARE = re.compile(r"\s*(\d[\d_,.]*)\s*")
_COUNTED = re.compile(r"\s*(\d[\d_,]*)\s*(epochs?|trainings?|evaluations?)\s*")


@dataclass(frozen=True)
class Pace:
    """The speed of trainings on one worker while the others are busy too.

    Attributes:
        seconds_per_epoch: Of a typical genome.
        seconds_per_training: In addition to its epochs.
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
    """The amount of a budget written as text.

    Examples:
        >>> parse_budget("10m")
        Amount(unit='seconds', value=600.0)
        >>> parse_budget("30_000 epochs")
        Amount(unit='epochs', value=30000)
    """
    counted = _COUNTED.fullmatch(text)
    if counted is not None:
        digits = counted[1].replace(",", "").replace("_", "")
        if len(digits) > len(str(MAX_COUNT)):
            raise SearchError(f"the budget is {shown(text)}; it must be at most {MAX_COUNT:,}.")
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


def known_plan(config: Config, workers: int) -> Plan | None:
    """The plan, if nothing has to be measured for it; None for a budget of time.

    Args:
        config: What to do. That of a run has a workplan, and knows how fast it was if it was measured.
        workers: How many there are.
    """
    workplan, settings = config.workplan(), config.method_settings()
    if workplan is None:
        amount = _amount(config)
        return None if amount.unit == "seconds" else planned(amount.budget(), config.method, settings)
    workload = config.find_method().workload(workplan, settings)
    recorded = config.recorded
    budget = Budget(
        epochs=workload.epochs,
        seconds_per_epoch=recorded.seconds_per_epoch if recorded else None,
        seconds_per_training=(recorded.seconds_per_training if recorded else None) or 0.0,
        workers=workers,
        even=_is_even(config),
    )
    return Plan(config.method, workplan, settings, workload, budget)


def measured_plan(config: Config, pace: Pace, workers: int, spent: float) -> Plan:
    """The plan for a budget of time.

    Args:
        config: What to do.
        pace: How fast trainings are.
        workers: How many there are.
        spent: Seconds of the budget that are gone.
    """
    budget = Budget(
        seconds=_amount(config).value,
        spent=spent,
        seconds_per_epoch=pace.seconds_per_epoch,
        seconds_per_training=pace.seconds_per_training,
        workers=workers,
        even=_is_even(config),
    )
    return planned(budget, config.method, config.method_settings())


def _is_even(config: Config) -> bool:
    return spends_by_cost(config.training_options().optimizer)


def _amount(config: Config) -> Amount:
    return parse_budget(DEFAULT_BUDGET if config.budget is None else config.budget)


def measured(
    pool: Pool, count: int, space: Space, cost: CostOf, seed: int, stopped: Callable[[], bool]
) -> Pace | None:
    """Time short trainings of genomes that a search might begin with, on all workers at once.

    Args:
        pool: Idle workers.
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
        pool.submit(number, Probe(genome.text, _EPOCHS, seed), _DEADLINE)
    timings: list[tuple[float, ProbeTiming]] = []
    failures: list[Outcome] = []
    while pool.outstanding:
        if stopped():
            return None
        for outcome in pool.wait(timeout=0.2):
            if isinstance(outcome.value, ProbeTiming):
                timings.append((cost(genomes[outcome.number]), outcome.value))
            elif not outcome.retried:
                failures.append(outcome)
    trained = [(each, timing) for each, timing in timings if timing.epochs]
    if not trained:
        raise RunError(_nothing_trained(len(genomes), failures))
    # Each network counts alike, although the faster ones have more epochs in a probe.
    per_cost = sum(t.seconds / t.epochs for _, t in trained) / sum(each for each, _ in trained)
    setup = float(np.mean([timing.setup for _, timing in timings]))
    return Pace(per_cost * typical_cost(space, cost), setup)


def _nothing_trained(count: int, failures: list[Outcome]) -> str:
    if failures and failures[0].failure is not None:
        reason = failures[0].failure.detail.strip().splitlines()[-1]  # of a traceback, what it comes to
        return f"none of {count} networks could be trained on this problem; one says:\n{reason}"
    return (
        f"the loss of none of {count} networks is finite on this problem; look at its residual and "
        "conditions with `evopinn problems`."
    )
