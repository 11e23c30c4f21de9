"""The tables of a benchmark, one for each section."""

import statistics
from collections.abc import Sequence

from evopinn.lab.bench.contestants import BASELINE, COMPILED
from evopinn.lab.bench.findings import (
    DRIVER_LIMIT,
    FLOAT32_TARGET,
    GROWTH_LIMIT,
    MEMORY_LIMIT,
    OPTIMIZER_LIMIT,
    SHOW_LIMIT,
    SPEEDUP_TARGET,
    STEP_LIMIT,
    CaseTimings,
    DriverCost,
    LongRun,
    OptimizerCost,
    Precision,
    Scaling,
    StepCost,
    Throughput,
)
from evopinn.view.numbers import duration
from evopinn.view.tables import Column, Table

_CASE = (
    Column("problem", value=lambda row: row.case.problem),
    Column("network", value=lambda row: row.case.label),
)


def engines_table(rows: Sequence[CaseTimings]) -> Table:
    """A row for each case, with all contestants."""
    names = list(rows[0].timings) if rows else []
    compiled = [name for name in names if name in COMPILED]
    columns = (
        *_CASE,
        *(Column(name, value=lambda row, name=name: _timing(row, name)) for name in names),
        *(Column(f"{name} compile", value=lambda row, name=name: _setup(row, name)) for name in compiled),
        Column("target", value=_targets),
    )
    return Table("Loss and gradient: time, and how many times faster than nested autograd", columns, rows)


def scaling_table(rows: Sequence[Scaling]) -> Table:
    """A row for each size, below the engine and the axis."""
    columns = (
        Column("engine", value=lambda pair: pair[0].engine),
        Column("by", value=lambda pair: pair[0].axis),
        Column("exponent", "number", lambda pair: f"{pair[0].exponent:.2f}"),
        Column("expected", "plain", lambda pair: pair[0].expected),
        Column("memory", value=lambda pair: _memory_target(pair[0])),
        Column("size", "count", lambda pair: pair[1].size),
        Column("time", "number", lambda pair: _milliseconds(pair[1].seconds)),
        Column("peak memory", "number", lambda pair: _megabytes(pair[1].peak)),
    )
    pairs = [(row, cell) for row in rows for cell in row.cells]
    return Table("Growth of the time, and peak memory", columns, pairs, groups=5)


def precision_table(rows: Sequence[Precision]) -> Table:
    """A row for each engine and case."""
    columns = (
        Column("engine", value=lambda row: row.engine),
        *_CASE,
        Column("float64", "number", lambda row: _milliseconds(row.float64)),
        Column("float32", "number", lambda row: _milliseconds(row.float32)),
        Column("times faster", "number", lambda row: f"{row.ratio:.2f}×"),
        Column("target", value=lambda row: _target(row.ratio, FLOAT32_TARGET)),
    )
    return Table("Single beside double precision", columns, rows)


def lbfgs_table(rows: Sequence[OptimizerCost]) -> Table:
    """A row for each engine."""
    limit = f"{100 * OPTIMIZER_LIMIT:.0f} %"
    columns = (
        Column("engine", value=lambda row: row.engine),
        Column("parameters", "count", lambda row: row.parameters),
        Column("history", "count", lambda row: row.memory),
        Column("L-BFGS", "number", lambda row: _milliseconds(row.own)),
        Column("evaluation", "number", lambda row: _milliseconds(row.evaluation)),
        Column("share", "number", lambda row: f"{100 * row.share:.1f} %"),
        Column("target", value=lambda row: _limit(limit, met=row.share < OPTIMIZER_LIMIT)),
    )
    return Table("The share of L-BFGS itself in a step", columns, rows)


