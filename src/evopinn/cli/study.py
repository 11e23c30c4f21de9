"""Commands that make the paper's experiments again: sensitivity, comparison, published models."""

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from evopinn.cli.given import said
from evopinn.cli.search import load_libraries
from evopinn.cli.shared import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    PROBLEM_HELP,
    ClusterOption,
    CpusOption,
    GpusOption,
    JsonOption,
    NoReportOption,
    QuietOption,
    SpaceOption,
    WorkersOption,
    output,
)
from evopinn.errors import RunError, SearchError
from evopinn.view.console import meanwhile, note

if TYPE_CHECKING:
    from evopinn.run.session import Audience
    from evopinn.study.kinds import AnyStudy

STUDIES = Path("studies")
"""Where studies lie if nothing else is said."""


@dataclass(frozen=True)
class Common:
    """The options that all studies have."""

    problem: Annotated[str | None, typer.Argument(help=PROBLEM_HELP)] = None
    scale: Annotated[
        float | None,
        typer.Option(
            help="1 is the paper's full schedule; 0.01 shrinks all of it, in all to below a hundredth."
        ),
    ] = None
    cases: Annotated[str | None, typer.Option(help="Cases to train on, e.g. I,III; all by default.")] = None
    trials: Annotated[
        int | None, typer.Option(min=1, help="Trainings of each model on each case; as the scale says.")
    ] = None
    epochs: Annotated[int | None, typer.Option(min=1, help="Of each of them; as the scale says.")] = None
    coarseness: Annotated[
        float | None, typer.Option(help="Factor by which each axis has fewer points; as the scale says.")
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="All random choices follow from it.")] = None
    optimizer: Annotated[str | None, typer.Option(help="lbfgs, the paper's, by default; adam, lm.")] = None
    engine: Annotated[str | None, typer.Option(help="auto, autograd, taylor, fused.")] = None
    workers: WorkersOption = None
    cluster: ClusterOption = None
    cpus_per_worker: CpusOption = None
    gpus_per_worker: GpusOption = None
    study: Annotated[
        str | None,
        typer.Option(help="Name of the study in studies/, or a path; by default one for all that is asked."),
    ] = None
    config: Annotated[
        Path | None, typer.Option(help="A TOML file with any of this; what is given here comes first.")
    ] = None
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be done and how long it takes here; do nothing.")
    ] = False
    no_report: NoReportOption = False
    as_json: JsonOption = False
    quiet: QuietOption = False

    def values(self) -> dict[str, Any]:
        """What is asked, as a design says it; what the file says that is named, unless it is given here."""
        from evopinn.study.design import read_design

        values = {} if self.config is None else read_design(self.config)
        cases = None if self.cases is None else named(self.cases)
        names = ("problem", "scale", "trials", "epochs", "coarseness", "seed", "optimizer", "engine")
        values |= said({name: getattr(self, name) for name in names} | {"cases": cases})
        places = {
            "count": self.workers,
            "cluster": self.cluster,
            "cpus": self.cpus_per_worker,
            "gpus": self.gpus_per_worker,
        }
        return values | {"workers": {**values.get("workers", {}), **said(places)}}


