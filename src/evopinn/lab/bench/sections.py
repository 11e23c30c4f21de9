"""The sections of a benchmark: how each is measured and shown."""

import os
import statistics
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from rich.console import Group, RenderableType

from evopinn.errors import UnknownNameError
from evopinn.lab.bench import bench_tables as tables
from evopinn.lab.bench.cases import Axis, Case, Scope
from evopinn.lab.bench.contestant_timing import Report, TimedContestant, time_contestants
from evopinn.lab.bench.contestants import fast_engines
from evopinn.lab.bench.findings import OptimizerCost, Precision, ScalePoint, Scaling, StepCost
from evopinn.lab.bench.isolation import CrashedError, Isolated
from evopinn.lab.bench.machine import Machine, this_machine
from evopinn.lab.bench.optimizer_steps import TimedLBFGS, TimedLM
from evopinn.lab.bench.search_overhead import measure_driver, measure_long_run, measure_throughput
from evopinn.network import Layout
from evopinn.view.tables import Fact, Facts, Table

STEPS = 30

T = TypeVar("T")


@dataclass(frozen=True)
class BenchReport:
    """Everything that was measured.

    Attributes:
        machine: The machine.
        rounds: Evaluations of which medians were taken.
        measured: Findings by section.
    """

    machine: Machine
    rounds: int
    measured: Mapping[str, Sequence[Any]]

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        measured = {name: [each.data() for each in self.measured.get(name, ())] for name in SECTIONS}
        return {"machine": asdict(self.machine), "rounds": self.rounds, **measured}

    def rich(self) -> Group:
        """The machine and the tables of all sections that were measured, for a terminal."""
        shown: list[RenderableType] = [self._conditions().rich()]
        for name, rows in self.measured.items():
            if rows:
                shown += ["", SECTIONS[name].table(rows).rich()]
        return Group(*shown)

    def _conditions(self) -> Facts:
        machine = self.machine
        used = "two" if self.measured.get("search") else "one"
        memory = "unknown" if machine.memory is None else f"{machine.memory / 2**30:.0f} GiB"
        versions = [f"{name} {number or 'not installed'}" for name, number in machine.versions.items()]
        return Facts(
            (
                Fact("processor", f"{machine.processor}, {machine.vectors}"),
                Fact("machine", f"{machine.cores} cores, {used} used; {memory}; {machine.system}"),
                Fact("versions", ", ".join(versions)),
                Fact("torch's BLAS", machine.blas),
                Fact("measured", f"float64 unless said otherwise, warm, medians of {self.rounds}"),
            )
        )


@dataclass(frozen=True)
class BenchSection:
    """A section of a benchmark.

    Attributes:
        measure: Gives its findings.
        table: Shows them.
    """

    measure: Callable[[Scope, int, Report], Sequence[Any]]
    table: Callable[[Sequence[Any]], Table]


def run_bench(scope: Scope, rounds: int, report: Report, only: str | None = None) -> BenchReport:
    """Measure the default sections of a scope, or one section.

    Args:
        scope: How much is measured.
        rounds: Evaluations of which the median is taken.
        report: Told what is being measured.
        only: One section's name.

    Raises:
        UnknownNameError: There is no such section.
    """
    if only is not None and only not in SECTIONS:
        raise UnknownNameError("section", only, SECTIONS, f"The sections are {', '.join(SECTIONS)}.")
    chosen = scope.sections if only is None else (only,)
    with _fresh_kernels():
        measured = {name: SECTIONS[name].measure(scope, rounds, report) for name in chosen}
    return BenchReport(this_machine(), rounds, measured)


@contextmanager
def _fresh_kernels() -> Generator[None]:
    """An empty cache of kernels, so that compile times are real."""
    before = os.environ.get("EVOPINN_CACHE")
    with tempfile.TemporaryDirectory() as store:
        os.environ["EVOPINN_CACHE"] = store
        try:
            yield
        finally:
            del os.environ["EVOPINN_CACHE"]
            if before is not None:
                os.environ["EVOPINN_CACHE"] = before


