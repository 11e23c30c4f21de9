"""Sessions, which start or resume a run or only time its trainings, with one prelude."""

import math
import os
import platform
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from statistics import median_low
from typing import Any

import torch

from evopinn.errors import GenomeError, RunError
from evopinn.network import Layout
from evopinn.problem import Problem
from evopinn.problem.scales import UNSCALED, Scales
from evopinn.run.budget_plan import (
    Pace,
    known_plan,
    measured,
    measured_plan,
)
from evopinn.run.checkpoints import Checkpoints
from evopinn.run.config import (
    DEFAULT_BUDGET,
    LOCAL,
    Config,
    RecordedTable,
    WorkersTable,
    check_config_unchanged,
    parse_config,
)
from evopinn.run.driver import Driver, Limits
from evopinn.run.naming import request_digest
from evopinn.run.progress import Phase, ProgressTracker, Snapshot, Watcher
from evopinn.search import Plan
from evopinn.store.reader import Reader
from evopinn.store.store import Store, check_free, check_writable
from evopinn.store.weights import lost_weights
from evopinn.training import cost_of_epochs, typical_cost, warnings_before
from evopinn.workers.cluster.cluster import Cluster
from evopinn.workers.cluster.messages import WorkerResources
from evopinn.workers.cluster.ray_task import processor
from evopinn.workers.evaluation import Trainer, check_options, is_valid_result, packed_work, unpacked_result
from evopinn.workers.pool import LocalPool, Pool
from evopinn.workers.problem_source import ProblemSource, same_fingerprint

_MEGABYTE = 2**20
_STARTUP_SECONDS, _STARTUP_FACTOR = 120.0, 10.0  # many workers may start at once on few cores
_PACKAGES = ("evopinn", "torch", "numpy", "llvmlite", "optuna")
"""The packages on which the last digits of results depend, besides Python and the processor."""


@dataclass(frozen=True)
class Observer:
    """The observer of a run, who may stop it.

    Attributes:
        watch: Receives snapshots of the search, a few times a second.
        say: Receives messages about the run.
        stopped: Whether to stop the run.
        in_study: Whether the run is part of a study.
        phases: The phases that were reported so far.
    """

    watch: Watcher
    say: Callable[[str], None]
    stopped: Callable[[], bool]
    in_study: bool = False
    phases: set[Phase] = field(default_factory=set[Phase])

    def report(self, now: Snapshot) -> None:
        """Report the state of the run."""
        self.phases.add(now.phase)
        self.watch(now)


@dataclass(frozen=True)
class _Session:
    """The state of a session before its first training: a loaded problem, and workers here or on a cluster.

    Attributes:
        config: What to do.
        source: The loaded problem.
        observer: The observer of the run.
        cluster: The cluster of the workers; None for this machine.
        snapshot: The state of the session before its first training.
    """

    config: Config
    source: ProblemSource
    observer: Observer
    cluster: Cluster | None
    snapshot: Snapshot

    @property
    def count(self) -> int:
        """The number of workers."""
        return self.snapshot.workers

    def tell(self, phase: Phase) -> None:
        """Report a new phase."""
        self.observer.report(replace(self.snapshot, phase=phase))

    def pool(self) -> AbstractContextManager[Pool]:
        """Workers that train on this problem; one that starts later refuses a problem that has changed.

        Their time limit for loading it follows from the time that it took here.
        """
        table, source, options = self.config.workers, self.source, self.config.training_options()
        memory_limit = table.memory * _MEGABYTE
        startup_seconds = _STARTUP_SECONDS + _STARTUP_FACTOR * round(source.loading_seconds)
        if self.cluster is None:
            return LocalPool(
                Trainer,
                (source, options, source.fingerprint),
                count=self.count,
                memory_limit=memory_limit,
                accept=is_valid_result,
                startup=f"loading the problem {source.problem.name}",
                startup_seconds=startup_seconds,
                say=self.observer.say,
            )
        pool = self.cluster.pool(
            Trainer,
            (source.portable(), options.on_gpu(table.gpus or 0.0), source.fingerprint),
            memory_limit=memory_limit,
            startup_seconds=startup_seconds,
            pack=packed_work,
            unpack=unpacked_result,
        )
        return nullcontext(pool)

    def pace(self, pool: Pool) -> Pace | None:
        """The measured speed of trainings; None if the session was stopped meanwhile."""
        self.tell("measuring")
        config = self.config
        cost = cost_of_epochs(config.training_options().optimizer)
        return measured(pool, self.count, config.search_space(), cost, config.seed, self.observer.stopped)