def with_common(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that all studies have, beside its own, as its first argument."""
    own = list(inspect.signature(command).parameters.values())[1:]
    own_hints, hints = (
        get_type_hints(command, include_extras=True),
        get_type_hints(Common, include_extras=True),
    )
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(each.name, keyword, default=each.default, annotation=hints[each.name])
        for each in fields(Common)
    ]
    special = [each.replace(kind=keyword, annotation=own_hints[each.name]) for each in own]
    first, *others = shared  # the problem

    def called(**given: Any) -> None:
        command(Common(**{each.name: given.pop(each.name) for each in fields(Common)}), **given)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    parameters = [first, *special, *others]
    called.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def named(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",")]


@with_common
def sensitivity(
    common: Common,
    morris: Annotated[
        int | None, typer.Option(min=0, help="Trajectories of Morris' screening; none by default.")
    ] = None,
) -> None:
    """Vary layers, neurons, shortcuts and activation alone, and say what matters for a problem."""
    _carry_out("sensitivity", common, {"morris": morris})


@with_common
def compare(
    common: Common,
    methods: Annotated[
        str | None,
        typer.Option(help="all, or some of bo-fcnet,bo-fcresnet,random,evolution,evo-dpste,evo-dpste+lm."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Independent searches by each method; as the scale says.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help='Epochs of a search, in place of the scale: "30000 epochs".')
    ] = None,
    bounds: SpaceOption = None,
) -> None:
    """Compare the methods at equal cost, and what they discover on every case of a problem."""
    load_libraries(common.quiet)
    from evopinn.study.compare import COMPARED

    chosen = list(COMPARED) if methods == "all" else None if methods is None else named(methods)
    _carry_out("compare", common, {"methods": chosen, "searches": runs, "budget": budget, "space": bounds})


reproduce = typer.Typer(no_args_is_help=True, help="Make the paper's tables again.")


@reproduce.callback()
def _about() -> None:
    """Make the paper's tables again."""


@with_common
def table(
    common: Common,
    models: Annotated[
        str | None, typer.Option(help="Some of the 15 published models, e.g. evo-dpste-1,bo-fcnet-1.")
    ] = None,
) -> None:
    """Train the published models of KG, burgers or lame again: published and measured side by side."""
    chosen = None if models is None else [name.removeprefix("paper:") for name in named(models)]
    _carry_out("reproduce", common, {"models": chosen})


reproduce.command()(table)


def _carry_out(kind: str, common: Common, special: dict[str, Any]) -> None:
    """Do a study, or what is left of it, and print what came out."""
    load_libraries(common.quiet)
    from evopinn.api import watched
    from evopinn.run.naming import run_path
    from evopinn.study.course import carry_out, check_place, claim, is_begun
    from evopinn.study.kinds import study_of
    from evopinn.view.study.wording import scale_note

    values = common.values()
    if special.get("budget") is not None:  # in place of what the file says
        values.pop("schedule", None)
    values |= said(special)
    if "problem" not in values:
        raise SearchError("no problem is given; `evopinn problems` lists the catalogue.")
    study = study_of(kind, values, "the command" if common.config is None else str(common.config))
    directory = run_path(common.study or study.design.name(), STUDIES)

    def shown(go: "Callable[[Audience], bool]") -> bool:
        return watched(go, not common.quiet)

    def say(text: str) -> None:
        if not common.quiet:
            note(text)

    check_place(study, directory)
    say(scale_note(study.design))
    if common.plan or not (common.quiet or is_begun(directory)):
        _foretell(study, shown, common.plan)
    if common.plan:
        return
    claim(study, directory)
    try:
        finished = carry_out(study, directory, shown, say)
    except RunError as error:
        if not is_begun(directory):
            raise
        note(f"error: {error}")
        raise typer.Exit(EXIT_FAILED) from None
    if not finished:
        note(f"stopped; the same command goes on with {directory}.")
        raise typer.Exit(EXIT_INTERRUPTED)
    _finish(study, directory, common)


def _foretell(study: "AnyStudy", shown: "Callable[[Callable[[Audience], bool]], bool]", asked: bool) -> None:
    """Say how long it will take: as the answer, if it was asked for, otherwise beside it."""
    from evopinn.study.course import forecast
    from evopinn.view.console import notes_console
    from evopinn.view.study.tables import forecast_table

    expected = forecast(study, shown)
    if expected is None:
        note("stopped; nothing was begun.")
        raise typer.Exit(EXIT_INTERRUPTED)
    shape = forecast_table(expected)
    if asked:
        output(shape.rich(), as_json=False)
    else:
        notes_console().print(shape.rich())


def _finish(study: "AnyStudy", directory: Path, common: Common) -> None:
    """Write the table of all trainings and the report, and print what came out."""
    from evopinn.study.trials import write_csv
    from evopinn.view.study import study_tables, write_study_report

    write_csv(directory / "trainings.csv", study.recorded(directory))
    if common.as_json:
        output(study.data(directory), as_json=True)
    else:
        for each in study_tables(study, directory):
            output(each.rich(), as_json=False)
    if common.no_report:
        return
    with nullcontext() if common.quiet else meanwhile("writing the report"):
        path = write_study_report(study, directory)
    if not common.quiet:
        note(f"report: {path}")
