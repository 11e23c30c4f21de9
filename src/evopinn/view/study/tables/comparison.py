"""Methods beside each other: what they cost, what they found, how exact that is, whether they differ."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from evopinn.errors import EvopinnError
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problems import find_problem
from evopinn.study.compare import OURS, ComparisonStudy, Discovery, published_method
from evopinn.study.design import PAPER_SEARCHES
from evopinn.study.equal import REFERENCE
from evopinn.study.statistics import Contrast
from evopinn.study.trials import Quantity, Trial, fields_of, quantities
from evopinn.view.numbers import duration
from evopinn.view.study.sheets import Column, Sheet
from evopinn.view.study.wording import (
    NOTHING,
    STRUCTURE_NOTE,
    activation_cell,
    case_label,
    conditions_note,
    count_cell,
    measure_of,
    method_of,
    number_cell,
    published_cell,
    published_error,
    scientific_cell,
    spread_cell,
    structure_cell,
)

OURS_NOTE = (
    f"{OURS} trains by Levenberg-Marquardt in a space of smaller networks: its errors are not those of the "
    "same training, so that it stands apart and takes no part in the tests."
)
SIGNIFICANT = 0.05


def accounting_table(study: ComparisonStudy, discoveries: Sequence[Discovery]) -> Sheet:
    """What a search by each method costs, beside the budget."""
    columns = (
        Column("method", "name"),
        Column("searches", "number"),
        Column("epochs of a search", "number"),
        Column("share of the budget", "number"),
        Column("of these spent", "number"),
        Column("trainings of a search", "number"),
        Column("time of workers, a search", "number", gives_way=True),
    )
    return Sheet(
        "Equal cost",
        columns,
        [_cost_row(study, method, discoveries) for method in study.methods],
        (
            _budget_note(study),
            "Not all of them are spent: a training that fails ends early, and so does one that cannot get "
            "better.",
        ),
    )


def discovery_tables(
    study: ComparisonStudy, discoveries: Sequence[Discovery], trials: Sequence[Trial]
) -> list[Sheet]:
    """A row for each discovered model, case and field; what trains in another way has its own table."""
    wanted = quantities(trials)
    columns = (
        Column("method", "name"),
        Column("search", "number"),
        Column("structure", "code", gives_way=True),
        Column("activation", "code"),
        Column("parameters", "number", gives_way=True),
        Column("epochs spent", "number", gives_way=True),
        Column("case"),
        Column("field"),
        Column("mean loss" if wanted[0].name == "loss" else "error", "number"),
        Column("trainings", "number", gives_way=True),
        Column("published error", "number"),
    )
    theirs = [each for each in discoveries if each.method != OURS]
    ours = [each for each in discoveries if each.method == OURS]
    note = conditions_note(study.design)
    return [
        Sheet(
            title,
            columns,
            _discovery_rows(study, found, trials, wanted),
            (*notes, *(f"Of {each.model}, {each.deceit}." for each in found if each.deceit)),
            groups=6,
        )
        for title, found, notes in (
            ("What the methods discovered", theirs, (note, STRUCTURE_NOTE)),
            ("With second-order training, apart from the others", ours, (OURS_NOTE,)),
        )
        if found
    ]


def methods_table(study: ComparisonStudy, trials: Sequence[Trial]) -> Sheet:
    """A row for each method: the mean error of all its models' trainings, and the published mean below it."""
    wanted, cases = quantities(trials), study.design.case_names()
    columns = [
        Column("method", "name"),
        Column("figures"),
        *(Column(_heading(case, each), "number") for case in cases for each in wanted),
    ]
    rows: list[list[str]] = []
    for method in study.methods:
        own = [trial for trial in trials if method_of(trial.model) == method]
        means = [
            each.spread([trial for trial in own if trial.case == case]).mean
            for case in cases
            for each in wanted
        ]
        rows.append([method, "measured", *map(scientific_cell, means)])
        published = [_published_mean(study, method, case, each.name) for case in cases for each in wanted]
        if not all(map(math.isnan, published)):
            rows.append([method, "published", *map(scientific_cell, published)])
    measure = "relative L₂ error" if fields_of(trials) else "loss"
    notes = [f"Mean {measure} of all trainings of all models that a method discovered, by case and field."]
    if OURS in study.methods:
        notes.append(OURS_NOTE)
    return Sheet("Method by method", columns, rows, notes, groups=1)


