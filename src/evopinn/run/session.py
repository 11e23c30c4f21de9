"""Beginning a run, and going on with one."""

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from evopinn.errors import RunError
from evopinn.problem import Problem
from evopinn.run.checkpoints import Checkpoints
from evopinn.run.cluster.parcels import sealed, unsealer
from evopinn.run.cluster.site import Cluster
from evopinn.run.config import (
    DEFAULT_BUDGET,
    Config,
    RecordedTable,
    check_config_unchanged,
    parse_config,
)
from evopinn.run.cost import cost_of_epochs, typical_cost
from evopinn.run.driver import Driver, Limits
from evopinn.run.evaluation import Trainer, check_options, is_outcome
from evopinn.run.machine import versions
from evopinn.run.naming import request_digest
from evopinn.run.planning import known_plan, measured_plan
from evopinn.run.progress import Subject, Tally, Watcher
from evopinn.run.reading import Reader
from evopinn.run.snapshot import Snapshot
from evopinn.run.source import ProblemSource, fingerprint, same_fingerprint
from evopinn.run.speed import Pace, Stopwatch, measured
from evopinn.run.store import Store, check_free, check_writable
from evopinn.run.weights import lost_weights
from evopinn.run.workers import Workers
from evopinn.run.workforce import Workforce
from evopinn.run.workplace import connected, with_workers, worker_count
from evopinn.searchers import EvolutionSettings, Layout, Plan, Roster, Schedule
from evopinn.searchers.methods import Settings
from evopinn.searchers.selection import elitist_count

_MEGABYTE = 2**20
_STARTUP_SECONDS, _STARTUP_FACTOR = 120.0, 10.0  # many workers may start at once on few cores


@dataclass(frozen=True)
class Audience:
    """Who is told of a run, and who may stop it.

    Attributes:
        watch: Told how the search stands, a few times a second.
        say: Told, in sentences, what is about to be done.
        stopped: Whether the run is to stop.
    """

    watch: Watcher
    say: Callable[[str], None]
    stopped: Callable[[], bool]


def begin(config: Config, source: ProblemSource, directory: Path, audience: Audience) -> bool:
    """Begin a run and go on to its end.

    Everything that can be refused is refused before the first process is started. The plan is made and
    written into the run before its first training.

    Args:
        config: What to do.
        source: The problem.
        directory: Where the run will be; new or empty.
        audience: Who is told.

    Returns:
        Whether it came to its end; False if it was stopped.
    """
    watch = Stopwatch()
    with connected(config.workers, audience.say) as cluster:
        return _begin(config, source, directory, audience, watch, cluster)


def _begin(
    config: Config,
    source: ProblemSource,
    directory: Path,
    audience: Audience,
    watch: Stopwatch,
    cluster: Cluster | None,
) -> bool:
    count = worker_count(config.workers, cluster)
    audience.watch(Snapshot(directory, source.name, config.method, "loading", workers=count))
    problem = source.load()
    loading = watch.seconds
    check_options(problem, config.training_options())
    settings = config.method_settings()
    coarsest = settings.coarsening if isinstance(settings, EvolutionSettings) else 1.0
    problem.coarsened(coarsest * config.training.coarseness)  # says so if too few points would be left
    plan = known_plan(config, count)
    check_free(directory)
    subject = Subject(directory, problem.name, config.method, count)
    audience.watch(Snapshot(directory, problem.name, config.method, "starting", workers=count))
    number = fingerprint(problem)
    with _workers(config, source, number, subject, audience, loading, cluster) as workers:
        plan = plan or _measured(config, workers, watch, audience, subject)
        if plan is None:
            return False
        audience.say(plan.describe())
        settled = config.settled(plan.layout, _recorded(problem.name, number, config, plan))
        with Store.create(directory, settled.toml(), versions()) as store:
            return _drive(settled, store, workers, subject, audience)


