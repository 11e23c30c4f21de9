"""Reports of runs, written to files."""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from evopinn import view
from evopinn.run.wording import run_name
from evopinn.view.terminal.console import meanwhile, note


def write_for_runs(runs: Sequence[Path], out: Path | None = None, **options: Any) -> Path:
    """Write a report of runs: see `evopinn.view.report.write_report`."""
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        # Networks that failed have numbers that overflow on the way into a figure, which leaves them out.
        warnings.simplefilter("ignore", RuntimeWarning)
        return view.report.write_report(runs, out, **options)


def report_finished(directory: Path, quiet: bool) -> None:
    """Write the report of a finished search; no failure of the report affects the search."""
    try:
        with nullcontext() if quiet else meanwhile("writing the report"):
            path = write_for_runs([directory])
    except KeyboardInterrupt:
        note(f"no report was written; `evopinn report {run_name(directory)}` writes it.")
    except Exception as error:  # noqa: BLE001 - hours of searching do not fail for a figure
        note(f"no report was written: {error}")
    else:
        if not quiet:
            note(f"report: {path}")
