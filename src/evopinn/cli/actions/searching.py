"""The actions of `search` and `resume`: carry out a run and print its result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from evopinn.api import observed
from evopinn.cli.actions.reports import report_finished
from evopinn.cli.shared import EXIT_FAILED, EXIT_INTERRUPTED, output, own_prints_to_stderr
from evopinn.errors import RunError
from evopinn.run import session
from evopinn.run.budget_plan import known_plan
from evopinn.run.config import Config
from evopinn.run.naming import dated_name, run_path
from evopinn.run.progress import Phase
from evopinn.run.run_result import RunResult
from evopinn.run.session import Observer
from evopinn.run.stopping import StopRequest
from evopinn.run.wording import run_name
from evopinn.store.directory import is_run
from evopinn.view.terminal.console import note
from evopinn.view.terminal.run_summary import found
from evopinn.workers.problem_source import ProblemSource


@dataclass(frozen=True)
class SearchOutput:
    """The output of a search: as JSON, without progress, with a report at its end."""

    as_json: bool
    quiet: bool
    report: bool


def print_configuration(config: Config, quiet: bool) -> None:
    """Print a configuration as TOML, and the plan to stderr."""
    plan = known_plan(config, config.workers.count or 1)
    typer.echo(config.spelled_out().toml(), nl=False)
    if plan is not None and not quiet:
        note(plan.describe())


def start_run(config: Config, name: str | None, manner: SearchOutput) -> None:
    """Start a run, and print its result.

    Args:
        config: The configuration.
        name: Name of the run in `runs/`, or a path; None for one after the problem and the date.
        manner: The output of the search.
    """
    directory = run_path(dated_name(config.problem) if name is None else name)
    source = ProblemSource(config.problem)
    _carry_out(directory, lambda observer: session.begin(config, source, directory, observer), manner)


def resume_run(
    directory: Path, problem: str | None, workers_table: Mapping[str, Any], manner: SearchOutput
) -> None:
    """Resume a run, and print its result: see `evopinn.run.session.resume`."""
    source = None if problem is None else ProblemSource.of(problem)
    _carry_out(directory, lambda observer: session.resume(directory, observer, source, workers_table), manner)


def _carry_out(directory: Path, go: Callable[[Observer], bool], manner: SearchOutput) -> None:
    """Carry out a run, and print its result.

    An error after its problem was loaded is a failure, not a mistake in the command.
    """
    finished = False
    phases: set[Phase] = set()
    try:
        with (
            own_prints_to_stderr(manner.as_json),
            StopRequest() as stop,
            observed(stop, not manner.quiet) as observer,
        ):
            phases = observer.phases
            finished = go(observer)
    except RunError as error:
        if phases <= {"loading"}:
            raise
        note(f"error: {error}")
        raise typer.Exit(EXIT_FAILED) from None
    try:
        _finish(directory, finished, manner.as_json, told="stopped" in phases and not manner.quiet)
    finally:
        if finished and manner.report and phases:  # of a run that was finished before, nothing is new
            with own_prints_to_stderr(manner.as_json):
                report_finished(directory, manner.quiet)


def _finish(directory: Path, finished: bool, as_json: bool, told: bool) -> None:
    """Print the result; the exit code says whether the search finished.

    Args:
        directory: The run's.
        finished: Whether the search finished.
        as_json: Whether to print JSON.
        told: Whether a message has already said how to resume.
    """
    if not is_run(directory):
        note("stopped before the search started; nothing was written.")
        raise typer.Exit(EXIT_INTERRUPTED)
    result = RunResult(directory)
    summary = result.summary()
    output(summary if as_json else found(result.record), as_json)
    if not finished:
        if not told:
            note(f"stopped; resume with: evopinn resume {run_name(directory)}")
        raise typer.Exit(EXIT_INTERRUPTED)
    if summary["best"] is None:
        raise typer.Exit(EXIT_FAILED)
