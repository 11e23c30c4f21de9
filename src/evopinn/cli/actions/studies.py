"""The execution of a study, or of the rest of it, and the output of its results."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from evopinn.api import observed
from evopinn.cli.shared import EXIT_FAILED, EXIT_INTERRUPTED, output
from evopinn.errors import RunError, SearchError
from evopinn.lab.studies.execution import carry_out, check_place, claim, is_begun
from evopinn.lab.studies.forecasting import forecast
from evopinn.lab.studies.kinds import study_of
from evopinn.lab.studies.labels import scale_note
from evopinn.lab.studies.study import Study
from evopinn.lab.studies.study_page import write_study_page
from evopinn.lab.studies.trials import write_csv
from evopinn.run.config import read_config
from evopinn.run.naming import run_path
from evopinn.run.session import Observer
from evopinn.run.stopping import StopRequest
from evopinn.view.terminal.console import meanwhile, note, notes_console

STUDIES = Path("studies")
"""The default directory of studies."""


@dataclass(frozen=True)
class StudyOutput:
    """The output of a study: as JSON, without progress, only the plan, with a report at its end."""

    as_json: bool
    quiet: bool
    only_plan: bool
    report: bool


def carry_out_study(
    kind: str, options: Mapping[str, Any], file: Path | None, name: str | None, manner: StudyOutput
) -> None:
    """Carry out a study, or the rest of it, and print the results.

    Args:
        kind: The kind of study.
        options: Entries of its design that were given as options.
        file: A file with other entries.
        name: Name of the study in `studies/`, or a path; None for one derived from the design.
        manner: What the command shows.
    """
    values = _design_values(options, file)
    study = study_of(kind, values, "the command" if file is None else str(file))
    directory = run_path(name or study.design.name(), STUDIES)

    def shown(go: Callable[[Observer], bool]) -> bool:
        with StopRequest() as stop, observed(stop, not manner.quiet) as observer:
            return go(observer)
        return False

    def say(text: str) -> None:
        if not manner.quiet:
            note(text)

    check_place(study, directory)
    say(scale_note(study.design))
    if manner.only_plan or not (manner.quiet or is_begun(directory)):
        _print_forecast(study, shown, manner.only_plan)
    if manner.only_plan:
        return
    claim(study, directory)
    try:
        finished = carry_out(study, directory, shown, say)
    except RunError as error:
        if not is_begun(directory):
            raise
        note(f"error: {error}")
        raise typer.Exit(EXIT_FAILED) from None
    if not finished:
        note(f"stopped; run the same command to resume {directory}.")
        raise typer.Exit(EXIT_INTERRUPTED)
    _finish(study, directory, manner)


def _design_values(options: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    values = {} if file is None else read_config(file)
    if "budget" in options:  # instead of the file's schedule
        values.pop("schedule", None)
    values |= {**options, "workers": {**values.get("workers", {}), **options["workers"]}}
    if "problem" not in values:
        raise SearchError("no problem is given; `evopinn problems` lists the catalogue.")
    return values


def _print_forecast(
    study: Study[Any], shown: Callable[[Callable[[Observer], bool]], bool], asked: bool
) -> None:
    """Print how long the study will take: as the result if the plan was asked for, otherwise as a note."""
    expected = forecast(study, shown)
    if expected is None:
        note("stopped before the study started.")
        raise typer.Exit(EXIT_INTERRUPTED)
    shape = expected.table.rich()
    if asked:
        output(shape, as_json=False)
    else:
        notes_console().print(shape)


def _finish(study: Study[Any], directory: Path, manner: StudyOutput) -> None:
    """Write the table of all trainings and the report, and print the results."""
    write_csv(directory / "trainings.csv", study.recorded(directory))
    if manner.as_json:
        output(study.data(directory), as_json=True)
    else:
        for each in study.tables(directory):
            output(each.rich(), as_json=False)
    if not manner.report:
        return
    with nullcontext() if manner.quiet else meanwhile("writing the report"):
        path = write_study_page(study, directory)
    if not manner.quiet:
        note(f"report: {path}")
