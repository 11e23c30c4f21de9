"""The command that times the engines and searches."""

import json
from pathlib import Path
from typing import Annotated

import typer

from evopinn.cli.shared import heed_termination, output
from evopinn.view.console import notes_console


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Two small networks, few points: a try.")] = False,
    only: Annotated[
        str | None, typer.Option(help="One section: engines, scaling, precision, lbfgs, search.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Evaluations to take the median of.")] = 5,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures as JSON too.")] = None,
) -> None:
    """Time the engines beside peers, on one core; or, by --only search, a search beside its trainings."""
    from evopinn.bench import FULL, QUICK, run_bench
    from evopinn.view.bench import bench_tables

    heed_termination()
    if json_file is not None:  # what cannot be written is better known before the measurements
        with json_file.open("a"):
            pass
    report = run_bench(QUICK if quick else FULL, rounds, notes_console().print, only)
    if json_file is not None:
        json_file.write_text(json.dumps(report.data(), indent=2, allow_nan=False) + "\n")
    output(bench_tables(report), as_json=False)
