"""The commands that carry out studies, one for each kind."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from evopinn.cli.shared import (
    PROBLEM_HELP,
    ClusterOption,
    CpusOption,
    GpusOption,
    JsonOption,
    NoReportOption,
    QuietOption,
    WorkersOption,
    given_options,
    loading_libraries,
)
from evopinn.lab.studies.kinds import KINDS, Options, StudyKind, names_in

T = TypeVar("T")


@dataclass(frozen=True)
class CommonOptions:
    """The options that all studies have."""

    problem: Annotated[str | None, typer.Argument(help=PROBLEM_HELP)] = None
    scale: Annotated[
        float | None,
        typer.Option(
            help="1 is the paper's full schedule; 0.01 shrinks it to less than a hundredth of the work."
        ),
    ] = None
    cases: Annotated[
        str | None, typer.Option(help="Cases to train on, e.g. I,III. Default: all (sensitivity: the first).")
    ] = None
    trials: Annotated[
        int | None, typer.Option(min=1, help="Trainings of each model on each case. Default: set by --scale.")
    ] = None
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Epochs of each training. Default: set by --scale.")
    ] = None
    coarseness: Annotated[
        float | None,
        typer.Option(help="Divide the points along each axis by this factor. Default: set by --scale."),
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all random choices.")] = None
    optimizer: Annotated[str | None, typer.Option(help="lbfgs (default, as in the paper), adam, lm.")] = None
    engine: Annotated[
        str | None, typer.Option(help="How derivatives are computed: auto, autograd, taylor, fused.")
    ] = None
    workers: WorkersOption = None
    cluster: ClusterOption = None
    cpus_per_worker: CpusOption = None
    gpus_per_worker: GpusOption = None
    study: Annotated[
        str | None,
        typer.Option(help="Name of the study in studies/, or a path. Default: derived from the options."),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(help="TOML file with any of these options; command-line options override it."),
    ] = None
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print what would be done and how long it would take here, then exit."),
    ] = False
    no_report: NoReportOption = False
    as_json: JsonOption = False
    quiet: QuietOption = False

    def values(self) -> dict[str, Any]:
        """The same as entries of a design."""
        cases = None if self.cases is None else names_in(self.cases)
        names = ("problem", "scale", "trials", "epochs", "coarseness", "seed", "optimizer", "engine")
        values = given_options({name: getattr(self, name) for name in names} | {"cases": cases})
        places = {
            "count": self.workers,
            "cluster": self.cluster,
            "cpus": self.cpus_per_worker,
            "gpus": self.gpus_per_worker,
        }
        return values | {"workers": given_options(places)}


def command_of(kind: StudyKind) -> Callable[..., None]:
    """The command of a kind of study: the problem, the options of the kind, and those of all studies."""
    problem, *shared = _parameters(CommonOptions)
    parameters = [problem, *_parameters(kind.options), *shared]

    def command(**options: Any) -> None:
        _carry_out(kind, _taken(CommonOptions, options), _taken(kind.options, options))

    command.__name__, command.__doc__ = kind.command.rpartition(" ")[2], kind.options.__doc__
    command.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def add_studies(app: typer.Typer) -> None:
    """Add a command for each kind of study."""
    groups: dict[str, typer.Typer] = {}
    for kind in KINDS.values():
        group = kind.command.rpartition(" ")[0]
        if group and group not in groups:
            groups[group] = typer.Typer(no_args_is_help=True, help=kind.group)
            app.add_typer(groups[group], name=group)
        groups.get(group, app).command()(command_of(kind))


def _taken(options: type[T], values: Mapping[str, Any]) -> T:
    """Options with their values, taken from among those of a command."""
    return options(**{name: values[name] for name in inspect.signature(options).parameters})


def _parameters(options: type[Any]) -> list[inspect.Parameter]:
    """The options of a dataclass as parameters of a command."""
    hints, keyword = get_type_hints(options, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    return [
        each.replace(kind=keyword, annotation=hints[each.name])
        for each in inspect.signature(options).parameters.values()
    ]


def _carry_out(kind: StudyKind, common: CommonOptions, own: Options) -> None:
    with loading_libraries(common.quiet):
        from evopinn.cli.actions.studies import StudyOutput, carry_out_study

    manner = StudyOutput(common.as_json, common.quiet, only_plan=common.plan, report=not common.no_report)
    entries = common.values() | given_options(own.entries())
    carry_out_study(kind.name, entries, common.config, common.study, manner)