def go_on(
    directory: Path,
    audience: Audience,
    source: ProblemSource | None = None,
    workers_table: Mapping[str, Any] | None = None,
) -> bool:
    """Go on with a run where it was.

    Args:
        directory: The run's.
        audience: Who is told.
        source: Its problem, if that was an object or its file was moved.
        workers_table: What is not as before: entries of `WorkersTable`.

    Returns:
        Whether it came to its end; False if it was stopped.
    """
    if _only_shown(directory):
        return True
    with Store.open(directory) as store, ExitStack() as held:
        config = recorded_config(store.config, directory)
        check_config_unchanged(directory, store.config)
        with Reader(directory) as reader:
            if reader.state() == "finished" and not lost_weights(directory):
                return True
        source = source or ProblemSource.recorded(config.problem, directory)
        config = with_workers(config, workers_table or {})
        cluster = held.enter_context(connected(config.workers, audience.say))
        count = worker_count(config.workers, cluster)
        watch = Stopwatch()
        audience.watch(Snapshot(directory, source.name, config.method, "loading", workers=count))
        problem = source.load()
        loading = watch.seconds
        _refuse_other_problem(problem, config, directory)
        plan = known_plan(config, count)
        assert plan is not None  # it was written down when the run began
        subject = Subject(directory, problem.name, config.method, count)
        audience.watch(Snapshot(directory, problem.name, config.method, "starting", workers=count))
        audience.say(plan.describe())
        store.note("resumed", _changed_versions(directory, audience))
        number = fingerprint(problem)
        with _workers(config, source, number, subject, audience, loading, cluster) as workers:
            return _drive(config, store, workers, subject, audience)


def timed(config: Config, source: ProblemSource, audience: Audience) -> Pace | None:
    """How fast the trainings of such a run are here; None if it was stopped meanwhile."""
    with connected(config.workers, audience.say) as cluster:
        watch = Stopwatch()
        problem = source.load()
        loading = watch.seconds
        check_options(problem, config.training_options())
        subject = Subject(Path(), problem.name, config.method, worker_count(config.workers, cluster))
        number = fingerprint(problem)
        with _workers(config, source, number, subject, audience, loading, cluster) as workers:
            return _pace(config, workers, audience, subject)


def recorded_config(text: str, directory: Path) -> Config:
    """The configuration that a run was begun with."""
    return Config.of(parse_config(text, f"the configuration of the run {directory}"))


def _drive(config: Config, store: Store, workers: Workforce, subject: Subject, audience: Audience) -> bool:
    layout, method, settings = config.layout(), config.find_method(), config.method_settings()
    assert layout is not None
    space = config.search_space()
    last = layout.generations if isinstance(layout, Schedule) else 0
    checkpoints = Checkpoints(store.directory, _gone_on_from(layout, settings), last=last)
    cost = cost_of_epochs(config.training_options().optimizer)
    typical = typical_cost(space, cost)
    recorded = config.recorded
    pace = recorded.seconds_per_epoch / typical if recorded and recorded.seconds_per_epoch else None
    tally = Tally(subject, method.workload(layout, settings), audience.watch)
    driver = Driver(
        searcher=method.make(layout, config.seed, space, settings),
        store=store,
        workers=workers,
        checkpoints=checkpoints,
        limits=Limits(cost, _most_costly(config, layout, typical), config.workers.deadline, pace),
        tally=tally,
        stopped=audience.stopped,
    )
    with _one_thread():
        finished = driver.run()
    store.note("finished" if finished else "stopped")
    tally.report("finished" if finished else "stopped")
    return finished


def _most_costly(config: Config, layout: Layout, typical: float) -> float:
    """The highest cost of an epoch that is trained; what is listed is trained whatever it costs."""
    return math.inf if isinstance(layout, Roster) else config.training.slowest * typical


def _gone_on_from(layout: Layout, settings: Settings) -> int:
    """How many trainings of a generation may be gone on from in a later one, at most."""
    if not isinstance(layout, Schedule) or not isinstance(settings, EvolutionSettings):
        return 0
    if not settings.continue_elitists or layout.generations == 1:
        return 0
    if not settings.pressure:  # survivors are drawn at random, from all that were trained as long
        return 2 * sum(layout.populations)
    return elitist_count(layout.populations[1], settings.elitists)


