"""The command that times engines and searches."""

import json
from pathlib import Path
from typing import Annotated

import typer

from evopinn.cli.shared import output, stop_on_termination
from evopinn.view.terminal.console import notes_console


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Try it: two small networks, few points.")] = False,
    only: Annotated[
        str | None, typer.Option(help="Run one section: engines, scaling, precision, lbfgs, lm, search.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Evaluations per median.")] = 5,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures to this file as JSON.")
    ] = None,
) -> None:
    """Time the engines against peers on one core, or (--only search) the overhead of a search."""
    from evopinn.lab.bench.cases import FULL, QUICK
    from evopinn.lab.bench.sections import run_bench

    stop_on_termination()
    if json_file is not None:  # fail before the measurements, not after
        with json_file.open("a"):
            pass
    report = run_bench(QUICK if quick else FULL, rounds, notes_console().print, only)
    if json_file is not None:
        json_file.write_text(json.dumps(report.data(), indent=2, allow_nan=False) + "\n")
    output(report.rich(), as_json=False)