def _engines(scope: Scope, rounds: int, report: Report) -> list[Any]:
    return time_contestants(scope.cases, rounds, report)


def _scaling(scope: Scope, rounds: int, report: Report) -> list[Any]:
    return _rows(
        report,
        (
            (f"scaling: {engine} by {name}", partial(_scale, engine, name, axis, rounds))
            for engine in fast_engines()
            for name, axis in scope.axes.items()
        ),
    )


def _scale(engine: str, name: str, axis: Axis, rounds: int) -> Scaling:
    cells: list[ScalePoint] = []
    for size, case in axis.cases.items():
        with Isolated(
            TimedContestant, engine
        ) as process:  # a new one each time: a peak does not go down again
            process.call("prepare", case)
            cells.append(ScalePoint(size, process.call("median", rounds), process.call("peak")))
    return Scaling(engine, name, axis.expected, tuple(cells))


def _precision(scope: Scope, rounds: int, report: Report) -> list[Any]:
    return _rows(
        report,
        (
            (f"precision: {engine}, {case.problem}, {case.label}", partial(_precise, engine, case, rounds))
            for engine in fast_engines()
            for case in scope.precise
        ),
    )


def _precise(engine: str, case: Case, rounds: int) -> Precision:
    names = ("float64", "float32")
    with (
        Isolated(TimedContestant, engine, names[0]) as double,
        Isolated(TimedContestant, engine, names[1]) as single,
    ):
        comparison = _interleaved((double, single), case, rounds)
    return Precision(engine, case, *comparison)


def _interleaved(processes: Iterable[Isolated], case: Case, rounds: int) -> list[float]:
    """The median time of each process, taken in turn."""
    each = tuple(processes)
    for process in each:
        process.call("prepare", case)
    turns = [[process.call("seconds") for process in each] for _ in range(rounds)]
    return [statistics.median(times) for times in zip(*turns, strict=True)]


def _lbfgs(scope: Scope, rounds: int, report: Report) -> list[Any]:
    problem, genome = scope.largest.statement(), scope.largest.genome
    parameters = Layout.of(genome, problem).size
    return _rows(
        report,
        (
            (f"lbfgs: beside {engine}", partial(_optimizer_cost, engine, scope, parameters, rounds))
            for engine in fast_engines()
        ),
    )


def _optimizer_cost(engine: str, scope: Scope, parameters: int, rounds: int) -> OptimizerCost:
    with Isolated(TimedLBFGS) as stepping, Isolated(TimedContestant, engine) as evaluation:
        evaluation.call("prepare", scope.largest)  # from here on it is idle unless asked
        own = stepping.call("own_seconds", parameters, scope.memory, STEPS)
        return OptimizerCost(engine, parameters, scope.memory, own, evaluation.call("median", rounds))


def _lm(scope: Scope, rounds: int, report: Report) -> list[Any]:
    return _rows(
        report,
        (
            (f"lm: {case.problem}, {case.label}", partial(_step_cost, case, rounds))
            for case in scope.second_order
        ),
    )


def _step_cost(case: Case, rounds: int) -> StepCost:
    with Isolated(TimedLM) as process:
        return StepCost(case, **process.call("parts", case, rounds))


def _search(scope: Scope, rounds: int, report: Report) -> list[Any]:
    load = scope.search
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
    """The result of each job; one that crashes is reported and left out, so that the rest is not lost."""
    rows: list[T] = []
    for label, job in jobs:
        report(label)
        try:
            rows.append(job())
        except CrashedError:
            report(f"{label}: failed, left out")
    return rows


SECTIONS: Mapping[str, BenchSection] = MappingProxyType(
    {
        "engines": BenchSection(_engines, tables.engines_table),
        "scaling": BenchSection(_scaling, tables.scaling_table),
        "precision": BenchSection(_precision, tables.precision_table),
        "lbfgs": BenchSection(_lbfgs, tables.lbfgs_table),
        "lm": BenchSection(_lm, tables.lm_table),
        "search": BenchSection(_search, tables.search_table),
    }
)
"""By name, in the order in which they are measured."""
