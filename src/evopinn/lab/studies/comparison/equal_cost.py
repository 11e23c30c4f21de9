"""Equal cost: a schedule for each method with which it trains for as many epochs as evolution with DPSTE."""

from typing import Self

from pydantic import Field

from evopinn.checks import MAX_COUNT
from evopinn.errors import SearchError
from evopinn.lab.studies.design import PAPER_SEARCHES, Design
from evopinn.lab.studies.labels import REFERENCE
from evopinn.run.budget_plan import parse_budget
from evopinn.search import (
    METHODS,
    PRESETS,
    AnyMethod,
    Preset,
    Schedule,
    Workplan,
    find_preset,
    planned,
)
from evopinn.store.toml_tables import Strict

TOLERANCE = 0.02
"""The proportion by which a method may train for more epochs than the budget."""


class ScheduleTable(Strict):
    """Populations and epochs by generation."""

    populations: list[int]
    epochs: list[int]


class ComparisonDesign(Design):
    """The design of a comparison.

    Attributes:
        methods: Names of methods; `evo-dpste+lm` is evolution with DPSTE that trains by Levenberg-Marquardt.
        searches: Number of independent searches by each method, with the seeds `seed`, `seed` + 1, ...
        budget: Epochs of a search by `evo-dpste`, in place of the paper's schedule.
        schedule: Or its populations and epochs.
        space: Bounds of the networks, except for `evo-dpste+lm`.
    """

    kind: str = "compare"
    methods: list[str] | None = None
    searches: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    budget: str | None = None
    schedule: ScheduleTable | None = None
    space: str = ""

    def settled(self) -> Self:
        """The same design with everything filled in that follows from the paper and the scale."""
        searches = self.searches or self.scaled().searches(PAPER_SEARCHES)
        return super().settled().model_copy(update={"searches": searches})


def total_epochs(method: AnyMethod, workplan: Workplan) -> int:
    """The epochs of all trainings of a search, those of the final evaluations included."""
    return method.workload(workplan, method.defaults).epochs


def reference(design: ComparisonDesign) -> Schedule:
    """The schedule of evolution with DPSTE: given, planned from a budget, or the paper's at some scale."""
    if design.schedule is not None and design.budget is not None:
        raise SearchError("budget and schedule are both given; give only one.")
    if design.schedule is not None:
        return Schedule(tuple(design.schedule.populations), tuple(design.schedule.epochs))
    if design.budget is None:
        return design.scaled().schedule(_preset(design).dpste)
    amount = parse_budget(design.budget)
    if amount.unit != "epochs":
        raise SearchError(
            f"the budget is {design.budget!r}, but methods are compared at equal epochs; write for example "
            "'30000 epochs'."
        )
    schedule = planned(amount.budget(), REFERENCE).workplan
    assert isinstance(schedule, Schedule)
    return schedule


def workplan_of(design: ComparisonDesign, method: AnyMethod) -> Workplan:
    """The workplan of a method: at scale 1 the paper's, a tenth apart in cost; otherwise of equal cost."""
    if design.schedule is None and design.budget is None and design.scale == 1:
        return method.of_preset(_preset(design))
    schedule = reference(design)
    return schedule if method.name == REFERENCE else equal_workplan(method, schedule)


def equal_workplan(method: AnyMethod, reference: Schedule) -> Workplan:
    """The workplan of a method with the epochs that evolution with DPSTE spends by a schedule.

    It never takes fewer, as the paper demands, and at most 2 % more. The last trainings have about as many
    epochs as those of the reference, so that the scores mean the same.

    Args:
        method: One of `METHODS`.
        reference: The schedule of `evo-dpste`.
    """
    budget = total_epochs(METHODS[REFERENCE], reference)
    workplan = method.matching(reference, budget)
    spent = total_epochs(method, workplan)
    if not budget <= spent <= (1 + TOLERANCE) * budget:
        raise SearchError(
            f"{method.name} cannot be given {budget:,} epochs to within {TOLERANCE:.0%} (it would take "
            f"{spent:,}): there are too few trainings to share them out; choose a larger scale or budget."
        )
    return workplan


def _preset(design: ComparisonDesign) -> Preset:
    """The paper's schedules for the equation; those of Klein-Gordon for problems that it does not have."""
    family = f"paper:{design.family}"
    return find_preset(family if family in PRESETS else "paper:klein-gordon")
