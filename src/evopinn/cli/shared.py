"""What commands have in common: options, exit codes, output, and how they are asked to end."""

import json
import signal
import sys
from contextlib import AbstractContextManager, nullcontext, redirect_stdout, suppress
from types import FrameType
from typing import Annotated, Any

import typer
from rich.text import Text

from evopinn.view.console import output_console

EXIT_FAILED, EXIT_MISTAKE, EXIT_INTERRUPTED = 1, 2, 130

PROBLEM_HELP = "A name of the catalogue (klein-gordon, klein-gordon:II), my_problem.py or my_problem.py:name."
SPACE_HELP = 'Bounds, e.g. "layers=2-12 neurons=8-64:4"; the paper\'s by default, smaller to search with lm.'

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
NoReportOption = Annotated[
    bool, typer.Option("--no-report", help="Leave out the report that is written at the end.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Processes that train; one a core by default, on a cluster all that it has room for."
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        help="Train on a Ray cluster: auto for the one that runs here, or host:port; local for none."
    ),
]
CpusOption = Annotated[
    float | None, typer.Option(min=0, help="CPUs of the cluster that a worker takes; 1 by default.")
]
GpusOption = Annotated[
    float | None, typer.Option(min=0, help="GPUs of the cluster that a worker takes: 0.25 for four on each.")
]
SpaceOption = Annotated[str | None, typer.Option("--space", help=SPACE_HELP)]


def output(content: Any, as_json: bool) -> None:
    """Print a table or text, as it is, for a person, or JSON for a script.

    If the reader of a pipe has seen enough, the command ends as it would have.
    """
    with suppress(BrokenPipeError):
        if as_json:
            sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")
            sys.stdout.flush()
        else:
            output_console().print(Text(content) if isinstance(content, str) else content)


def prints_aside(as_json: bool) -> AbstractContextManager[object]:
    """While a user's own code may run: what it prints goes to stderr, if stdout is for JSON."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def heed_termination() -> None:
    """Let a request to end be treated as Ctrl-C: the result so far is kept."""
    signal.signal(signal.SIGTERM, _as_interrupt)


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
