"""Equal cost: what each method may do so that all train for as many epochs as evolution with DPSTE does."""

from evopinn.errors import SearchError
from evopinn.run.speed import parse_budget
from evopinn.searchers import (
    METHODS,
    PRESETS,
    EvolutionSettings,
    Layout,
    Method,
    Preset,
    Schedule,
    Trials,
    find_preset,
    planned,
)
from evopinn.study.design import Comparison

REFERENCE = "evo-dpste"
"""The method whose cost all others are given."""

TOLERANCE = 0.02
"""By how much a method may train for more epochs than the budget, in proportion."""

_MOST_GENERATIONS = 6
"""Of evolution without DPSTE, as in the paper."""


def total_epochs(method: Method, layout: Layout) -> int:
    """The epochs of all trainings of a search, those of the final evaluations included."""
    return method.workload(layout, method.defaults).epochs


def reference(design: Comparison) -> Schedule:
    """The schedule of evolution with DPSTE: given, planned from a budget, or the paper's at some scale."""
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
    layout = planned(amount.budget(), REFERENCE).layout
    assert isinstance(layout, Schedule)
    return layout


def layout_of(design: Comparison, method: Method) -> Layout:
    """What a method does: at the paper's scale what it did there, a tenth apart in cost; else equal ones."""
    if design.schedule is None and design.budget is None and design.scale == 1:
        return _preset(design).layout(method.layout)
    schedule = reference(design)
    return schedule if method.name == REFERENCE else equal_layout(method, schedule)


def equal_layout(method: Method, reference: Schedule) -> Layout:
    """What a method does with the epochs that evolution with DPSTE spends by a schedule.

    It is never less, as the paper demands, and at most 2 % more. The last trainings have about as many epochs
    as those of the reference, so that the scores mean the same.

    Args:
        method: One of `METHODS`.
        reference: The schedule of `evo-dpste`.
    """
    budget = total_epochs(METHODS[REFERENCE], reference)
    match method.layout:
        case "dpste":
            layout = _falling(method, reference, budget)
        case "constant":
            layout = _constant(method, reference.epochs[-1], budget)
        case _:
            layout = _trials(method, reference.epochs[-1], budget)
    spent = total_epochs(method, layout)
    if not budget <= spent <= (1 + TOLERANCE) * budget:
        raise SearchError(
            f"{method.name} cannot be given {budget:,} epochs to within {TOLERANCE:.0%} (it would take "
            f"{spent:,}): the trainings are too few to share them out; choose a larger scale or budget."
        )
    return layout


def _preset(design: Comparison) -> Preset:
    """The paper's schedules for the equation; those of Klein-Gordon for problems that it does not have."""
    family = f"paper:{design.family}"
    return find_preset(family if family in PRESETS else "paper:klein-gordon")


def _falling(method: Method, reference: Schedule, budget: int) -> Schedule:
    """The same schedule; if the method trains more beside it, with a smaller first generation for that.

    If that is not enough, with fewer epochs.
    """
    epochs = list(reference.epochs)
    while True:
        layout = Schedule(reference.populations, tuple(epochs))
        excess = total_epochs(method, layout) - budget
        first, *others = reference.populations
        fewer = first - excess // epochs[0]
        if fewer >= max(others, default=2):
            return Schedule((fewer, *others), tuple(epochs))
        # The long trainings cost most and are many enough for one epoch less to be a small step.
        epochs = [min(each, epochs[-1] - 1) for each in epochs]
        if not epochs[-1]:
            raise SearchError(f"{budget:,} epochs are too few for {method.name}; give more.")


def _constant(method: Method, last: int, budget: int) -> Schedule:
    """Six generations of one size, or fewer if they would be tiny, with epochs near to the last ones."""
    found: list[tuple[int, int, Schedule]] = []
    for generations in range(_MOST_GENERATIONS, 0, -1):
        for population in range(4, max(5, budget // last), 2):
            trainings = total_epochs(method, Schedule((population,) * generations, (1,) * generations))
            epochs = -(-budget // trainings)
            layout = Schedule((population,) * generations, (epochs,) * generations)
            found.append((abs(epochs - last), -generations, layout))
        if min(found)[0] <= last / 4:
            break
    return min(found, key=lambda each: each[:2])[2]


def _trials(method: Method, last: int, budget: int) -> Trials:
    """As many proposals as there is room for beside the final evaluations."""
    settings = method.defaults
    assert not isinstance(settings, EvolutionSettings)
    final = total_epochs(method, Trials(10**6, 1)) - 10**6
    proposals = max(round(budget / last) - final, 3)
    return Trials(proposals, -(-budget // (proposals + final)))