def lm_table(rows: Sequence[StepCost]) -> Table:
    """A row for each case, with the parts of a step."""
    times = (
        ("JᵀJ", "product"),
        ("Jacobian", "jacobian"),
        ("its half", "gram"),
        ("factor", "factor"),
        ("residuals", "residuals"),
    )
    columns = (
        _CASE[0],
        Column("parameters", "count", lambda row: row.parameters),
        Column("residuals", "count", lambda row: row.rows),
        *(
            Column(name, "number", lambda row, part=part: _milliseconds(getattr(row, part)))
            for name, part in times
        ),
        Column("trials", "plain", lambda row: row.trials),
        Column("step", "number", lambda row: f"{_milliseconds(row.step)} ({row.ratio:.2f}×)"),
        Column("target", value=lambda row: _limit(f"{STEP_LIMIT:g}×", met=row.ratio <= STEP_LIMIT)),
    )
    return Table("A step of Levenberg-Marquardt, beside the bare product of its Jacobian", columns, rows)


def search_table(rows: Sequence[Throughput | DriverCost | LongRun]) -> Table:
    """A row for each figure."""
    names = ("measure", "of", "figures", "result", "target")
    measures = [cells for row in rows for cells in _measures(row)]
    return Table("A search beside its trainings", tuple(map(Column, names)), measures)


def _timing(row: CaseTimings, contestant: str) -> str:
    timing, ratio = row.timings[contestant], row.ratio(contestant)
    if timing.seconds is None:
        return timing.note
    shown = _milliseconds(timing.seconds)
    return shown if ratio is None or contestant == BASELINE else f"{shown} {ratio:.2f}×"


def _setup(row: CaseTimings, contestant: str) -> str:
    setup = row.timings[contestant].setup
    return "" if setup is None else duration(setup)


def _targets(row: CaseTimings) -> str:
    """The target of each engine that has one, and whether it is met."""
    aims = {name: target for name in row.timings if (target := row.target(name)) is not None}
    return "; ".join(f"{name} {_target(row.ratio(name), target)}" for name, target in aims.items())


def _memory_target(row: Scaling) -> str:
    met = row.cells[-1].peak < MEMORY_LIMIT
    return _limit(_megabytes(MEMORY_LIMIT), met=met) if row.axis == "points" else ""


def _measures(row: Throughput | DriverCost | LongRun) -> list[tuple[str, ...]]:
    match row:
        case Throughput():
            one, two = (duration(statistics.median(seconds)) for seconds in (row.one, row.two))
            return [
                (
                    "two workers",
                    f"{row.trainings} trainings",
                    f"one worker {one}, two {two}",
                    f"{row.speedup:.2f}×",
                    _target(row.speedup, SPEEDUP_TARGET),
                )
            ]
        case DriverCost():
            return [
                (
                    "driver and store",
                    f"{row.evaluations:,} simulated evaluations",
                    f"{_milliseconds(row.wall)} each, CPU {_milliseconds(row.cpu)}; "
                    f"two workers {_milliseconds(row.interval)}",
                    f"{100 * row.share:.1f} %",
                    _limit(f"{100 * DRIVER_LIMIT:.0f} %", met=row.share < DRIVER_LIMIT),
                )
            ]
        case LongRun():
            return [
                (
                    "driver's memory",
                    f"{row.evaluations:,} simulated evaluations",
                    f"{_megabytes(row.early)} after a tenth, {_megabytes(row.late)} at the end; "
                    f"{row.rate:,.0f} evaluations/s",
                    f"{row.growth / 10**6:+.1f} MB",
                    _limit(_megabytes(GROWTH_LIMIT), met=row.growth < GROWTH_LIMIT),
                ),
                (
                    "evopinn show",
                    "the same run",
                    "",
                    duration(row.show),
                    _limit(f"{SHOW_LIMIT:g} s", met=row.show < SHOW_LIMIT),
                ),
            ]


def _target(ratio: float | None, target: float) -> str:
    if ratio is None:
        verdict = "not measured"
    else:
        verdict = "met" if ratio >= target else f"missed by {100 * (1 - ratio / target):.0f} %"
    return f"{target:g}×: {verdict}"


def _limit(text: str, *, met: bool) -> str:
    return f"below {text}: {'met' if met else 'missed'}"


def _milliseconds(seconds: float) -> str:
    """Three digits, and no less than whole milliseconds from a hundred on."""
    return f"{1000 * seconds:.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 2}f} ms"


def _megabytes(count: int) -> str:
    return f"{count / 10**6:,.0f} MB"
