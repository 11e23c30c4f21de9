"""The sections of a benchmark, and a run of them."""

import os
import statistics
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from evopinn.bench.cases import Case
from evopinn.bench.comparing import Report, compare
from evopinn.bench.contestants import fast_engines
from evopinn.bench.evaluation import Evaluation
from evopinn.bench.isolation import CrashedError, Isolated
from evopinn.bench.machine import this_machine
from evopinn.bench.plan import Axis, Plan
from evopinn.bench.report import BenchReport, Cell, OptimizerCost, Precision, Scaling, StepCost
from evopinn.bench.searching import measure_driver, measure_long_run, measure_throughput
from evopinn.bench.second_order import SecondOrder
from evopinn.bench.stepping import Stepping
from evopinn.errors import UnknownNameError
from evopinn.network import Layout

STEPS = 30

T = TypeVar("T")


def run_bench(plan: Plan, rounds: int, report: Report, only: str | None = None) -> BenchReport:
    """Measure the sections of a plan, or one.

    Args:
        plan: How much is measured.
        rounds: Evaluations of which the median is taken.
        report: Told what is being measured.
        only: One section's name.

    Raises:
        UnknownNameError: There is no such section.
    """
    if only is not None and only not in SECTIONS:
        raise UnknownNameError("section", only, SECTIONS, f"The sections are {', '.join(SECTIONS)}.")
    chosen = plan.sections if only is None else (only,)
    with _fresh_kernels():
        measured = {name: SECTIONS[name](plan, rounds, report) for name in chosen}
    return BenchReport(this_machine(), rounds, **measured)


@contextmanager
def _fresh_kernels() -> Generator[None]:
    """No kernel that an earlier run left: times to compile are times to compile."""
    before = os.environ.get("EVOPINN_CACHE")
    with tempfile.TemporaryDirectory() as store:
        os.environ["EVOPINN_CACHE"] = store
        try:
            yield
        finally:
            del os.environ["EVOPINN_CACHE"]
            if before is not None:
                os.environ["EVOPINN_CACHE"] = before


def _engines(plan: Plan, rounds: int, report: Report) -> list[Any]:
    return compare(plan.cases, rounds, report)


def _scaling(plan: Plan, rounds: int, report: Report) -> list[Any]:
    return _rows(
        report,
        (
            (f"scaling: {engine} by {name}", partial(_scale, engine, name, axis, rounds))
            for engine in fast_engines()
            for name, axis in plan.axes.items()
        ),
    )


def _scale(engine: str, name: str, axis: Axis, rounds: int) -> Scaling:
    cells: list[Cell] = []
    for size, case in axis.cases.items():
        with Isolated(Evaluation, engine) as process:  # a new one each time: a peak does not go down again
            process.call("prepare", case)
            cells.append(Cell(size, process.call("median", rounds), process.call("peak")))
    return Scaling(engine, name, axis.expected, tuple(cells))


def _precision(plan: Plan, rounds: int, report: Report) -> list[Any]:
    return _rows(
        report,
        (
            (f"precision: {engine}, {case.problem}, {case.label}", partial(_precise, engine, case, rounds))
            for engine in fast_engines()
            for case in plan.precise
        ),
    )


def _precise(engine: str, case: Case, rounds: int) -> Precision:
    names = ("float64", "float32")
    with Isolated(Evaluation, engine, names[0]) as double, Isolated(Evaluation, engine, names[1]) as single:
        comparison = _interleaved((double, single), case, rounds)
    return Precision(engine, case, *comparison)


def _interleaved(processes: Iterable[Isolated], case: Case, rounds: int) -> list[float]:
    """The median time of each process, taken in turn."""
    each = tuple(processes)
    for process in each:
        process.call("prepare", case)
    turns = [[process.call("seconds") for process in each] for _ in range(rounds)]
    return [statistics.median(times) for times in zip(*turns, strict=True)]


def _lbfgs(plan: Plan, rounds: int, report: Report) -> list[Any]:
    problem, genome = plan.largest.statement(), plan.largest.genome
    parameters = Layout.of(genome, len(problem.axes), len(problem.fields)).size
    return _rows(
        report,
        (
            (f"lbfgs: beside {engine}", partial(_optimizer_cost, engine, plan, parameters, rounds))
            for engine in fast_engines()
        ),
    )


def _optimizer_cost(engine: str, plan: Plan, parameters: int, rounds: int) -> OptimizerCost:
    with Isolated(Stepping) as stepping, Isolated(Evaluation, engine) as evaluation:
        evaluation.call("prepare", plan.largest)  # from here on it is idle unless asked
        own = stepping.call("own_seconds", parameters, plan.memory, STEPS)
        return OptimizerCost(engine, parameters, plan.memory, own, evaluation.call("median", rounds))


def _lm(plan: Plan, rounds: int, report: Report) -> list[Any]:
    return _rows(
        report,
        (
            (f"lm: {case.problem}, {case.label}", partial(_step_cost, case, rounds))
            for case in plan.second_order
        ),
    )


def _step_cost(case: Case, rounds: int) -> StepCost:
    with Isolated(SecondOrder) as process:
        return StepCost(case, **process.call("parts", case, rounds))


def _search(plan: Plan, rounds: int, report: Report) -> list[Any]:
    load = plan.search
    report(f"search: {load.trainings} trainings with one worker and with two, {rounds} times")
    throughput = measure_throughput(load, rounds)
    simulations: tuple[tuple[str, Callable[[], Any]], ...] = (
        (
            f"search: a generation of {load.population:,}, simulated, {rounds} times",
            partial(measure_driver, load, rounds, throughput.interval),
        ),
        (
            f"search: a run of {load.evaluations:,} evaluations, simulated",
            partial(measure_long_run, load, rounds),
        ),
    )
    return [throughput, *_rows(report, simulations)]


def _rows(report: Report, jobs: Iterable[tuple[str, Callable[[], T]]]) -> list[T]:
    """What each job gives; one that crashes is told and left out, so that the rest is not lost."""
    rows: list[T] = []
    for label, job in jobs:
        report(label)
        try:
            rows.append(job())
        except CrashedError:
            report(f"{label}: failed, left out")
    return rows


Section = Callable[[Plan, int, Report], list[Any]]

SECTIONS: Mapping[str, Section] = MappingProxyType(
    {
        "engines": _engines,
        "scaling": _scaling,
        "precision": _precision,
        "lbfgs": _lbfgs,
        "lm": _lm,
        "search": _search,
    }
)
"""By name, in the order of a run."""
