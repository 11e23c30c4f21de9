"""The command that writes reports."""

import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from evopinn.run.wording import run_name
from evopinn.view.console import meanwhile, note


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="A run's directory, or its name in runs; several side by side.",
            metavar="RUN...",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write, directories and all; report.html in the run's directory by default, of "
            "several here."
        ),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--format", help="html or md; as --out ends, or html, by default.")
    ] = None,
    problem: Annotated[str | None, typer.Option(help="The problem, if it is not where the run says.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is no report, too.")] = False,
) -> None:
    """Write a report: one file with the problem, the winner, tables and figures."""
    from evopinn.run.place import find_run

    places = [find_run(run) for run in runs]
    for place, given in Counter(place.resolve() for place in places).items():
        if given > 1:
            note(f"the run {place.name} is given {given} times; it is shown once.")
    with meanwhile("drawing figures"):
        path = _written(places, out, kind=kind, problem=problem, force=force, say=note)
    typer.echo(path)


def report_finished(directory: Path, quiet: bool) -> None:
    """Write the report of a search that has come to its end; whatever goes wrong, the search is done."""
    try:
        with nullcontext() if quiet else meanwhile("writing the report"):
            path = _written([directory])
    except KeyboardInterrupt:
        note(f"no report was written; `evopinn report {run_name(directory)}` writes it.")
    except Exception as error:  # noqa: BLE001 - hours of searching do not fail for a figure
        note(f"no report was written: {error}")
    else:
        if not quiet:
            note(f"report: {path}")


def _written(runs: Sequence[Path], out: Path | None = None, **options: Any) -> Path:
    import torch

    from evopinn.view.report import write_report

    torch.set_num_threads(1)
    with warnings.catch_warnings():
        # Networks that failed have numbers that overflow on the way into a figure, which leaves them out.
        warnings.simplefilter("ignore", RuntimeWarning)
        return write_report(runs, out, **options)
