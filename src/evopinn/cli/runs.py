"""Commands that look at runs, stop them and take out what they found."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evopinn.cli.shared import EXIT_FAILED, JsonOption, output
from evopinn.errors import RunError
from evopinn.run.place import RUNS, find_run, runs_in
from evopinn.run.termination import PATIENCE, stop_run
from evopinn.view.console import PIPE_WIDTH, note, output_console

CHART_WIDTH = 80
"""Columns of charts where nothing says how wide a line may be."""

RunArgument = Annotated[
    str, typer.Argument(help="A run's directory, or its name in runs.", show_default=False)
]


def runs(
    directory: Annotated[Path, typer.Argument(help="Where the runs lie.")] = RUNS,
    as_json: JsonOption = False,
) -> None:
    """List the runs in a directory, the newest last."""
    from evopinn.run.summary import Summary, summarise
    from evopinn.view.runs import runs_table

    # Whoever has not searched yet has made no mistake.
    places = runs_in(directory) if directory != RUNS or directory.exists() else []
    summaries: list[Summary] = []
    unreadable: list[tuple[Path, str]] = []
    for place in places:
        try:
            summaries.append(summarise(place, top=1))
        except RunError as error:
            unreadable.append((place, str(error)))
    summaries.sort(key=lambda summary: summary.created)
    if as_json:
        damaged: list[Any] = [
            {"run": str(place), "state": "unreadable", "reason": reason} for place, reason in unreadable
        ]
        output([_overview(summary.data()) for summary in summaries] + damaged, as_json)
    elif places:
        output(runs_table(summaries, unreadable), as_json)
    else:
        note(f"there are no runs in {directory}; `evopinn search PROBLEM` makes one.")


def show(
    run: RunArgument,
    top: Annotated[int, typer.Option(min=1, help="Genomes to list, at most.")] = 10,
    charts: Annotated[
        bool | None,
        typer.Option("--charts/--no-charts", help="Draw small charts; by default on a terminal only."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run: its winner, generations, hall of fame and failures."""
    from evopinn.run.summary import summarise
    from evopinn.view.run_charts import run_charts
    from evopinn.view.runs import show_tables

    summary = summarise(find_run(run), top)
    if as_json:
        output(summary.data(), as_json)
        return
    console = output_console()
    wanted = console.is_terminal if charts is None else charts
    width = console.width if console.width < PIPE_WIDTH else CHART_WIDTH
    drawn = run_charts(summary, width, ascii_only=console.options.ascii_only) if wanted else ()
    output(show_tables(summary, drawn), as_json)


def stop(run: RunArgument) -> None:
    """End a running search; all that it has recorded stays, and it can be resumed."""
    from evopinn.run.reading import Reader
    from evopinn.run.wording import run_name

    directory = find_run(run)
    if not stop_run(directory, PATIENCE):
        note(f"{directory} was asked to stop and has not ended after {PATIENCE:g} s; look again later.")
        raise typer.Exit(EXIT_FAILED)
    with Reader(directory) as reader:
        finished = reader.state() == "finished"
    further = "it was finished." if finished else f"`evopinn resume {run_name(directory)}` goes on."
    note(f"{directory} has stopped; {further}")


def export(
    run: RunArgument,
    out: Annotated[
        str,
        typer.Argument(help="FILE.csv or FILE.jsonl for all evaluations, else a name for the best network."),
    ],
    task: Annotated[
        int | None, typer.Option(min=0, help="The network of this task instead of the best.")
    ] = None,
) -> None:
    """Write the evaluations of a run, or a network that it found, to files."""
    from evopinn.run.table import ENDINGS, export_evaluations

    directory = find_run(run)
    if not out.endswith(ENDINGS):
        _export_network(directory, out, task)
        return
    if task is not None:
        raise RunError(f"--task chooses a network, but {out} is to have all evaluations; give another name.")
    count = export_evaluations(directory, Path(out))
    note(f"{count:,} evaluations written to {out}")


def _export_network(directory: Path, name: str, task: int | None) -> None:
    from evopinn.run.result import SearchResult
    from evopinn.training import check_writable, save

    result = SearchResult(directory)
    network = result.best if task is None else result.weights(task)
    paths = check_writable(name)
    for path in paths:
        if path.exists():
            raise RunError(f"{path} exists already and is not overwritten; choose another name.")
    save(network, name)
    note(f"{network.genome} written to {paths[0]} and {paths[1]}")


def _overview(data: dict[str, Any]) -> dict[str, Any]:
    """Of a run's summary, what a list of runs has."""
    left_out = ("counts", "failures", "generations", "hall_of_fame", "finalists", "events")
    return {name: value for name, value in data.items() if name not in left_out}
