"""What each choice matters: errors by its values, the choices ranked, Morris' indices."""

import math
from collections.abc import Mapping, Sequence

from evopinn.study.trials import Spread
from evopinn.view.study.sheets import Column, Sheet
from evopinn.view.study.subjects import MorrisRow, RankedRow, SensedRow
from evopinn.view.study.wording import NOTHING, count_cell, number_cell, scientific_cell, spread_cell


def sensitivity_table(rows: Sequence[SensedRow]) -> Sheet:
    """A row for each value of each objective: errors, loss, and the mean error beside the baseline's."""
    fields = tuple(dict.fromkeys(field for row in rows for field in row.measured))
    columns = [
        Column("objective"),
        Column("value"),
        *(Column(f"error of {field}", "number") for field in fields),
        Column("beside the baseline", "number"),
        Column("loss", "number", gives_way=True),
        Column("trainings", "number", gives_way=True),
    ]
    baselines = {row.objective: row for row in rows if row.is_baseline}
    whose = f" of {fields[0]}" if len(fields) > 1 else ""
    return Sheet(
        "Errors by what is varied",
        columns,
        [_row(row, fields, baselines) for row in rows],
        (
            "Each objective is varied alone, all others being as in the baseline. Beside the baseline: "
            f"the mean error{whose} over that of the baseline; below 1 is more exact.",
        ),
        groups=1,
    )


def ranking_table(rows: Sequence[RankedRow]) -> Sheet:
    """A row for each objective, the one that matters most first."""
    columns = (
        Column("rank", "number"),
        Column("objective"),
        Column("effect [decades]", "number"),
        Column("share", "number"),
        Column("best"),
        Column("worst"),
    )
    body = [
        [
            f"{rank}",
            row.objective,
            number_cell(row.effect),
            NOTHING if math.isnan(row.share) else f"{row.share:.0%}",
            row.best,
            row.worst,
        ]
        for rank, row in enumerate(rows, start=1)
    ]
    note = (
        "Effect: how far apart the mean decimal logarithms of the error are over the objective's values; an "
        "effect of 1 is ten times the error. Share: of the sum of all effects."
    )
    return Sheet("What matters most", columns, body, (note,))


def morris_table(rows: Sequence[MorrisRow]) -> Sheet:
    """A row for each factor of Morris' screening."""
    columns = (
        Column("factor"),
        Column("μ*", "number"),
        Column("95 % ±", "number"),
        Column("σ", "number"),
    )
    body = [[row.factor, *map(number_cell, (row.mu_star, row.confidence, row.sigma))] for row in rows]
    note = (
        "All choices vary together. μ*: the mean size of the effect of a factor's step on the decimal "
        "logarithm of the error; σ: how much that effect depends on the other factors."
    )
    return Sheet("Morris' screening", columns, body, (note,))


def _row(row: SensedRow, fields: Sequence[str], baselines: Mapping[str, SensedRow]) -> list[str]:
    nothing = Spread(math.nan, math.nan, 0, 0)
    errors = [row.measured.get(field, nothing) for field in fields]
    first = errors[0] if errors else row.loss
    baseline = baselines.get(row.objective)
    usual = (baseline.measured.get(fields[0], nothing) if fields else baseline.loss) if baseline else nothing
    ratio = first.mean / usual.mean if usual.mean else math.nan
    return [
        row.objective,
        f"{row.value} (baseline)" if row.is_baseline else row.value,
        *map(spread_cell, errors),
        number_cell(ratio),
        scientific_cell(row.loss.mean),
        count_cell(first),
    ]
