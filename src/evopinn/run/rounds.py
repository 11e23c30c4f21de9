"""The rounds of a search by a schedule: those that are planned, and what has become of them.

Needs no torch: a glance at a run must not wait for it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from evopinn.run.listed import GenerationSummary, RoundKind

_RETRAINS_BESTS = "random"
"""The method that trains each generation's best once more before the final evaluations."""


@dataclass(frozen=True)
class PlannedRound:
    """A round as it is planned.

    Attributes:
        generation: Its number, by which it is counted like a generation whatever it is.
        kind: What it is.
        trainings: How many, at most.
        again: How many of them are of elitists, genomes of the generation before.
        epochs: Of each.
    """

    generation: int
    kind: RoundKind
    trainings: int
    again: int
    epochs: int


@dataclass(frozen=True)
class Step:
    """A round of a schedule and how far it is.

    Attributes:
        generation: Its number.
        kind: What it is.
        trainings: How many there are, or will be.
        epochs: Of each.
        again: How many of them are of elitists, as far as that is known.
        settled: How many are over.
        failed: How many of these have no finite loss.
        begun: Whether the trainings were asked for.
    """

    generation: int
    kind: RoundKind
    trainings: int
    epochs: int
    again: int = 0
    settled: int = 0
    failed: int = 0
    begun: bool = True


def planned_rounds(
    schedule: Sequence[tuple[int, int]], settings: Any, method: str
) -> tuple[PlannedRound, ...]:
    """The generations, and what comes after them as far as the settings say how much that is.

    Args:
        schedule: Population and epochs of each generation.
        settings: Of the method, as a configuration has them.
        method: Its name.
    """
    known: Mapping[str, Any] = cast("dict[str, Any]", settings) if isinstance(settings, dict) else {}
    share = _number(known.get("elitists"))
    rounds: list[PlannedRound] = []
    for number, (population, epochs) in enumerate(schedule, start=1):
        again = math.ceil(population * share - 1e-9) if number > 1 else 0  # as `elitist_count` has it
        rounds.append(PlannedRound(number, "generation", population + again, again, epochs))
    if not rounds:
        return ()
    longest = rounds[-1].epochs
    if method == _RETRAINS_BESTS:
        rounds.append(PlannedRound(len(rounds) + 1, "bests", len(rounds), 0, longest))
    candidates = min(int(_number(known.get("candidates"))), rounds[-1].trainings)
    trainings = candidates * int(_number(known.get("evaluations")))
    if trainings > 0:
        rounds.append(PlannedRound(len(rounds) + 1, "final", trainings, 0, longest))
    return tuple(rounds)


def schedule_steps(
    rounds: Sequence[GenerationSummary],
    efforts: Mapping[int, int],
    planned: Sequence[PlannedRound] = (),
    *,
    finished: bool = False,
) -> list[Step]:
    """Rounds in order: those that have begun, and those that are still planned.

    Args:
        rounds: That have begun.
        efforts: The epochs of each of these.
        planned: All that were planned; none if that is not known.
        finished: Whether the search is over, so that nothing is ahead.
    """
    plans = {each.generation: each for each in planned}
    steps: list[Step] = []
    for each in rounds:
        plan = plans.get(each.generation)
        known = plan is not None and (plan.kind, plan.trainings) == (each.kind, each.asked)
        again = plan.again if plan is not None and known else 0
        epochs = efforts.get(each.generation, 0)
        steps.append(Step(each.generation, each.kind, each.asked, epochs, again, each.settled, each.failed))
    if finished or any(step.kind == "final" for step in steps):
        return steps
    last = steps[-1].generation if steps else 0
    ahead = [each for each in planned if each.generation > last]
    return steps + [
        Step(each.generation, each.kind, each.trainings, each.epochs, each.again, begun=False)
        for each in ahead
    ]


def _number(value: Any) -> float:
    """A number that a configuration has; 0 if it has none, or something else."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0
