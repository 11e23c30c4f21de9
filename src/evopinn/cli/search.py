"""Commands that search: begin a run, go on with one."""

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evopinn.cli.given import amount, check_faithful, merged, said, settings_of
from evopinn.cli.report import report_finished
from evopinn.cli.shared import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    PROBLEM_HELP,
    ClusterOption,
    CpusOption,
    GpusOption,
    JsonOption,
    NoReportOption,
    QuietOption,
    SpaceOption,
    WorkersOption,
    output,
    prints_aside,
)
from evopinn.errors import RunError, SearchError
from evopinn.view.console import meanwhile, note

if TYPE_CHECKING:
    from evopinn.run.session import Audience
    from evopinn.run.snapshot import Phase, Snapshot


def search(
    problem: Annotated[str | None, typer.Argument(help=PROBLEM_HELP)] = None,
    budget: Annotated[
        str | None,
        typer.Option(help='How much to do: 10m, 2h, "30000 epochs", "300 trainings"; 10m by default.'),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Or a fixed schedule: quick, paper (that of the problem's equation).")
    ] = None,
    populations: Annotated[
        str | None, typer.Option(help="Or a schedule: populations of the generations, e.g. 80,26,16,8.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Or, for Bayesian optimisation, the number of proposals.")
    ] = None,
    epochs: Annotated[
        str | None, typer.Option(help="Epochs of the generations, e.g. 24,40,64,104; of trials, one number.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="evo-dpste (the default), evolution, random, bo-fcnet, bo-fcresnet.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="All random choices follow from it.")] = None,
    bounds: SpaceOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the method, e.g. --set elitists=0.2; may be repeated."),
    ] = None,
    faithful: Annotated[
        bool, typer.Option("--faithful", help="Bayesian optimisation that rounds, as the paper's did.")
    ] = False,
    optimizer: Annotated[
        str | None, typer.Option(help="lbfgs, adam, lm, or one after another: adam:500+lm.")
    ] = None,
    precision: Annotated[str | None, typer.Option(help="float64 or float32.")] = None,
    engine: Annotated[str | None, typer.Option(help="auto, autograd, taylor, fused.")] = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    cpus_per_worker: CpusOption = None,
    gpus_per_worker: GpusOption = None,
    memory: Annotated[int | None, typer.Option(help="Megabytes that a worker may occupy.")] = None,
    deadline: Annotated[
        str | None, typer.Option(help="Time after which a training is taken for hung: 5m.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(help="Name of the run in runs/, or a path; by default problem, date and digits."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file with any of this; what is given here comes first.")
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the configuration as TOML and do nothing.")
    ] = False,
    no_report: NoReportOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Search for the network that solves a problem best."""
    load_libraries(quiet or print_config)
    from evopinn.run.config import AMOUNTS, Config, read_config
    from evopinn.run.naming import dated_name, run_path
    from evopinn.run.planning import known_plan
    from evopinn.run.session import begin
    from evopinn.run.source import ProblemSource
    from evopinn.training import parse_duration

    values: dict[str, Any] = read_config(config) if config is not None else {}
    given: dict[str, Any] = {
        "problem": problem,
        "method": method,
        "seed": seed,
        "space": bounds,
        **amount(budget, preset, populations, trials, epochs),
    }
    tables: dict[str, dict[str, Any]] = {
        "settings": {**settings_of(settings or []), **({"faithful": True} if faithful else {})},
        "training": {"optimizer": optimizer, "precision": precision, "engine": engine},
        "workers": {
            "count": workers,
            "cluster": cluster,
            "cpus": cpus_per_worker,
            "gpus": gpus_per_worker,
            "memory": memory,
            "deadline": None if deadline is None else parse_duration(deadline),
        },
    }
    if any(given.get(name) is not None for name in AMOUNTS):
        values = {name: value for name, value in values.items() if name not in AMOUNTS}
    values |= said(given)
    for name, table in tables.items():
        if entries := said(table):
            values[name] = merged(values.get(name, {}), entries)
    if "problem" not in values:
        raise SearchError("no problem is given; `evopinn problems` lists the catalogue.")
    if faithful:
        check_faithful(str(values.get("method", Config.model_fields["method"].default)))
    source = ProblemSource.of(str(values["problem"]))
    settled = Config.of(
        values | {"problem": source.name}, str(config) if config is not None else "the command"
    )
    if print_config:
        plan = known_plan(settled, settled.workers.count or 1)
        typer.echo(settled.spelled_out().toml(), nl=False)
        if plan is not None and not quiet:
            note(plan.describe())
        return
    directory = run_path(run if run is not None else dated_name(source.name))
    manner = _Manner(as_json, quiet, report=not no_report)
    _carry_out(directory, lambda audience: begin(settled, source, directory, audience), manner)


def resume(
    run: Annotated[str, typer.Argument(help="Directory of the run, or its name in runs/.")],
    problem: Annotated[
        str | None, typer.Option(help="The file that the run's problem is in now, if it was moved.")
    ] = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    cpus_per_worker: CpusOption = None,
    gpus_per_worker: GpusOption = None,
    no_report: NoReportOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Go on with a run that was stopped or killed; its end is the same as if it had not been."""
    load_libraries(quiet)
    from evopinn.run.place import find_run
    from evopinn.run.session import go_on
    from evopinn.run.source import ProblemSource

    directory = find_run(run)
    source = None if problem is None else ProblemSource.of(problem)
    changed = said({"count": workers, "cluster": cluster, "cpus": cpus_per_worker, "gpus": gpus_per_worker})
    manner = _Manner(as_json, quiet, report=not no_report)
    _carry_out(directory, lambda audience: go_on(directory, audience, source, changed), manner)


def load_libraries(quietly: bool) -> None:
    """Import what a search needs; it takes seconds, in which a terminal must not stay empty."""
    with nullcontext() if quietly else meanwhile("loading libraries"):
        importlib.import_module("evopinn.api")


@dataclass(frozen=True)
class _Manner:
    """How a search tells of itself: as JSON, without progress, with a report at its end."""

    as_json: bool
    quiet: bool
    report: bool


def _carry_out(directory: Path, go: "Callable[[Audience], bool]", manner: _Manner) -> None:
    """Let a run go, and print what it found.

    What goes wrong after its problem was loaded is a failure and no mistake in the command.
    """
    from evopinn.api import watched

    seen: set[Phase] = set()

    def noticed(audience: "Audience") -> bool:
        def watch(now: "Snapshot") -> None:
            seen.add(now.phase)
            audience.watch(now)

        return go(replace(audience, watch=watch))

    try:
        with prints_aside(manner.as_json):
            finished = watched(noticed, not manner.quiet)
    except RunError as error:
        if seen <= {"loading"}:
            raise
        note(f"error: {error}")
        raise typer.Exit(EXIT_FAILED) from None
    try:
        _finish(directory, finished, manner.as_json, told="stopped" in seen and not manner.quiet)
    finally:
        if finished and manner.report and seen:  # of a run that was finished before, nothing is new
            with prints_aside(manner.as_json):
                report_finished(directory, manner.quiet)


def _finish(directory: Path, finished: bool, as_json: bool, told: bool) -> None:
    """Print what was found; the exit code says whether the search came to its end.

    Args:
        directory: The run's.
        finished: Whether it did.
        as_json: Whether a script reads it.
        told: Whether the user was told of a stop, and how to go on.
    """
    from evopinn.run.place import is_run
    from evopinn.run.result import SearchResult
    from evopinn.run.wording import run_name
    from evopinn.view.runs import found_table

    if not is_run(directory):
        note("stopped before the search began; nothing was written.")
        raise typer.Exit(EXIT_INTERRUPTED)
    result = SearchResult(directory)
    summary = result.summary()
    output(summary if as_json else found_table(result), as_json)
    if not finished:
        if not told:
            note(f"stopped; go on with: evopinn resume {run_name(directory)}")
        raise typer.Exit(EXIT_INTERRUPTED)
    if summary["best"] is None:
        raise typer.Exit(EXIT_FAILED)
