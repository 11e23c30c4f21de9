"""The commands `search` and `resume`."""

from pathlib import Path
from typing import Annotated

import typer

from evopinn.cli.shared import (
    PROBLEM_HELP,
    ClusterOption,
    CpusOption,
    GpusOption,
    JsonOption,
    NoReportOption,
    QuietOption,
    Sets,
    SpaceOption,
    WorkersOption,
    loading_libraries,
)
from evopinn.store.directory import find_run
from evopinn.training.duration import parse_duration


def search(
    problem: Annotated[str | None, typer.Argument(help=PROBLEM_HELP), Sets("problem")] = None,
    budget: Annotated[
        str | None,
        typer.Option(help='Budget: 10m, 2h, "30000 epochs", "300 trainings". Default: 10m.'),
        Sets("budget"),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Fixed schedule instead of a budget: quick, or paper (the one for this equation)."),
        Sets("preset"),
    ] = None,
    populations: Annotated[
        str | None, typer.Option(help="Your own schedule: population of each generation, e.g. 80,26,16,8.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Number of proposals (Bayesian optimisation only).")
    ] = None,
    epochs: Annotated[
        str | None,
        typer.Option(help="Epochs of each generation, e.g. 24,40,64,104; with --trials, one number."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Search method, e.g. random or bo-fcnet; a wrong name lists all. Default: evo-dpste."
        ),
        Sets("method"),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all random choices."), Sets("seed")] = None,
    space: SpaceOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Setting of the method, e.g. --set elitists=0.2; repeatable."),
    ] = None,
    faithful: Annotated[
        bool,
        typer.Option("--faithful", help="Round proposals as the paper's Bayesian optimisation did."),
        Sets("settings.faithful"),
    ] = False,
    optimizer: Annotated[
        str | None,
        typer.Option(help="lbfgs, adam, lm, or a chain: adam:500+lm."),
        Sets("training.optimizer"),
    ] = None,
    precision: Annotated[
        str | None, typer.Option(help="float64 or float32."), Sets("training.precision")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="How derivatives are computed: auto, autograd, taylor, fused."),
        Sets("training.engine"),
    ] = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    cpus_per_worker: CpusOption = None,
    gpus_per_worker: GpusOption = None,
    memory: Annotated[
        int | None, typer.Option(help="Memory limit of a worker in megabytes."), Sets("workers.memory")
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(help="Kill a training after this time, e.g. 5m."),
        Sets("workers.deadline", parse_duration),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(help="Name of the run in runs/, or a path. Default: problem, date and four digits."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="TOML file with any of these options; command-line options override it."),
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the configuration as TOML and exit.")
    ] = False,
    no_report: NoReportOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Search for the network that solves a problem best."""
    arguments = locals()
    from evopinn.cli.actions.configuring import configured

    settled = configured(search, arguments)
    with loading_libraries(quiet or print_config):
        from evopinn.cli.actions.searching import SearchOutput, print_configuration, start_run
    if print_config:
        print_configuration(settled, quiet)
        return
    start_run(settled, run, SearchOutput(as_json, quiet, report=not no_report))


def resume(
    run: Annotated[str, typer.Argument(help="A run's directory or its name in runs/.")],
    problem: Annotated[str | None, typer.Option(help="The problem's file, if it has moved.")] = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    cpus_per_worker: CpusOption = None,
    gpus_per_worker: GpusOption = None,
    no_report: NoReportOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Resume a stopped or killed search; it reaches the identical result."""
    arguments = locals()
    from evopinn.cli.actions.configuring import entries

    directory = find_run(run)
    changed = entries(resume, arguments).get("workers", {})
    with loading_libraries(quiet):
        from evopinn.cli.actions.searching import SearchOutput, resume_run

    resume_run(directory, problem, changed, SearchOutput(as_json, quiet, report=not no_report))
