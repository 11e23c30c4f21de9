"""The command that draws figures of a run or of a saved network."""

from pathlib import Path
from typing import Annotated

import typer

from evopinn.cli.shared import EXIT_FAILED
from evopinn.errors import EvopinnError, FigureError
from evopinn.view.console import note


def plot(
    run: Annotated[
        str,
        typer.Argument(help="A run's directory, its name in runs, or a saved network.", show_default=False),
    ],
    what: Annotated[
        str | None,
        typer.Option(
            help="Which figures, e.g. activation,structure,error; all that there can be by default."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory to write to; figures/NAME by default, NAME as the run's.")
    ] = None,
    kind: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "png",
    problem: Annotated[
        str | None, typer.Option(help="The problem, if it is not where the run or the network says.")
    ] = None,
) -> None:
    """Draw figures: of the best network, its solution and errors, and the course of the search."""
    import torch

    from evopinn.api import load
    from evopinn.run.wording import visible
    from evopinn.view.figures import FIGURES, Subject, draw, save
    from evopinn.view.figures.style import FORMATS
    from evopinn.view.figures.table import find_figure

    if kind not in FORMATS:
        raise FigureError(f"--format {kind}: give {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    asked = [] if what is None else [find_figure(name.strip()).name for name in what.split(",")]
    torch.set_num_threads(1)
    subject = Subject(load(run), problem)
    names = asked or [name for name, row in FIGURES.items() if subject.is_run or not row.of_run]
    directory = Path("figures", _name(run)) if out is None else out
    if directory.exists() and not directory.is_dir():
        raise FigureError(f"{directory} is a file, and the figures go into a directory; give one with --out.")
    written = 0
    failures: dict[str, list[str]] = {}
    for name in names:
        try:
            figure = draw(name, subject)
        except EvopinnError as error:
            failures.setdefault(str(error), []).append(name)
            continue
        typer.echo(visible(str(save(figure, directory / f"{name}.{kind}"))))
        written += 1
    for reason, without in failures.items():
        note(f"no {', '.join(without)}: {reason}")
    if not written or (asked and written < len(asked)):
        raise typer.Exit(EXIT_FAILED)


def _name(run: str) -> str:
    """The name of a run or of a saved network, which may be given by one of its files."""
    return Path(run).resolve().name.removesuffix(".json").removesuffix(".safetensors")
