"""The command that writes reports."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from evopinn.store.directory import find_run
from evopinn.view.terminal.console import meanwhile, note


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="A run's directory or its name in runs/; several are shown side by side.",
            metavar="RUN...",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; missing directories are created. Default: report.html in the run's "
            "directory, or here for several runs."
        ),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--format", help="html or md. Default: by the ending of --out, else html.")
    ] = None,
    problem: Annotated[str | None, typer.Option(help="The problem, if its file has moved.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file even if it is not a report.")
    ] = False,
) -> None:
    """Write a report: one file with the problem, the recommended architecture, tables and figures."""
    places = [find_run(run) for run in runs]
    for place, given in Counter(place.resolve() for place in places).items():
        if given > 1:
            note(f"the run {place.name} is given {given} times; it is shown once.")
    with meanwhile("drawing figures"):
        from evopinn.cli.actions.reports import write_for_runs

        path = write_for_runs(places, out, kind=kind, problem=problem, force=force, say=note)
    typer.echo(path)
