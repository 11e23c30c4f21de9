"""The application: its commands in the order of `--help`, and its handling of errors."""

import importlib.metadata
import os
import sys
from typing import Annotated, TextIO

import typer

from evopinn.cli.bench import bench
from evopinn.cli.catalogue import models, problems, space
from evopinn.cli.dashboard import dashboard
from evopinn.cli.plot import plot
from evopinn.cli.report import report
from evopinn.cli.runs import export, runs, show, stop
from evopinn.cli.search import resume, search
from evopinn.cli.shared import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_MISTAKE
from evopinn.cli.studies import add_studies
from evopinn.cli.training import train
from evopinn.errors import EvopinnError
from evopinn.view.terminal.console import note

COMMANDS = (
    problems,
    models,
    space,
    train,
    search,
    resume,
    runs,
    show,
    stop,
    export,
    plot,
    report,
    dashboard,
)

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Give it a PDE, get back the physics-informed neural network that solves it best."""
    if version:
        sys.stdout.write(f"evopinn {importlib.metadata.version('evopinn')}\n")
        raise typer.Exit


for command in COMMANDS:
    app.command()(command)
add_studies(app)
app.command()(bench)


def main() -> None:
    """Run the command line; a user's mistake gives one sentence, without a traceback."""
    try:
        app()
    except EvopinnError as error:
        note(f"error: {error}")
        sys.exit(EXIT_MISTAKE)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.exit(0)
    except OSError as error:
        what = "the output could not be written" if error.filename is None else f"{error.filename}"
        note(f"error: {what}: {error.strerror}.")
        sys.exit(EXIT_FAILED)
    finally:
        for stream in (sys.stdout, sys.stderr):
            _discard_if_broken(stream)


def _discard_if_broken(stream: TextIO) -> None:
    """Drop output that nobody reads, or Python would complain at exit and change the exit code."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError:
        pass  # not written, as was told
