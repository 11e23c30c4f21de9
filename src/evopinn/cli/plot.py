"""The command that draws figures of a run or of a saved network."""

from pathlib import Path
from typing import Annotated

import typer


def plot(
    run: Annotated[
        str,
        typer.Argument(
            help="A run's directory or its name in runs/, or a saved network.", show_default=False
        ),
    ],
    what: Annotated[
        str | None,
        typer.Option(help="Figures to draw, e.g. activation,structure,error. Default: all that apply."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output directory. Default: figures/NAME, after the run or network.")
    ] = None,
    kind: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "png",
    problem: Annotated[str | None, typer.Option(help="The problem, if its file has moved.")] = None,
) -> None:
    """Draw figures of the most accurate network, its solution and errors, and the search."""
    from evopinn.cli.actions.figures import draw_figures

    draw_figures(run, what, out, kind, problem)
