"""The rounds of a schedule: planned, running and finished."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evopinn.errors import EvopinnError
from evopinn.search.task import RoundKind
from evopinn.store.records import GenerationSummary


@dataclass(frozen=True)
class PlannedRound:
    """A planned round.

    Attributes:
        generation: Its number, by which it is counted like a generation whatever it is.
        kind: The kind of round.
        trainings: Their maximum number.
        again: The number of trainings of elitists, genomes of the generation before.
        epochs: Of each.
    """

    generation: int
    kind: RoundKind
    trainings: int
    again: int
    epochs: int


@dataclass(frozen=True)
class ScheduledRound:
    """A round of a schedule and its progress.

    Attributes:
        generation: Its number.
        kind: The kind of round.
        trainings: The number of trainings, or of planned ones.
        epochs: Of each.
        again: The number of trainings of elitists, if known.
        settled: The number of finished trainings.
        failed: The number of these without a finite loss.
        started: Whether the search has handed out the trainings.
    """

    generation: int
    kind: RoundKind
    trainings: int
    epochs: int
    again: int = 0
    settled: int = 0
    failed: int = 0
    started: bool = True


def planned_rounds(config: Mapping[str, Any]) -> tuple[PlannedRound, ...]:
    """The generations of a search and the rounds after them; empty without a schedule.

    Args:
        config: A configuration as plain data; an invalid one has no rounds.
    """
    from evopinn.search.methods import find_method  # a glance that needs no plan does not wait for numpy

    try:
        method = find_method(config["method"])
        workplan = method.workplan.of(config[method.workplan.table])
        workload = method.workload(workplan, method.settings(**config.get("settings", {})))
    except (EvopinnError, LookupError, TypeError, AttributeError):
        return ()
    if not workplan.generations:
        return ()
    return tuple(
        PlannedRound(number, stage.kind, stage.trainings, stage.again, stage.epochs)
        for number, stage in enumerate(workload.stages, start=1)
    )


def scheduled_rounds(
    rounds: Sequence[GenerationSummary],
    efforts: Mapping[int, int],
    planned: Sequence[PlannedRound] = (),
    *,
    finished: bool = False,
) -> list[ScheduledRound]:
    """Rounds in order: first the started ones, then the planned ones.

    Args:
        rounds: The started rounds.
        efforts: The epochs of each of these.
        planned: All planned rounds; empty if unknown.
        finished: Whether the search has finished, so that nothing lies ahead.
    """
    plans = {each.generation: each for each in planned}
    steps: list[ScheduledRound] = []
    for each in rounds:
        plan = plans.get(each.generation)
        known = plan is not None and (plan.kind, plan.trainings) == (each.kind, each.asked)
        again = plan.again if plan is not None and known else 0
        epochs = efforts.get(each.generation, 0)
        steps.append(
            ScheduledRound(each.generation, each.kind, each.asked, epochs, again, each.settled, each.failed)
        )
    if finished or any(step.kind == "final" for step in steps):
        return steps
    last = steps[-1].generation if steps else 0
    ahead = [each for each in planned if each.generation > last]
    return steps + [
        ScheduledRound(each.generation, each.kind, each.trainings, each.epochs, each.again, started=False)
        for each in ahead
    ]
