"""The tables of a sensitivity study: errors by value, the choices ranked, Morris' indices."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol, TypeVar

from evopinn.lab.studies.labels import (
    case_label,
    count_cell,
    mean_cell,
    number_cell,
    scientific_cell,
)
from evopinn.lab.studies.sensitivity.importance import RankedObjective
from evopinn.lab.studies.sensitivity.morris import MorrisRow
from evopinn.lab.studies.trials import Sample
from evopinn.view.tables import NOTHING, Column, Table

_NOTHING_MEASURED = Sample(math.nan, math.nan, 0, 0)
_CASE = Column("case", value=lambda row: case_label(row.case))


class _OfCase(Protocol):
    @property
    def case(self) -> str: ...


Row = TypeVar("Row", bound=_OfCase)


@dataclass(frozen=True)
class ValueResult:
    """The errors and losses of one value of an objective.

    Attributes:
        objective: `layers`, `neurons`, `shortcuts` or `activation`.
        value: Its name in the study.
        is_baseline: Whether it is the baseline, which each objective has.
        measured: Errors by field; empty where no solution is known.
        loss: Losses of the same trainings.
        case: The problem that was trained on.
    """

    objective: str
    value: str
    is_baseline: bool
    measured: Mapping[str, Sample]
    loss: Sample
    case: str = ""


def sensitivity_table(rows: Sequence[ValueResult]) -> Table:
    """A row for each value of each objective: errors, loss, and the mean error beside the baseline's."""
    fields = tuple(dict.fromkeys(field for row in rows for field in row.measured))
    baselines = {(row.case, row.objective): _judged(row, fields).mean for row in rows if row.is_baseline}

    def ratio(row: ValueResult) -> float:
        usual = baselines.get((row.case, row.objective), math.nan)
        return _judged(row, fields).mean / usual if usual else math.nan

    columns = (
        _CASE,
        Column("objective", value=lambda row: row.objective),
        Column("value", value=lambda row: f"{row.value} (baseline)" if row.is_baseline else row.value),
        *(
            Column(f"error of {field}", "number", lambda row, field=field: mean_cell(_error(row, field)))
            for field in fields
        ),
        Column("beside the baseline", "number", lambda row: number_cell(ratio(row))),
        Column("mean loss", "number", lambda row: scientific_cell(row.loss.mean), gives_way=True),
        Column("trainings", "number", lambda row: count_cell(_judged(row, fields)), gives_way=True),
    )
    whose = f"error of {fields[0]}" if fields else "loss"
    note = (
        "Each objective is varied alone; all others stay as in the baseline. Beside the baseline: the mean "
        f"{whose} divided by the baseline's; below 1 is more accurate."
    )
    return Table("Errors by what is varied", columns, rows, (note,), groups=2)


def ranking_table(rows: Sequence[RankedObjective]) -> Table:
    """A row for each objective, the one that matters most first; case by case."""
    ranks = {
        (row.case, row.objective): rank
        for own in by_case(rows).values()
        for rank, row in enumerate(own, start=1)
    }
    columns = (
        _CASE,
        Column("rank", "count", lambda row: ranks[row.case, row.objective]),
        Column("objective", value=lambda row: row.objective),
        Column("effect [decades]", "number", lambda row: number_cell(row.effect)),
        Column("by luck alone", "number", lambda row: number_cell(row.noise)),
        Column("p, Holm", "number", lambda row: number_cell(row.p_holm, 2)),
        Column("share", "number", lambda row: NOTHING if math.isnan(row.share) else f"{row.share:.0%}"),
        Column("best", value=lambda row: row.best),
        Column("worst", value=lambda row: row.worst),
    )
    notes = (
        "Effect: how far apart the mean decimal logarithms of the largest error are over the objective's "
        "values; an effect of 1 is ten times the error. Share: of the sum of all effects.",
        "By luck alone: the effect to be expected if the values did not matter and only seeds differed; p is "
        "of Kruskal and Wallis' test that they do not matter.",
        *_failed_note(rows),
    )
    return Table("What matters most", columns, rows, notes, groups=1)


def morris_table(rows: Sequence[MorrisRow]) -> Table:
    """A row for each factor of Morris' screening."""
    columns = (
        _CASE,
        Column("factor", value=lambda row: row.factor),
        Column("μ* [decades]", "number", lambda row: number_cell(row.mu_star)),
        Column("95 % ±", "number", lambda row: number_cell(row.confidence)),
        Column("by luck alone", "number", lambda row: number_cell(row.noise)),
        Column("σ", "number", lambda row: NOTHING if row.factor == "activation" else number_cell(row.sigma)),
    )
    notes = (
        "All choices vary together. μ*: the mean size of a factor's effect on the decimal logarithm of the "
        "error; σ: how much that effect depends on the other factors. σ says nothing about activations, as "
        "they have no order.",
        *_failed_note(rows),
    )
    return Table("Morris' screening", columns, rows, notes, groups=1)


def by_case(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by their case."""
    return {case: list(own) for case, own in groupby(rows, key=lambda row: row.case)}


def _failed_note(rows: Sequence[RankedObjective] | Sequence[MorrisRow]) -> Sequence[str]:
    """A note on how failed trainings count, if there are any."""
    return ["Failed trainings count as the worst that did not fail."] * any(row.failed for row in rows)


def _error(row: ValueResult, field: str) -> Sample:
    return row.measured.get(field, _NOTHING_MEASURED)


def _judged(row: ValueResult, fields: Sequence[str]) -> Sample:
    """The errors of the first field; where no solution is known, the losses."""
    return _error(row, fields[0]) if fields else row.loss
