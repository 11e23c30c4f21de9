"""Searching from Python: begin, go on, look at what was found."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from evopinn.errors import ProblemError, RunError, SearchError, StoredModelError
from evopinn.genome import Space
from evopinn.problem import Problem
from evopinn.run.config import Config
from evopinn.run.naming import request_digest, request_name, run_path
from evopinn.run.place import RUNS, check_lockable, find_run, is_run
from evopinn.run.reading import Reader
from evopinn.run.result import SearchResult as RunResult
from evopinn.run.session import Audience, begin, go_on, recorded_config
from evopinn.run.source import ProblemSource, fingerprint
from evopinn.searchers import Layout, Roster, Schedule, Trials
from evopinn.searchers.checking import whole
from evopinn.training import TrainingResult, parse_duration
from evopinn.training import load as load_model
from evopinn.view.console import note, notes_console


class SearchResult(RunResult):
    """What a search has found: see `evopinn.run.result.SearchResult`; and a report of it.

    The layer of runs does not know how they are shown, so the report is added here.
    """

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        problem: Problem | str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> Path:
        """Write a report: one file with the problem, the winner, tables and figures, to send to a colleague.

        Args:
            path: The file, ending in `.html` or `.md`; `report.html` in the run's directory by default.
            problem: The problem, if it is not where the run says, or was a Python object.
            force: Overwrite a file that is no report, too.

        Returns:
            The file.
        """
        return report(self, path, problem=problem, force=force)


def search(
    problem: Problem | str | os.PathLike[str],
    *,
    budget: str | float | None = None,
    preset: str | None = None,
    schedule: Layout | None = None,
    method: str = "evo-dpste",
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

    Ctrl-C stops it, and what was found so far is returned, its `state` being `stopped`: nothing is lost, and
    the same call goes on where it was. Only if nothing had begun, there is a `KeyboardInterrupt`. If the run
    is finished already, its result is returned at once.

    Args:
        problem: The problem, or its name or file as the command line takes it.
        budget: How much to do: seconds, or text such as "10 min", "30000 epochs", "300 trainings".
        preset: Or a preset: "paper", "quick".
        schedule: Or a `Schedule`, `Trials` for Bayesian optimisation, or the `Roster` of a list. Ten minutes
            if nothing is said.
        method: "evo-dpste", "evolution", "random", "bo-fcnet" or "bo-fcresnet"; "listed" trains a roster.
        seed: All random choices follow from it.
        space: Bounds of the search space.
        settings: Of the method, such as `{"elitists": 0.2}`.
        training: How each genome is trained: optimizer, precision, engine, errors_every,
            coarseness, slowest.
        workers: Processes; one a core by default, on a cluster all that it has room for. The result does not
            depend on it.
        cluster: A Ray cluster to train on: "auto" for the one that runs here, or "host:port".
        cpus_per_worker: CPUs of the cluster that each takes; 1 by default.
        gpus_per_worker: GPUs of the cluster that each takes, such as 0.25; none by default.
        memory: Megabytes that a worker may occupy; 4096 by default.
        deadline: Time after which a training is taken for hung: seconds, or text such as "5 min"; by default
            twenty times what is usual.
        run: Directory of the run, or its name in `runs`; by default a name that stands for this very search.
        progress: Whether to show it.

    Raises:
        SearchError: Settings make no sense, or the budget is too small.
        RunError: The run cannot be written, is in use, or was begun as another search.
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
        **_layout_table(schedule),
        "method": method,
        "seed": seed,
        "space": space.text if isinstance(space, Space) else space,
        "settings": settings,
        "training": training,
        "workers": workers_table,
    }
    config = Config.of({name: value for name, value in values.items() if value is not None}, "the search")
    request = request_digest(config, fingerprint(source.load()))
    directory = run_path(request_name(config, request) if run is None else _place(run))

    def go(audience: Audience) -> bool:
        if not is_run(directory):
            return begin(config, source, directory, audience)
        _refuse_other_search(directory, request)
        return go_on(directory, audience, source, config.workers.model_dump(include=set(workers_table)))

    watched(go, progress)
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
    """Go on with a run that was stopped or killed; the end is the same as if it had not been.

    Ctrl-C stops it again, as it does `search`. A run that is finished is returned at once.

    Args:
        run: Directory of the run, or its name in `runs`.
        problem: Its problem, if that was a Python object, or the file that it is in now, if it was moved. It
            must have the same losses as when the run began.
        workers: Processes; as many as before by default.
        cluster: A Ray cluster to go on with, "local" to go on here; by default as before.
        cpus_per_worker: As for `search`.
        gpus_per_worker: As for `search`.
        progress: Whether to show it.
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
    watched(lambda audience: go_on(directory, audience, source, changed), progress)
    return SearchResult(directory)


def load(name: str | os.PathLike[str]) -> SearchResult | TrainingResult:
    """What a search has found, or a trained network that `save` wrote.

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
        runs: A run, or several: what `search` and `load` give, or directories or names in `runs`.
        path: The file, ending in `.html` or `.md`; by default `report.html` in the run's directory, or here
            if there are several runs.
        problem: The problem, if it is not where the runs say, or was a Python object.
        force: Overwrite a file that is no report, too.

    Returns:
        The file.

    Raises:
        ReportError: The file cannot or must not be written.
    """
    from evopinn.view.report import write_report  # it takes a while to load

    listed = [runs] if isinstance(runs, RunResult | str | os.PathLike) else list(runs)
    given = os.fspath(problem) if isinstance(problem, os.PathLike) else problem
    return write_report(listed, None if path is None else Path(path), problem=given, force=force)


def watched(go: Callable[[Audience], bool], progress: bool = True) -> bool:
    """Let a run go, shown on the terminal, until it ends or Ctrl-C or `q` stops it.

    Args:
        go: What begins or goes on with the run; says whether it came to its end.
        progress: Whether anything is shown.
    """
    check_lockable()
    # These need signals and terminals that only POSIX systems have.
    from evopinn.run.stopping import StopRequest
    from evopinn.view.search import search_progress

    console = notes_console()
    with StopRequest() as stop:
        if not progress:
            return go(Audience(_unheard, _unheard, stop))
        with search_progress(console, stop.ask) as show:
            return go(Audience(show, lambda text: note(text, console), stop))
    return False  # stopped before anything was trained


def _unheard(_: object) -> None:
    """Tell nobody."""


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
    return None if workers is None else whole("workers", workers, 1)


def _layout_table(schedule: object) -> dict[str, Any]:
    match schedule:
        case None:
            return {}
        case Schedule(populations, epochs):
            return {"schedule": {"populations": list(populations), "epochs": list(epochs)}}
        case Trials(evaluations, epochs):
            return {"trials": {"evaluations": evaluations, "epochs": epochs}}
        case Roster(genomes, epochs):
            return {"roster": {"genomes": list(genomes), "epochs": epochs}}
        case _:
            raise SearchError(
                f"the schedule is {schedule!r}; give Schedule(populations, epochs), Trials for Bayesian "
                "optimisation, or Roster for a list of genomes."
            )


def _refuse_other_search(directory: Path, request: str) -> None:
    with Reader(directory) as reader:
        recorded = recorded_config(reader.about().config, directory).recorded
    if recorded is None or recorded.request != request:
        raise RunError(
            f"the run {directory} was begun with another problem or other settings, which are in its "
            "config.toml; choose another name, or go on with it by evopinn.resume."
        )
