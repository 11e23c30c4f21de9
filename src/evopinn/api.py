"""Searching from Python: begin, go on, look at what was found."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evopinn.errors import RunError
from evopinn.genome import Space
from evopinn.problem import Problem
from evopinn.run.config import Config
from evopinn.run.naming import request_digest, request_name, run_path
from evopinn.run.place import find_run, is_run
from evopinn.run.reading import Reader
from evopinn.run.result import SearchResult
from evopinn.run.session import Audience, begin, go_on, recorded_config
from evopinn.run.source import ProblemSource, fingerprint
from evopinn.run.stopping import StopRequest
from evopinn.searchers import Layout, Schedule, Trials
from evopinn.training import TrainingResult
from evopinn.training import load as load_model
from evopinn.view.console import notes_console
from evopinn.view.search import search_progress


def search(
    problem: Problem | str,
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
    run: str | Path | None = None,
    progress: bool = True,
) -> SearchResult:
    """Search for the network that solves a problem best.

    Ctrl-C stops it; nothing is lost, and the same call goes on where it was. If the run is finished already,
    its result is returned at once.

    Args:
        problem: The problem, or its name as the command line takes it.
        budget: How much to do: seconds, or text such as "10 min", "30000 epochs", "300 trainings".
        preset: Or a preset: "paper", "quick".
        schedule: Or a `Schedule`, or `Trials` for Bayesian optimisation. Ten minutes if nothing is said.
        method: "evo-dpste", "evolution", "random", "bo-fcnet" or "bo-fcresnet".
        seed: All random choices follow from it.
        space: Bounds of the search space.
        settings: Of the method, such as `{"elitists": 0.2}`.
        training: How each genome is trained: optimizer, precision, engine, errors_every, slowest.
        workers: Processes; one a core by default. The result does not depend on it.
        run: Directory of the run, or its name in `runs`; by default a name that stands for this very search.
        progress: Whether to show it.
    """
    source = ProblemSource.of(problem)
    values: dict[str, Any] = {
        "problem": source.name,
        "budget": budget if budget is None or isinstance(budget, str) else f"{budget} s",
        "preset": preset,
        **_layout_table(schedule),
        "method": method,
        "seed": seed,
        "space": space.text if isinstance(space, Space) else space or "",
        "settings": dict(settings or {}),
        "training": dict(training or {}),
        "workers": {"count": workers},
    }
    config = Config.of({name: value for name, value in values.items() if value is not None}, "the search")
    request = request_digest(config, fingerprint(source.load()))
    directory = run_path(request_name(config, request) if run is None else run)

    def go(audience: Audience) -> bool:
        if not is_run(directory):
            return begin(config, source, directory, audience)
        _refuse_other_search(directory, request)
        return go_on(directory, audience, source, workers)

    watched(go, progress)
    if not is_run(directory):
        raise KeyboardInterrupt  # stopped before there was anything to return
    return SearchResult(directory)


def resume(
    run: str | Path,
    *,
    problem: Problem | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> SearchResult:
    """Go on with a run that was stopped or killed; the end is the same as if it had not been.

    Args:
        run: Directory of the run, or its name in `runs`.
        problem: Its problem, if that was a Python object.
        workers: Processes; as many as before by default.
        progress: Whether to show it.
    """
    directory = find_run(run)
    source = None if problem is None else ProblemSource.of(problem)
    watched(lambda audience: go_on(directory, audience, source, workers), progress)
    return SearchResult(directory)


def load(name: str | Path) -> SearchResult | TrainingResult:
    """What a search has found, or a trained network that `save` wrote.

    Args:
        name: Directory of a run, its name in `runs`, or the name of a saved network.
    """
    try:
        return SearchResult(find_run(name))
    except RunError:
        if is_run(Path(name)):
            raise
        return load_model(name)


def watched(go: Callable[[Audience], bool], progress: bool = True) -> bool:
    """Let a run go, shown on the terminal, until it ends or Ctrl-C or `q` stops it.

    Args:
        go: What begins or goes on with the run; says whether it came to its end.
        progress: Whether anything is shown.
    """
    console = notes_console()
    with StopRequest() as stop:
        if not progress:
            return go(Audience(_unheard, _unheard, stop))
        with search_progress(console, stop.ask) as show:
            return go(Audience(show, console.print, stop))


def _unheard(_: object) -> None:
    """Tell nobody."""


def _layout_table(schedule: Layout | None) -> dict[str, Any]:
    match schedule:
        case None:
            return {}
        case Schedule(populations, epochs):
            return {"schedule": {"populations": list(populations), "epochs": list(epochs)}}
        case Trials(evaluations, epochs):
            return {"trials": {"evaluations": evaluations, "epochs": epochs}}


def _refuse_other_search(directory: Path, request: str) -> None:
    with Reader(directory) as reader:
        recorded = recorded_config(reader.about().config, directory).recorded
    if recorded is None or recorded.request != request:
        raise RunError(
            f"the run {directory} was begun with another problem or other settings, which are in its "
            "config.toml; choose another name, or go on with it by evopinn.resume."
        )
