"""Figures of a run or of a saved network, written to files."""

from pathlib import Path

import torch
import typer

from evopinn.api import load
from evopinn.cli.shared import EXIT_FAILED
from evopinn.errors import EvopinnError, FigureError
from evopinn.run.wording import visible
from evopinn.view.figures import FIGURES, Subject, draw, save
from evopinn.view.figures.figure_table import find_figure
from evopinn.view.figures.style import FORMATS
from evopinn.view.terminal.console import note


def draw_figures(run: str, what: str | None, out: Path | None, kind: str, problem: str | None) -> None:
    """Draw figures, and print the files that they were written to; the arguments are those of `plot`."""
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
