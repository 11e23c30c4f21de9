"""Searches from Python: start, resume, load and report."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from evopinn import view
from evopinn.errors import ProblemError, RunError, SearchError, StoredModelError
from evopinn.genome import Space
from evopinn.problem import Problem
from evopinn.run import session
from evopinn.run.config import Config
from evopinn.run.naming import request_digest, request_name, run_path
from evopinn.run.run_result import RunResult
from evopinn.run.session import Observer, recorded_config, recorded_scales
from evopinn.run.stopping import StopRequest
from evopinn.search import DEFAULT_METHOD, WORKPLANS, Workplan
from evopinn.search.validation import check_whole
from evopinn.store.directory import RUNS, check_lockable, find_run, is_run
from evopinn.store.reader import Reader
from evopinn.training import TrainingResult, parse_duration
from evopinn.training import load as load_model
from evopinn.view.terminal.console import note, notes_console
from evopinn.workers.problem_source import ProblemSource


class SearchResult(RunResult):
    """The result of a search, with a printed form and a report: see `evopinn.run.run_result.RunResult`.

    Views lie above runs, so these are added here.
    """

    def __str__(self) -> str:
        """The state of the run, its most accurate network, and its hall of fame of single trainings."""
        from evopinn.view.terminal.run_summary import as_text, found

        return as_text(found(self.record))

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        problem: Problem | str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> Path:
        """Write a report: one file with the problem, the recommended architecture, tables and figures.

        Args:
            path: The file, ending in `.html` or `.md`; `report.html` in the run's directory by default.
            problem: The problem, if its file has moved or it was a Python object.
            force: Overwrite a file even if it is not a report.

        Returns:
            The file.
        """
        return report(self, path, problem=problem, force=force)


def search(
    problem: Problem | str | os.PathLike[str],
    *,
    budget: str | float | None = None,
    preset: str | None = None,
    schedule: Workplan | None = None,
    method: str = DEFAULT_METHOD,
    seed: int = 0,
    space: Space | str | None = None,
    settings: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    cpus_per_worker: float | None = None,
    gpus_per_worker: float | None = None,
    memory: int | None = None,
    deadline: str | float | None = None,
    run: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> SearchResult:
    """Search for the network that solves a problem best.

    Ctrl-C stops the search and returns what it has found so far, with the `state` `stopped`; nothing is lost,
    and the same call resumes it. Before the search has started, Ctrl-C raises `KeyboardInterrupt`. A finished
    run returns its result at once.

    Args:
        problem: The problem, or its name or file as on the command line.
        budget: How much to do: seconds, or text such as "10 min", "30000 epochs", "300 trainings".
        preset: Or a preset: "paper", "quick".
        schedule: Or a `Schedule`, `Trials` for Bayesian optimisation, or the `Roster` of a list. The default
            is a budget of ten minutes.
        method: "evo-dpste", "evolution", "random", "bo-fcnet" or "bo-fcresnet"; "listed" trains a roster.
        seed: Determines all random choices.
        space: Bounds of the search space.
        settings: Of the method, such as `{"elitists": 0.2}`.
        training: How each genome is trained: optimizer, precision, engine, errors_every,
            coarseness, slowest.
        workers: Number of processes; by default one per core, or on a cluster as many as it has room for. The
            result does not depend on it.
        cluster: A Ray cluster to train on: "auto" for the one running here, or "host:port".
        cpus_per_worker: CPUs per worker on the cluster; 1 by default.
        gpus_per_worker: GPUs per worker on the cluster, such as 0.25; none by default.
        memory: Memory limit of a worker in megabytes; 4096 by default.
        deadline: Kill a training after this time: seconds, or text such as "5 min"; by default twenty times
            the usual.
        run: Directory of the run, or its name in `runs`; by default a name derived from the search.
        progress: Whether to show progress.

    Raises:
        SearchError: A setting is invalid, or the budget is too small.
        RunError: The run cannot be written, is in use, or belongs to another search.
    """
    source = _source(problem)
    limits = {
        "count": _worker_count(workers),
        "cluster": cluster,
        "cpus": cpus_per_worker,
        "gpus": gpus_per_worker,
        "memory": memory,
        "deadline": None if deadline is None else parse_duration(deadline),
    }
    workers_table = {name: value for name, value in limits.items() if value is not None}
    values: dict[str, Any] = {
        "problem": source.name,
        "budget": budget if budget is None or isinstance(budget, str) else f"{budget} s",
        "preset": preset,
        **_entry(schedule),
        "method": method,
        "seed": seed,
        "space": space.text if isinstance(space, Space) else space,
        "settings": settings,
        "training": training,
        "workers": workers_table,
    }
    config = Config.of({name: value for name, value in values.items() if value is not None}, "the search")
    request = request_digest(config, source.fingerprint)
    directory = run_path(request_name(config, request) if run is None else _place(run))

    with StopRequest() as stop, observed(stop, progress) as observer:
        if is_run(directory):
            _refuse_other_search(directory, config, source)
            changed = config.workers.model_dump(include=set(workers_table))
            session.resume(directory, observer, source, changed)
        else:
            session.begin(config, source, directory, observer)
    if not is_run(directory):
        raise KeyboardInterrupt  # stopped before there was anything to return
    return SearchResult(directory)


def resume(
    run: str | os.PathLike[str],
    *,
    problem: Problem | str | os.PathLike[str] | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    cpus_per_worker: float | None = None,
    gpus_per_worker: float | None = None,
    progress: bool = True,
) -> SearchResult:
    """Resume a run that was stopped or killed; it reaches the identical result.

    Ctrl-C stops it again, as it does `search`. The result of a finished run is returned at once.

    Args:
        run: Directory of the run, or its name in `runs`.
        problem: Its problem, if that was a Python object, or the problem's file, if it has moved. It must
            produce the same losses as when the run started.
        workers: Number of processes; by default as before.
        cluster: A Ray cluster to train on, or "local" for none; by default as before.
        cpus_per_worker: As for `search`.
        gpus_per_worker: As for `search`.
        progress: Whether to show progress.
    """
    directory = find_run(_place(run))
    source = None if problem is None else _source(problem)
    given = {
        "count": _worker_count(workers),
        "cluster": cluster,
        "cpus": cpus_per_worker,
        "gpus": gpus_per_worker,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    with StopRequest() as stop, observed(stop, progress) as observer:
        session.resume(directory, observer, source, changed)
    return SearchResult(directory)


def load(name: str | os.PathLike[str]) -> SearchResult | TrainingResult:
    """Load the result of a search, or a trained network that `save` wrote.

    Args:
        name: Directory of a run, its name in `runs`, or the name of a saved network.
    """
    place = _place(name)
    try:
        directory = find_run(place)
    except RunError as no_run:
        try:
            return load_model(place)
        except StoredModelError as no_model:
            raise StoredModelError(f"as a saved network: {no_model} As a run: {no_run}") from no_model
    return SearchResult(directory)


def report(
    runs: RunResult | str | os.PathLike[str] | Sequence[RunResult | str | os.PathLike[str]],
    path: str | os.PathLike[str] | None = None,
    *,
    problem: Problem | str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Path:
    """Write a report of a run, or of several side by side.

    Args:
        runs: A run, or several: results of `search` and `load`, or directories or names in `runs`.
        path: The file, ending in `.html` or `.md`; by default `report.html` in the run's directory, or here
            if there are several runs.
        problem: The problem, if its file has moved or it was a Python object.
        force: Overwrite a file even if it is not a report.

    Returns:
        The file.

    Raises:
        ReportError: The file cannot or must not be written.
    """
    listed = [runs] if isinstance(runs, RunResult | str | os.PathLike) else list(runs)
    given = os.fspath(problem) if isinstance(problem, os.PathLike) else problem
    return view.report.write_report(listed, None if path is None else Path(path), problem=given, force=force)


@contextmanager
def observed(stop: StopRequest, progress: bool = True) -> Generator[Observer]:
    """An observer that shows a run on the terminal, where `q` requests to stop it.

    Args:
        stop: The request to stop the run, entered in the same `with`, which a signal may leave at once.
        progress: Whether to show anything.
    """
    check_lockable()
    if not progress:
        yield Observer(_ignore, _ignore, stop)
        return
    # This needs terminals that only POSIX systems have.
    from evopinn.view.terminal.live import search_progress

    console = notes_console()
    with search_progress(console, stop.ask) as show:
        yield Observer(show, lambda text: note(text, console), stop)


def _ignore(_: object) -> None:
    """Ignore a snapshot or a message."""


def _source(problem: object) -> ProblemSource:
    given = os.fspath(cast("os.PathLike[str]", problem)) if isinstance(problem, os.PathLike) else problem
    if not isinstance(given, Problem | str):
        raise ProblemError(
            f"the problem is {problem!r}; give a Problem, a name of the catalogue, or a file: my_problem.py."
        )
    return ProblemSource.of(given)


def _place(name: object) -> Path:
    if not isinstance(name, str | os.PathLike) or not os.fspath(cast("os.PathLike[str]", name)):
        raise RunError(f"the run is {name!r}; give its directory, or its name in {RUNS}.")
    return Path(cast("str | os.PathLike[str]", name))


def _worker_count(workers: object) -> int | None:
    return None if workers is None else check_whole("workers", workers, 1)


def _entry(schedule: object) -> dict[str, Any]:
    """The amount of work, as entries of a configuration."""
    if schedule is None:
        return {}
    if not isinstance(schedule, Workplan):
        kinds = [f"{kind.__name__}({', '.join(row.name for row in fields(kind))})" for kind in WORKPLANS]
        raise SearchError(f"the schedule is {schedule!r}; give {', '.join(kinds[:-1])} or {kinds[-1]}.")
    return schedule.entry()


def _refuse_other_search(directory: Path, config: Config, source: ProblemSource) -> None:
    with Reader(directory) as reader:
        before = recorded_config(reader.about().config, directory)
    fingerprint = source.scaled_as(recorded_scales(before)).fingerprint
    if before.recorded is None or before.recorded.request != request_digest(config, fingerprint):
        raise RunError(
            f"the run {directory} was started with a different problem or different settings, which are in "
            "its config.toml; choose another name, or resume it with evopinn.resume."
        )