@contextmanager
def _session(
    config: Config, source: ProblemSource, observer: Observer, directory: Path = Path(), method: str = ""
) -> Generator[_Session]:
    """Connect to the cluster, if the configuration has one, and load the problem."""
    with _connect(config.workers, observer.say) as cluster:
        count = _worker_count(config.workers, cluster)
        snapshot = Snapshot(
            directory, source.name, method, "loading", workers=count, in_study=observer.in_study
        )
        observer.report(snapshot)
        snapshot = replace(snapshot, problem=source.problem.name)
        yield _Session(config, source, observer, cluster, snapshot)


def begin(config: Config, source: ProblemSource, directory: Path, observer: Observer) -> bool:
    """Start a run and carry it out.

    Every refusal comes before the first process starts. The plan is written into the run before
    its first training.

    Args:
        config: What to do.
        source: The problem.
        directory: The run's directory, new or empty.
        observer: The observer of the run.

    Returns:
        Whether the run has finished; False if it was stopped.
    """
    started = time.monotonic()
    with _session(config, source, observer, directory, config.method) as session:
        check_options(source.problem, config.training_options())
        coarsest = config.find_method().coarsest(config.method_settings())
        source.problem.coarsened(coarsest * config.training.coarseness)  # refuses to leave too few points
        plan = known_plan(config, session.count)
        check_free(directory)
        warned = _warnings(config, source.problem.coarsened(config.training.coarseness))
        for sentence in warned:
            observer.say(f"warning: {sentence}")
        session.tell("starting")
        with session.pool() as pool:
            if plan is None:
                pace = session.pace(pool)
                if pace is None:
                    return False
                plan = measured_plan(config, pace, session.count, time.monotonic() - started)
            observer.say(plan.describe())
            settled = config.settled(plan.workplan, _recorded(source, config, plan, warned))
            with Store.create(directory, settled.toml(), versions()) as store:
                return _drive(settled, store, pool, session)


def resume(
    directory: Path,
    observer: Observer,
    source: ProblemSource | None = None,
    workers_table: Mapping[str, Any] | None = None,
) -> bool:
    """Resume a run where it stopped.

    Args:
        directory: The run's.
        observer: The observer of the run.
        source: Its problem, if that was an object or its file has moved.
        workers_table: Entries of `WorkersTable` that replace those of the run.

    Returns:
        Whether the run has finished; False if it was stopped.
    """
    if _is_read_only(directory):
        return True
    with Store.open(directory) as store:
        config = recorded_config(store.config, directory)
        check_config_unchanged(directory, store.config)
        with Reader(directory) as reader:
            if reader.state() == "finished" and not lost_weights(directory):
                return True
        source = source or ProblemSource.recorded(config.problem, directory)
        source = source.scaled_as(recorded_scales(config))
        config = config.with_workers(workers_table or {})
        with _session(config, source, observer, directory, config.method) as session:
            _refuse_other_problem(source, config, directory)
            plan = known_plan(config, session.count)
            assert plan is not None  # recorded when the run started
            session.tell("starting")
            observer.say(plan.describe())
            store.note("resumed", _changed_versions(directory, observer))
            with session.pool() as pool:
                return _drive(config, store, pool, session)


def measure_pace(config: Config, source: ProblemSource, observer: Observer) -> tuple[Pace, int] | None:
    """The speed of the trainings of such a run, and the number of workers; None if it was stopped."""
    with _session(config, source, observer) as session:
        check_options(source.problem, config.training_options())
        with session.pool() as pool:
            pace = session.pace(pool)
            return None if pace is None else (pace, session.count)


def recorded_config(text: str, directory: Path) -> Config:
    """The configuration with which a run started."""
    return Config.of(parse_config(text, f"the configuration of the run {directory}"))


