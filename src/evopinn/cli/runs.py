"""The commands `runs`, `show`, `stop` and `export`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evopinn import training
from evopinn.cli.shared import EXIT_FAILED, JsonOption, output
from evopinn.errors import RunError
from evopinn.run.export import ENDINGS, export_evaluations
from evopinn.run.record import RunRecord
from evopinn.run.run_result import RunResult
from evopinn.run.stopping import PATIENCE, stop_run
from evopinn.run.wording import run_name
from evopinn.store.directory import RUNS, find_run, runs_in
from evopinn.store.reader import Reader
from evopinn.view.terminal.console import PIPE_WIDTH, note, output_console
from evopinn.view.terminal.run_charts import run_charts
from evopinn.view.terminal.run_summary import run_page, runs_list

CHART_WIDTH = 80
"""Columns of charts where the width of a line is unknown."""

RunArgument = Annotated[
    str, typer.Argument(help="A run's directory or its name in runs/.", show_default=False)
]


def runs(
    directory: Annotated[Path, typer.Argument(help="Directory of the runs.")] = RUNS,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a directory, newest last."""
    # It is no mistake to list runs before the first search.
    places = runs_in(directory) if directory != RUNS or directory.exists() else []
    found: list[RunRecord] = []
    unreadable: list[tuple[Path, str]] = []
    for place in places:
        try:
            found.append(RunRecord.read(place, top=1))
        except RunError as error:
            unreadable.append((place, str(error)))
    found.sort(key=lambda record: record.about.created)
    if as_json:
        damaged: list[Any] = [
            {"run": str(place), "state": "unreadable", "reason": reason} for place, reason in unreadable
        ]
        output([_overview(record.data()) for record in found] + damaged, as_json)
    elif places:
        output(runs_list(found, unreadable), as_json)
    else:
        note(f"there are no runs in {directory}; `evopinn search PROBLEM` makes one.")


def show(
    run: RunArgument,
    top: Annotated[int, typer.Option(min=1, help="Maximum number of genomes to list.")] = 10,
    charts: Annotated[
        bool | None,
        typer.Option("--charts/--no-charts", help="Draw small charts. Default: only on a terminal."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run: what it found, its generations, hall of fame and failures."""
    record = RunRecord.read(find_run(run), top)
    if as_json:
        output(record.data(), as_json)
        return
    console = output_console()
    wanted = console.is_terminal if charts is None else charts
    width = console.width if console.width < PIPE_WIDTH else CHART_WIDTH
    drawn = run_charts(record, width, ascii_only=console.options.ascii_only) if wanted else ()
    output(run_page(record, drawn), as_json)


def stop(run: RunArgument) -> None:
    """Stop a running search. Nothing recorded is lost, and it can be resumed."""
    directory = find_run(run)
    if not stop_run(directory, PATIENCE):
        note(f"{directory} was asked to stop and has not ended after {PATIENCE:g} s; look again later.")
        raise typer.Exit(EXIT_FAILED)
    with Reader(directory) as reader:
        finished = reader.state() == "finished"
    further = "it is finished." if finished else f"resume with `evopinn resume {run_name(directory)}`."
    note(f"{directory} has stopped; {further}")


def export(
    run: RunArgument,
    out: Annotated[
        str,
        typer.Argument(
            help="FILE.csv or FILE.jsonl for all evaluations; any other name for the most accurate network."
        ),
    ],
    task: Annotated[int | None, typer.Option(min=0, help="Export the network of this task instead.")] = None,
) -> None:
    """Write all evaluations of a run, or one of its networks, to files."""
    directory = find_run(run)
    if not out.endswith(ENDINGS):
        _export_network(directory, out, task)
        return
    if task is not None:
        raise RunError(
            f"--task {task} chooses a network, but {out} is a file for all evaluations; leave out --task, or "
            "give a name without that ending."
        )
    count = export_evaluations(directory, Path(out))
    note(f"{count:,} evaluations written to {out}")


def _export_network(directory: Path, name: str, task: int | None) -> None:
    result = RunResult(directory)
    network = result.best if task is None else result.weights(task)
    paths = training.check_writable(name)
    for path in paths:
        if path.exists():
            raise RunError(f"{path} exists already and is not overwritten; choose another name.")
    training.save(network, name)
    note(f"{network.genome} written to {paths[0]} and {paths[1]}")


def _overview(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of a run's summary for a list of runs."""
    left_out = ("counts", "failures", "generations", "hall_of_fame", "finalists", "events")
    return {name: value for name, value in data.items() if name not in left_out}
