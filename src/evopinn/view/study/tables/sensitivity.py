"""What each choice matters: errors by its values, the choices ranked, Morris' indices."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

from evopinn.study.morris import MorrisRow
from evopinn.study.ranking import Ranked
from evopinn.study.sensitivity import Sensed
from evopinn.study.trials import Spread
from evopinn.view.study.sheets import Column, Sheet
from evopinn.view.study.wording import (
    NOTHING,
    case_label,
    count_cell,
    number_cell,
    scientific_cell,
    spread_cell,
)

_NOTHING_MEASURED = Spread(math.nan, math.nan, 0, 0)
_CASE = Column("case")


class _OfCase(Protocol):
    @property
    def case(self) -> str: ...


Row = TypeVar("Row", bound=_OfCase)


def sensitivity_table(rows: Sequence[Sensed]) -> Sheet:
    """A row for each value of each objective: errors, loss, and the mean error beside the baseline's."""
    fields = tuple(dict.fromkeys(field for row in rows for field in row.measured))
    columns = [
        _CASE,
        Column("objective"),
        Column("value"),
        *(Column(f"error of {field}", "number") for field in fields),
        Column("beside the baseline", "number"),
        Column("mean loss", "number", gives_way=True),
        Column("trainings", "number", gives_way=True),
    ]
    baselines = {(row.case, row.objective): row for row in rows if row.is_baseline}
    whose = f"error of {fields[0]}" if fields else "loss"
    return Sheet(
        "Errors by what is varied",
        columns,
        [_row(row, fields, baselines) for row in rows],
        (
            "Each objective is varied alone, all others being as in the baseline. Beside the baseline: the "
            f"mean {whose} over that of the baseline; below 1 is more exact.",
        ),
        groups=2,
    )


def ranking_table(rows: Sequence[Ranked]) -> Sheet:
    """A row for each objective, the one that matters most first; case by case."""
    columns = (
        _CASE,
        Column("rank", "number"),
        Column("objective"),
        Column("effect [decades]", "number"),
        Column("by luck alone", "number"),
        Column("p, Holm", "number"),
        Column("share", "number"),
        Column("best"),
        Column("worst"),
    )
    body = [
        [
            case_label(row.case),
            f"{rank}",
            row.objective,
            *map(number_cell, (row.effect, row.noise)),
            number_cell(row.p_holm, 2),
            NOTHING if math.isnan(row.share) else f"{row.share:.0%}",
            row.best,
            row.worst,
        ]
        for own in by_case(rows).values()
        for rank, row in enumerate(own, start=1)
    ]
    notes = (
        "Effect: how far apart the mean decimal logarithms of the largest error are over the objective's "
        "values; an effect of 1 is ten times the error. Share: of the sum of all effects.",
        "By luck alone: the effect to be expected if the values did not matter and only seeds differed; p is "
        "of Kruskal and Wallis' test that they do not matter.",
        *_failed_note(rows),
    )
    return Sheet("What matters most", columns, body, notes, groups=1)


def morris_table(rows: Sequence[MorrisRow]) -> Sheet:
    """A row for each factor of Morris' screening."""
    columns = (
        _CASE,
        Column("factor"),
        Column("μ* [decades]", "number"),
        Column("95 % ±", "number"),
        Column("by luck alone", "number"),
        Column("σ", "number"),
    )
    body = [
        [
            case_label(row.case),
            row.factor,
            *map(number_cell, (row.mu_star, row.confidence, row.noise)),
            NOTHING if row.factor == "activation" else number_cell(row.sigma),
        ]
        for row in rows
    ]
    notes = (
        "All choices vary together. μ*: the mean size of a factor's effect on the decimal logarithm of the "
        "error; σ: how much that effect depends on the other factors, which says nothing of activations, as "
        "they have no order.",
        *_failed_note(rows),
    )
    return Sheet("Morris' screening", columns, body, notes, groups=1)


def by_case(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by the case that they are of."""
    return {case: list(own) for case, own in groupby(rows, key=lambda row: row.case)}


def _failed_note(rows: Sequence[Ranked] | Sequence[MorrisRow]) -> Sequence[str]:
    """What trainings that failed count as, if any did."""
    return ["Trainings that failed count as the worst that did not."] * any(row.failed for row in rows)


def _row(row: Sensed, fields: Sequence[str], baselines: Mapping[tuple[str, str], Sensed]) -> list[str]:
    baseline = baselines.get((row.case, row.objective))
    first = _judged(row, fields)
    usual = _NOTHING_MEASURED if baseline is None else _judged(baseline, fields)
    return [
        case_label(row.case),
        row.objective,
        f"{row.value} (baseline)" if row.is_baseline else row.value,
        *(spread_cell(row.measured.get(field, _NOTHING_MEASURED)) for field in fields),
        number_cell(first.mean / usual.mean if usual.mean else math.nan),
        scientific_cell(row.loss.mean),
        count_cell(first),
    ]


def _judged(row: Sensed, fields: Sequence[str]) -> Spread:
    """The errors of the first field; where no solution is known, the losses."""
    return row.measured.get(fields[0], _NOTHING_MEASURED) if fields else row.loss