def recorded_scales(config: Config) -> Scales:
    """The scales of a recorded run's problem; runs from before there were any have none."""
    table = config.recorded and config.recorded.scales
    return UNSCALED if table is None else Scales.from_json(table)


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that compute, and the processor."""
    packages = {name: version(name) for name in _PACKAGES}
    return packages | {"python": platform.python_version(), "processor": processor()}


def _drive(config: Config, store: Store, pool: Pool, session: _Session) -> bool:
    workplan, method, settings = config.workplan(), config.find_method(), config.method_settings()
    assert workplan is not None
    space = config.search_space()
    checkpoints = Checkpoints(
        store.directory, method.continued(workplan, settings), last=workplan.generations
    )
    cost = cost_of_epochs(config.training_options().optimizer)
    typical = typical_cost(space, cost)
    limit = config.training.slowest * typical if method.skips_costly else math.inf
    recorded = config.recorded
    pace = recorded.seconds_per_epoch / typical if recorded and recorded.seconds_per_epoch else None
    observer = session.observer
    progress = ProgressTracker(session.snapshot, method.workload(workplan, settings), observer.report)
    driver = Driver(
        searcher=method.make(workplan, config.seed, space, settings),
        store=store,
        pool=pool,
        checkpoints=checkpoints,
        limits=Limits(cost, limit, config.workers.deadline, pace),
        progress=progress,
        stopped=observer.stopped,
    )
    with _one_thread():
        finished = driver.run()
    store.note("finished" if finished else "stopped")
    progress.report("finished" if finished else "stopped")
    return finished


def _warnings(config: Config, problem: Problem) -> list[str]:
    """What to warn about before the first training, for a network as large as the first ones."""
    sizes: list[int] = []
    for genome in config.find_method().first_genomes(config.workplan(), config.search_space()):
        with suppress(GenomeError):  # too few neurons for the coordinates that a shortcut carries
            sizes.append(Layout.of(genome, problem).size)
    if not sizes:
        return []
    name = "a typical network of this search"
    return list(warnings_before(problem, network=name, parameters=median_low(sizes)))


def _recorded(source: ProblemSource, config: Config, plan: Plan, warned: list[str]) -> RecordedTable:
    return RecordedTable(
        fingerprint=source.fingerprint,
        request=request_digest(config, source.fingerprint),
        problem=source.problem.name,
        scales=None if source.problem.scales == UNSCALED else source.problem.scales.to_json(),
        plan=plan.describe(),
        budget=config.budget or config.preset or (None if config.workplan() else DEFAULT_BUDGET),
        seconds_per_epoch=plan.budget.seconds_per_epoch,
        seconds_per_training=plan.budget.seconds_per_training or None,
        warnings=warned or None,
    )


def _changed_versions(directory: Path, observer: Observer) -> str:
    """Report versions that have changed since the run started; they may change last digits of results."""
    with Reader(directory) as reader:
        before = reader.about().versions
    now = versions()
    changed = [
        f"{name} {before[name]} → {now[name]}" for name in now if before.get(name, now[name]) != now[name]
    ]
    if not changed:
        return ""
    text = f"versions have changed since the run started: {', '.join(changed)}"
    observer.say(f"note: {text}; results may differ in their last digits.")
    return text


def _refuse_other_problem(source: ProblemSource, config: Config, directory: Path) -> None:
    recorded = config.recorded
    if recorded is not None and not same_fingerprint(source.fingerprint, recorded.fingerprint):
        raise RunError(
            f"the problem {source.problem.name} has changed since the run {directory} started: it now "
            "produces different losses; restore it, or start another run."
        )


def _is_read_only(directory: Path) -> bool:
    """Whether a run is finished and read-only, so that it can be shown but not opened for writing."""
    try:
        check_writable(directory)
    except RunError:
        with suppress(RunError), Reader(directory) as reader:  # opening it reports the reason
            return reader.state() == "finished"
    return False


def _connect(table: WorkersTable, say: Callable[[str], None]) -> AbstractContextManager[Cluster | None]:
    """The cluster of the configuration, if it has one."""
    if table.cluster is None or table.cluster == LOCAL:
        return nullcontext()
    return Cluster(table.cluster, WorkerResources(table.cpus or 1.0, table.gpus or 0.0), table.count, say)


def _worker_count(table: WorkersTable, cluster: Cluster | None) -> int:
    """The number of workers; by default, on this machine, one per core."""
    if cluster is not None:
        return cluster.count
    if table.count is not None:
        return table.count
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _one_thread() -> Generator[None]:
    """Compute on one thread, so that Bayesian optimisation makes the same proposals every time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