def contrasts_table(study: ComparisonStudy, trials: Sequence[Trial]) -> Sheet:
    """A row for each pair of methods: whether their errors or losses differ, and how much."""
    _, measured = measure_of(trials)
    columns = (
        Column("method", "name"),
        Column("beside", "name"),
        Column("pairs", "number"),
        Column(f"ratio of {measured}", "number"),
        Column("effect", "number"),
        Column("p", "number"),
        Column("p, Holm", "number"),
        Column("so"),
    )
    rows = [
        [
            each.first,
            each.second,
            f"{each.pairs:,}",
            number_cell(each.ratio),
            NOTHING if not each.pairs else f"{each.effect:+.2f}",
            number_cell(each.p, 2),
            number_cell(each.p_holm, 2),
            _conclusion(each),
        ]
        for each in study.contrasts(trials)
    ]
    notes = (
        f"Wilcoxon's signed-rank test, two-sided, on pairs of {measured} that share case, field, number of "
        "the search and seed; p is corrected by Holm's rule for the number of rows. A training that failed "
        "is worse than any other.",
        "A ratio below 1 (the geometric mean over the pairs) and an effect below 0 (rank-biserial, −1 to +1) "
        "mean that the first method is more exact.",
        "Trainings of the same model are no independent searches: with few searches, a small p says that the "
        "models differ, and less of the methods.",
    )
    return Sheet("Tests between methods", columns, rows, notes)


def _cost_row(study: ComparisonStudy, method: str, discoveries: Sequence[Discovery]) -> list[str]:
    own = [each for each in discoveries if each.method == method]
    epochs = study.epochs(method)
    return [
        method,
        f"{study.searches}",
        f"{epochs:,}",
        f"{epochs / study.budget:.3f}",
        f"{fmean(each.spent for each in own) / epochs:.0%}" if own else NOTHING,
        _range(f"{each.trainings:,}" for each in own),
        duration(fmean(each.seconds for each in own)) if own else NOTHING,
    ]


def _budget_note(study: ComparisonStudy) -> str:
    ratios = [study.epochs(method) / study.budget for method in study.methods]
    return (
        f"The budget is {study.budget:,} epochs, those of a search by {REFERENCE}, final evaluations "
        f"included; the methods have between {min(ratios):.3f} and {max(ratios):.3f} of it."
    )


def _range(values: Iterable[str]) -> str:
    """Different ones of some numbers, as they come."""
    return ", ".join(dict.fromkeys(values)) or NOTHING


def _discovery_rows(
    study: ComparisonStudy, found: Sequence[Discovery], trials: Sequence[Trial], wanted: Sequence[Quantity]
) -> list[list[str]]:
    sizes = _sizes(study.design.problem)
    rows: list[list[str]] = []
    for each in found:
        of_model = [
            each.method,
            f"{each.search}",
            structure_cell(each.genome),
            activation_cell(each.genome),
            _parameters(each.genome, sizes),
            f"{each.spent:,}",
        ]
        own = [trial for trial in trials if trial.model == each.model]
        for case in study.design.case_names():
            for quantity in wanted:
                measured = quantity.spread([trial for trial in own if trial.case == case])
                published = published_error(study.design.family, each.published_name, case, quantity.name)
                rows.append(
                    [
                        *of_model,
                        case_label(case),
                        NOTHING if quantity.name == "loss" else quantity.name,
                        spread_cell(measured),
                        count_cell(measured),
                        published_cell(published),
                    ]
                )
    return rows


def _published_mean(study: ComparisonStudy, method: str, case: str, field: str) -> float:
    """Over the models that the paper's searches by a method discovered."""
    names = [f"{published_method(method)}-{search}" for search in range(1, PAPER_SEARCHES + 1)]
    errors = [published_error(study.design.family, name, case, field) for name in names]
    known = [error.mean for error in errors if error is not None]
    return fmean(known) if known else math.nan


def _heading(case: str, quantity: Quantity) -> str:
    return f"{case_label(case)} {quantity.name}"


def _sizes(problem: str) -> tuple[int, int] | None:
    """How many coordinates and fields a problem has; None if it cannot be had any more."""
    try:
        found = find_problem(problem)
    except EvopinnError:
        return None
    return len(found.axes), len(found.fields)


def _parameters(genome: str, sizes: tuple[int, int] | None) -> str:
    try:
        return NOTHING if sizes is None else f"{Layout.of(Genome.parse(genome), *sizes).size:,}"
    except EvopinnError:
        return NOTHING


def _conclusion(contrast: Contrast) -> str:
    if math.isnan(contrast.p_holm):
        return "too few pairs"
    if contrast.p_holm > SIGNIFICANT:
        return "no difference shown"
    # The test is of ranks, as the effect is; few large ratios may turn their mean the other way.
    return f"{contrast.first if contrast.effect < 0 else contrast.second} is more exact"
