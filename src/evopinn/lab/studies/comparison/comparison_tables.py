"""The tables of a comparison: costs, discoveries, accuracy, and tests of differences."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from evopinn.catalogue import find_problem
from evopinn.errors import EvopinnError
from evopinn.lab.studies.comparison.discoveries import Discovery
from evopinn.lab.studies.comparison.equal_cost import ComparisonDesign
from evopinn.lab.studies.design import PAPER_SEARCHES
from evopinn.lab.studies.labels import (
    OURS,
    REFERENCE,
    activation_cell,
    case_label,
    conditions_note,
    count_cell,
    mean_cell,
    measure_of,
    method_of,
    number_cell,
    published_cell,
    published_error,
    published_method,
    scientific_cell,
    structure_cell,
)
from evopinn.lab.studies.statistics import SIGNIFICANT, Contrast
from evopinn.lab.studies.trials import Quantity, Trial, fields_of, quantities
from evopinn.run.architecture import Architecture
from evopinn.view.numbers import duration
from evopinn.view.run_tables import STRUCTURE_NOTE
from evopinn.view.tables import NOTHING, Column, Table

OURS_NOTE = (
    f"{OURS} trains by Levenberg-Marquardt in a space of smaller networks: its networks are "
    "trained differently, so it is listed separately and excluded from the tests."
)


def cost_table(epochs: Mapping[str, int], budget: int, discoveries: Sequence[Discovery]) -> Table:
    """The cost of a search by each method, beside the budget.

    Args:
        epochs: Planned epochs of a search, by method.
        budget: Epochs of a search by the reference.
        discoveries: What the searches found.
    """
    columns = (
        Column("method", "name"),
        Column("searches", "count"),
        Column("epochs of a search", "count"),
        Column("share of the budget", "number"),
        Column("of these spent", "number"),
        Column("trainings of a search", "number"),
        Column("time of workers, a search", "number", gives_way=True),
    )
    rows: list[Sequence[object]] = []
    for method, planned in epochs.items():
        own = [each for each in discoveries if each.method == method]
        rows.append(
            [
                method,
                len(own),
                planned,
                f"{planned / budget:.3f}",
                f"{fmean(each.spent for each in own) / planned:.0%}",
                ", ".join(dict.fromkeys(f"{each.trainings:,}" for each in own)),
                duration(fmean(each.seconds for each in own)),
            ]
        )
    ratios = [planned / budget for planned in epochs.values()]
    return Table(
        "Equal cost",
        columns,
        rows,
        (
            f"The budget is {budget:,} epochs, as many as a search by {REFERENCE} takes, final evaluations "
            f"included; the methods get between {min(ratios):.3f} and {max(ratios):.3f} of it.",
            "Methods do not spend it all: a training that fails or can no longer improve ends early.",
        ),
    )


def discovery_tables(
    design: ComparisonDesign, discoveries: Sequence[Discovery], trials: Sequence[Trial]
) -> list[Table]:
    """A row for each discovered model, case and field; models trained in another way have their own table."""
    wanted = quantities(trials)
    columns = (
        Column("method", "name"),
        Column("search", "count"),
        Column("structure", "code", gives_way=True),
        Column("activation", "code"),
        Column("parameters", "number", gives_way=True),
        Column("epochs spent", "count", gives_way=True),
        Column("case"),
        Column("field"),
        Column("mean loss" if wanted[0].name == "loss" else "error", "number"),
        Column("trainings", "number", gives_way=True),
        Column("published error", "number"),
    )
    theirs = [each for each in discoveries if each.method != OURS]
    ours = [each for each in discoveries if each.method == OURS]
    return [
        Table(
            title,
            columns,
            _discovery_rows(design, found, trials, wanted),
            (*notes, *(f"{each.model}: {each.warning}." for each in found if each.warning)),
            groups=6,
        )
        for title, found, notes in (
            ("What the methods discovered", theirs, (conditions_note(design), STRUCTURE_NOTE)),
            ("With second-order training, apart from the others", ours, (OURS_NOTE,)),
        )
        if found
    ]


def methods_table(design: ComparisonDesign, trials: Sequence[Trial]) -> Table:
    """A row for each method: the mean error of all its models' trainings, and the published mean below it."""
    judged = [(case, each) for case in design.case_names() for each in quantities(trials)]
    columns = [
        Column("method", "name"),
        Column("figures"),
        *(Column(f"{case_label(case)} {each.name}", "number") for case, each in judged),
    ]
    methods = design.methods or ()
    rows: list[list[str]] = []
    for method in methods:
        own = [trial for trial in trials if method_of(trial.model) == method]
        means = [each.sample(trial for trial in own if trial.case == case).mean for case, each in judged]
        rows.append([method, "measured", *map(scientific_cell, means)])
        published = [_published_mean(design.family, method, case, each.name) for case, each in judged]
        if not all(map(math.isnan, published)):
            rows.append([method, "published", *map(scientific_cell, published)])
    measure = "relative L₂ error" if fields_of(trials) else "loss"
    notes = [f"Mean {measure} of all trainings of all models that a method discovered, by case and field."]
    if OURS in methods:
        notes.append(OURS_NOTE)
    return Table("Method by method", columns, rows, notes, groups=1)