def _measured(
    config: Config, workers: Workforce, watch: Stopwatch, audience: Audience, subject: Subject
) -> Plan | None:
    """The plan for a budget of time; None if it was stopped while the speed was measured."""
    pace = _pace(config, workers, audience, subject)
    return None if pace is None else measured_plan(config, pace, subject.workers, watch.seconds)


def _pace(config: Config, workers: Workforce, audience: Audience, subject: Subject) -> Pace | None:
    count = subject.workers
    audience.watch(Snapshot(subject.directory, subject.problem, subject.method, "measuring", workers=count))
    cost = cost_of_epochs(config.training_options().optimizer)
    return measured(workers, count, config.search_space(), cost, config.seed, audience.stopped)


def _recorded(problem: str, number: float, config: Config, plan: Plan) -> RecordedTable:
    return RecordedTable(
        fingerprint=number,
        request=request_digest(config, number),
        problem=problem,
        plan=plan.describe(),
        budget=config.budget or config.preset or (None if config.layout() else DEFAULT_BUDGET),
        seconds_per_epoch=plan.budget.seconds_per_epoch,
        seconds_per_training=plan.budget.seconds_per_training or None,
    )


def _changed_versions(directory: Path, audience: Audience) -> str:
    """Say which versions are others than when the run began; the last digits of results may differ."""
    with Reader(directory) as reader:
        before = reader.about().versions
    now = versions()
    changed = [
        f"{name} {before[name]} → {now[name]}" for name in now if before.get(name, now[name]) != now[name]
    ]
    if not changed:
        return ""
    text = f"other versions than at the beginning: {', '.join(changed)}"
    audience.say(f"note: {text}; results may differ in their last digits.")
    return text


def _refuse_other_problem(problem: Problem, config: Config, directory: Path) -> None:
    recorded = config.recorded
    if recorded is not None and not same_fingerprint(fingerprint(problem), recorded.fingerprint):
        raise RunError(
            f"the problem {problem.name} has changed since the run {directory} began: its losses are others; "
            "put it back as it was, or begin another run."
        )


def _only_shown(directory: Path) -> bool:
    """Whether a run is finished and lies where nothing can be written: to show it, nothing has to be."""
    try:
        check_writable(directory)
    except RunError:
        with suppress(RunError), Reader(directory) as reader:  # what is wrong, whoever opens it says
            return reader.state() == "finished"
    return False


@contextmanager
def _workers(
    config: Config,
    source: ProblemSource,
    number: float,
    subject: Subject,
    audience: Audience,
    loading: float,
    cluster: Cluster | None,
) -> Generator[Workforce]:
    """Worker processes that train on this very problem: one that is started later must find it unchanged.

    How long they may take to load it follows from how many seconds that took here.
    """
    memory_limit = config.workers.memory * _MEGABYTE
    startup_seconds = _STARTUP_SECONDS + _STARTUP_FACTOR * round(loading)
    if cluster is not None:
        options = config.training_options().on_gpu(config.workers.gpus or 0.0)
        arguments = (source.portable(), options, number)
        yield cluster.workers(
            Trainer,
            arguments,
            memory_limit=memory_limit,
            startup_seconds=startup_seconds,
            sealed=sealed,
            unsealed=unsealer(is_outcome),
        )
        return
    with Workers(
        Trainer,
        (source, config.training_options(), number),
        count=subject.workers,
        memory_limit=memory_limit,
        accept=is_outcome,
        startup=f"loading the problem {subject.problem}",
        startup_seconds=startup_seconds,
        say=audience.say,
    ) as workers:
        yield workers


@contextmanager
def _one_thread() -> Generator[None]:
    """Bayesian optimisation computes in this process, and has to come to the same proposals every time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
