"""Common parts of commands: options, exit codes, output and termination."""

import json
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Annotated, Any

import typer
from rich.text import Text

from evopinn.view.terminal.console import meanwhile, output_console

EXIT_FAILED, EXIT_MISTAKE, EXIT_INTERRUPTED = 1, 2, 130


@dataclass(frozen=True)
class Sets:
    """The entry of a configuration that an option sets, declared beside its `typer.Option`.

    Attributes:
        entry: The name of the entry, after that of its table: `training.optimizer`.
        read: The conversion of the given value.
    """

    entry: str
    read: Callable[[Any], Any] = lambda given: given


PROBLEM_HELP = "Name in the catalogue (klein-gordon, klein-gordon:II), my_problem.py or my_problem.py:name."
SPACE_HELP = (
    'Bounds, e.g. "layers=2-12 neurons=8-64:4 starts=paper,varied". Default: the paper\'s; smaller ones for '
    "a search with lm."
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
NoReportOption = Annotated[bool, typer.Option("--no-report", help="Do not write a report at the end.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of training processes. Default: one per core, or as many as fit on the cluster."
    ),
    Sets("workers.count"),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        help="Train on a Ray cluster: auto (the one running here) or host:port; local trains without one."
    ),
    Sets("workers.cluster"),
]
CpusOption = Annotated[
    float | None,
    typer.Option(min=0, help="CPUs per worker on the cluster. Default: 1."),
    Sets("workers.cpus"),
]
GpusOption = Annotated[
    float | None,
    typer.Option(min=0, help="GPUs per worker on the cluster; 0.25 puts four workers on each GPU."),
    Sets("workers.gpus"),
]
SpaceOption = Annotated[str | None, typer.Option("--space", help=SPACE_HELP), Sets("space")]


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def output(content: Any, as_json: bool) -> None:
    """Print a table or text for a person, or JSON for a script.

    If the reader of a pipe has gone, the command ends as it would have.
    """
    with suppress(BrokenPipeError):
        if as_json:
            sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")
            sys.stdout.flush()
        else:
            output_console().print(Text(content) if isinstance(content, str) else content)


def loading_libraries(quietly: bool) -> AbstractContextManager[object]:
    """A message while libraries are imported, which takes seconds."""
    return nullcontext() if quietly else meanwhile("loading libraries")


def own_prints_to_stderr(as_json: bool) -> AbstractContextManager[object]:
    """Send the prints of a user's own code to stderr, if stdout is for JSON."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def stop_on_termination() -> None:
    """Treat SIGTERM like Ctrl-C: keep the result so far."""
    signal.signal(signal.SIGTERM, _as_interrupt)


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