def contrasts_table(contrasts: Sequence[Contrast], trials: Sequence[Trial]) -> Table:
    """A row for each pair of methods: whether their errors or losses differ, and by how much."""
    _, measured = measure_of(trials)
    columns = (
        Column("method", "name", lambda each: each.first),
        Column("beside", "name", lambda each: each.second),
        Column("pairs", "count", lambda each: each.pairs),
        Column(f"ratio of {measured}", "number", lambda each: number_cell(each.ratio)),
        Column("effect", "number", lambda each: f"{each.effect:+.2f}" if each.pairs else NOTHING),
        Column("p", "number", lambda each: number_cell(each.p, 2)),
        Column("p, Holm", "number", lambda each: number_cell(each.p_holm, 2)),
        Column("so", value=_conclusion),
    )
    notes = (
        f"Wilcoxon's signed-rank test, two-sided, on pairs of {measured} that share case, field, number of "
        "the search and seed; p is corrected by Holm's rule for the number of rows. A training that failed "
        "is worse than any other.",
        "A ratio below 1 (the geometric mean over the pairs) and an effect below 0 (rank-biserial, −1 to +1) "
        "mean that the first method is more exact.",
        "Trainings of the same model are not independent searches: with few searches, a small p says that "
        "the models differ, but says less about the methods.",
    )
    return Table("Tests between methods", columns, contrasts, notes)


def _discovery_rows(
    design: ComparisonDesign, found: Sequence[Discovery], trials: Sequence[Trial], wanted: Sequence[Quantity]
) -> list[Sequence[object]]:
    sizes = _sizes(design.problem)
    rows: list[Sequence[object]] = []
    for each in found:
        of_model = (
            each.method,
            each.search,
            structure_cell(each.genome),
            activation_cell(each.genome),
            NOTHING if (number := Architecture(each.genome, sizes).parameters) is None else f"{number:,}",
            each.spent,
        )
        for case in design.case_names():
            for quantity in wanted:
                measured = quantity.sample(t for t in trials if (t.model, t.case) == (each.model, case))
                published = published_error(design.family, each.published_name, case, quantity.name)
                rows.append(
                    [
                        *of_model,
                        case_label(case),
                        NOTHING if quantity.name == "loss" else quantity.name,
                        mean_cell(measured),
                        count_cell(measured),
                        published_cell(published),
                    ]
                )
    return rows


def _published_mean(family: str, method: str, case: str, field: str) -> float:
    """The mean error of the models that the paper's searches by a method discovered."""
    names = [f"{published_method(method)}-{search}" for search in range(1, PAPER_SEARCHES + 1)]
    errors = [published_error(family, name, case, field) for name in names]
    known = [error.mean for error in errors if error is not None]
    return fmean(known) if known else math.nan


def _sizes(problem: str) -> tuple[int, int] | None:
    """The numbers of coordinates and fields of a problem; None if it cannot be loaded any more."""
    try:
        found = find_problem(problem)
    except EvopinnError:
        return None
    return len(found.axes), len(found.fields)


def _conclusion(contrast: Contrast) -> str:
    if math.isnan(contrast.p_holm):
        return "too few pairs"
    if contrast.p_holm > SIGNIFICANT:
        return "no difference shown"
    # The test is of ranks, as the effect is; few large ratios may turn their mean the other way.
    return f"{contrast.first if contrast.effect < 0 else contrast.second} is more exact"
