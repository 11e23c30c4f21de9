"""Published and measured errors side by side."""

from collections import Counter
from collections.abc import Sequence

from evopinn.study.reproduce import Reproduced, ReproductionStudy, Verdict
from evopinn.study.trials import Trial
from evopinn.view.study.sheets import Column, Sheet
from evopinn.view.study.wording import (
    NOTHING,
    STRUCTURE_NOTE,
    activation_cell,
    case_label,
    conditions_note,
    count_cell,
    number_cell,
    published_cell,
    spread_cell,
    structure_cell,
)

VERDICTS: dict[Verdict, str] = {
    "within": "within the published spread",
    "better": "better",
    "worse": "worse",
    "failed": "without any network",
}
"""In words that a count can stand before."""

_COLUMNS = (
    Column("model", "name"),
    Column("structure", "code", gives_way=True),
    Column("activation", "code"),
    Column("case"),
    Column("field"),
    Column("published error", "number"),
    Column("measured error", "number"),
    Column("ratio", "number"),
    Column("trainings", "number", gives_way=True),
    Column("verdict", "verdict"),
)


def reproduction_table(study: ReproductionStudy, trials: Sequence[Trial]) -> Sheet:
    """A row for each model, case and field: published and measured mean ± deviation, and a verdict."""
    found = study.table(trials)
    return Sheet(
        "Published models, trained again",
        _COLUMNS,
        [_row(each) for each in found],
        (
            verdicts_note(found),
            "A mean is within the published spread if it is at most one published deviation from the "
            "published mean.",
            conditions_note(study.design),
            STRUCTURE_NOTE,
        ),
        groups=3,
    )


def verdicts_note(found: Sequence[Reproduced]) -> str:
    """How many rows came out in each way."""
    counts = Counter(each.verdict for each in found if _is_trained(each))
    listed = [f"{counts[verdict]} {words}" for verdict, words in VERDICTS.items() if counts[verdict]]
    if missing := len(found) - counts.total():
        listed.append(f"{missing} not trained yet")
    return f"Of {len(found)} rows: {', '.join(listed)}." if found else "Nothing is published on these cases."


def _is_trained(each: Reproduced) -> bool:
    return bool(each.measured.count or each.measured.failed)


def _row(each: Reproduced) -> list[str]:
    genome = each.model.genome.text
    return [
        each.model.name,
        structure_cell(genome),
        activation_cell(genome),
        case_label(each.case),
        each.published.field,
        published_cell(each.published),
        spread_cell(each.measured),
        number_cell(each.measured.mean / each.published.mean),
        count_cell(each.measured),
        each.verdict if _is_trained(each) else NOTHING,
    ]
