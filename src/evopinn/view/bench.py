"""A benchmark as tables for the terminal."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evopinn.bench import (
    BASELINE,
    COMPILED,
    DRIVER_LIMIT,
    FLOAT32_TARGET,
    GROWTH_LIMIT,
    MEMORY_LIMIT,
    OPTIMIZER_LIMIT,
    SHOW_LIMIT,
    SPEEDUP_TARGET,
    STEP_LIMIT,
    BenchReport,
    Comparison,
    DriverCost,
    LongRun,
    OptimizerCost,
    Precision,
    Scaling,
    StepCost,
    Throughput,
    Timing,
)
from evopinn.view.numbers import duration


def bench_tables(report: BenchReport) -> Group:
    """All sections that were measured, with the machine before them."""
    tables: list[RenderableType] = [_machine(report)]
    if report.engines:
        tables += ["", Text("Loss and gradient: time, and how many times faster than nested autograd")]
        tables.append(_engines(report.engines))
    if report.scaling:
        tables += ["", Text("How time grows, and memory at the worst moment"), _scaling(report.scaling)]
    if report.precision:
        tables += ["", Text("Single beside double precision"), _precision(report.precision)]
    if report.lbfgs:
        tables += ["", Text("What L-BFGS itself takes of a step"), _lbfgs(report.lbfgs)]
    if report.lm:
        tables += ["", Text("A step of Levenberg-Marquardt, beside the bare product of its Jacobian")]
        tables.append(_lm(report.lm))
    if report.search:
        tables += ["", Text("A search beside its trainings"), _search(report.search)]
    return Group(*tables)


def _machine(report: BenchReport) -> Table:
    machine = report.machine
    table = Table(show_header=False, box=None, pad_edge=False)
    used = "two" if report.search else "one"
    memory = "unknown" if machine.memory is None else f"{machine.memory / 2**30:.0f} GiB"
    versions = [f"{name} {number or 'not installed'}" for name, number in machine.versions.items()]
    rows = {
        "processor": f"{machine.processor}, {machine.vectors}",
        "machine": f"{machine.cores} cores, {used} used; {memory}; {machine.system}",
        "versions": ", ".join(versions),
        "torch's BLAS": machine.blas,
        "measured": f"float64 unless said otherwise, warm, medians of {report.rounds}",
    }
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(value))
    return table


def _engines(rows: Sequence[Comparison]) -> Table:
    names = list(rows[0].timings)
    compiled = [name for name in names if name in COMPILED]
    table = _table("problem", "network", *names, *(f"{name} compile" for name in compiled), "target")
    for row in rows:
        cells = [_timing(row, name) for name in names]
        setups = [_setup(row.timings[name]) for name in compiled]
        targets = [_target(row, name) for name in names if row.target(name) is not None]
        table.add_row(row.case.problem, Text(row.case.label), *cells, *setups, "\n".join(targets))
    return table


def _timing(row: Comparison, contestant: str) -> str:
    timing, ratio = row.timings[contestant], row.ratio(contestant)
    if timing.seconds is None:
        return timing.note
    shown = _milliseconds(timing.seconds)
    return shown if ratio is None or contestant == BASELINE else f"{shown} {ratio:.2f}×"


def _setup(timing: Timing) -> str:
    return "" if timing.setup is None else duration(timing.setup)


def _target(row: Comparison, engine: str) -> str:
    shortfall = row.shortfall(engine)
    verdict = "not measured" if shortfall is None else "met"
    if shortfall:
        verdict = f"missed by {100 * shortfall:.0f} %"
    return f"{engine} {row.target(engine):g}×: {verdict}"


def _scaling(rows: Sequence[Scaling]) -> Table:
    table = _table("engine", "by", "size", "time", "peak memory", "exponent", "aim")
    for row in rows:
        cells = [asdict(cell) for cell in row.cells]
        aims = [f"{row.expected:g}"]
        if row.axis == "points":
            met = row.cells[-1].peak < MEMORY_LIMIT
            aims.append(_limit(_megabytes(MEMORY_LIMIT), met=met))
        table.add_row(
            row.engine,
            row.axis,
            "\n".join(f"{cell['size']:,}" for cell in cells),
            "\n".join(_milliseconds(cell["seconds"]) for cell in cells),
            "\n".join(_megabytes(cell["peak"]) for cell in cells),
            f"{row.exponent:.2f}",
            "\n".join(aims),
        )
    return table


def _precision(rows: Sequence[Precision]) -> Table:
    table = _table("engine", "problem", "network", "float64", "float32", "times faster", "target")
    for row in rows:
        missed = f"missed by {100 * (1 - row.ratio / FLOAT32_TARGET):.0f} %"
        verdict = "met" if row.ratio >= FLOAT32_TARGET else missed
        table.add_row(
            row.engine,
            row.case.problem,
            Text(row.case.label),
            _milliseconds(row.float64),
            _milliseconds(row.float32),
            f"{row.ratio:.2f}×",
            f"{FLOAT32_TARGET:g}×: {verdict}",
        )
    return table


def _lbfgs(rows: Sequence[OptimizerCost]) -> Table:
    table = _table("engine", "parameters", "history", "L-BFGS", "evaluation", "share", "target")
    for row in rows:
        table.add_row(
            row.engine,
            f"{row.parameters:,}",
            str(row.memory),
            _milliseconds(row.own),
            _milliseconds(row.evaluation),
            f"{100 * row.share:.1f} %",
            _limit(f"{100 * OPTIMIZER_LIMIT:.0f} %", met=row.share < OPTIMIZER_LIMIT),
        )
    return table


def _lm(rows: Sequence[StepCost]) -> Table:
    table = _table(
        "problem",
        "parameters",
        "residuals",
        "JᵀJ",
        "Jacobian",
        "its half",
        "factor",
        "residuals",
        "trials",
        "step",
        "target",
    )
    for row in rows:
        parts = (row.product, row.jacobian, row.gram, row.factor, row.residuals)
        table.add_row(
            row.case.problem,
            f"{row.parameters:,}",
            f"{row.rows:,}",
            *(_milliseconds(part) for part in parts),
            f"{row.trials:g}",
            f"{_milliseconds(row.step)} ({row.ratio:.2f}×)",
            _limit(f"{STEP_LIMIT:g}×", met=row.ratio <= STEP_LIMIT),
        )
    return table


def _search(rows: Sequence[Throughput | DriverCost | LongRun]) -> Table:
    table = _table("measure", "of", "figures", "result", "target")
    for row in rows:
        for cells in _measures(row):
            table.add_row(*cells)
    return table


def _measures(row: Throughput | DriverCost | LongRun) -> list[tuple[str, ...]]:
    match row:
        case Throughput():
            one, two = (duration(statistics.median(seconds)) for seconds in (row.one, row.two))
            missed = f"missed by {100 * (1 - row.speedup / SPEEDUP_TARGET):.0f} %"
            verdict = "met" if row.speedup >= SPEEDUP_TARGET else missed
            return [
                (
                    "two workers",
                    f"{row.trainings} trainings",
                    f"one worker {one}, two {two}",
                    f"{row.speedup:.2f}×",
                    f"{SPEEDUP_TARGET:g}×: {verdict}",
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


def _limit(text: str, *, met: bool) -> str:
    return f"below {text}: {'met' if met else 'missed'}"


def _table(*columns: str) -> Table:
    table = Table(header_style="bold", box=None)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _milliseconds(seconds: float) -> str:
    """Three digits, and no less than whole milliseconds from a hundred on."""
    return f"{1000 * seconds:.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 2}f} ms"


def _megabytes(count: int) -> str:
    return f"{count / 10**6:,.0f} MB"
