"""The command that trains one network."""

import os
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from evopinn.cli.shared import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    PROBLEM_HELP,
    JsonOption,
    QuietOption,
    SpaceOption,
    heed_termination,
    output,
    prints_aside,
)
from evopinn.errors import GenomeError, StoredModelError, TrainingError
from evopinn.view.console import notes_console

if TYPE_CHECKING:
    from evopinn.genome import Genome, PublishedModel, Space

DEFAULT_GENOME = "layers=5 neurons=32 shortcuts=none activation=tanh(x)"


def train(
    problem: Annotated[str, typer.Argument(help=PROBLEM_HELP)],
    model: Annotated[
        str | None,
        typer.Option(
            help="A published model: paper:evo-dpste-1, or paper:lame/evo-dpste-1 for another problem's."
        ),
    ] = None,
    genome: Annotated[
        str | None,
        typer.Option(
            help='A network, e.g. "layers=6 neurons=48 shortcuts=0-1,1-2 activation=asinh(x)*cos(x)".'
        ),
    ] = None,
    epochs: Annotated[
        int, typer.Option(min=0, help="Iterations of the optimiser, at most; with lm their worth.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the initial weights.")] = 0,
    optimizer: Annotated[
        str, typer.Option(help="lbfgs, adam, lm, or one after another: adam:500+lm.")
    ] = "lbfgs",
    rate: Annotated[float | None, typer.Option(help="Learning rate, if not the optimiser's own.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="End in time: 20s, 10m, 2h.")] = None,
    max_evaluations: Annotated[
        int | None, typer.Option(min=1, help="Evaluations of the loss, at most.")
    ] = None,
    errors_every: Annotated[int, typer.Option(min=1, help="Measure the error after so many epochs.")] = 100,
    precision: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    device: Annotated[str, typer.Option(help="A torch device: cpu, cuda, cuda:1.")] = "cpu",
    engine: Annotated[
        str, typer.Option(help="How derivatives are computed: auto, autograd, taylor, fused.")
    ] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="CPU threads; more seldom pay.")] = 1,
    bounds: SpaceOption = None,
    save: Annotated[str | None, typer.Option(help="Write NAME.safetensors and NAME.json.")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train one network on a problem and report its loss and errors."""
    import torch

    from evopinn.problem import is_problem_file
    from evopinn.problems import find_problem
    from evopinn.training import check_writable, find_optimizer
    from evopinn.training import save as write
    from evopinn.training import train as run
    from evopinn.view.progress import training_progress
    from evopinn.view.tables import training_data, training_table

    heed_termination()
    if threads > (os.cpu_count() or 1):
        raise TrainingError(f"--threads {threads}: this machine has {os.cpu_count()} cores.")
    torch.set_num_threads(threads)
    with prints_aside(as_json):
        stated = find_problem(problem)
    # A user's own problem may bear any name: only what comes from the catalogue has published models.
    family, _, case = ("", "", "") if is_problem_file(problem) else stated.name.partition(":")
    network, published = _network(family, model, genome, bounds)
    if save is not None:
        check_writable(save)
    notes = notes_console()
    with prints_aside(as_json), nullcontext() if quiet else training_progress(notes) as report:
        result = run(
            stated,
            network,
            epochs=epochs,
            seed=seed,
            optimizer=find_optimizer(optimizer, rate),
            time_limit=time_limit,
            max_evaluations=max_evaluations,
            errors_every=errors_every,
            precision=precision,
            device=device,
            engine=engine,
            on_progress=report,
        )
    beside = [error for error in published.errors if error.case == case] if published else []
    unsaved: StoredModelError | None = None
    if save is not None:
        try:
            write(result, save)
        except StoredModelError as error:  # told after the result, which must not be lost as well
            unsaved = error
    output(training_data(result) if as_json else training_table(result, beside), as_json)
    if unsaved is not None:
        raise unsaved
    if save is not None:
        with suppress(OSError):  # it is saved, whether or not anybody hears of it
            notes.print(f"saved as {save}.safetensors and {save}.json")
    if str(result.status) == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.status.failed:
        raise typer.Exit(EXIT_FAILED)


def _network(
    family: str, model: str | None, genome: str | None, bounds: str | None
) -> "tuple[Genome, PublishedModel | None]":
    """The network that the user names; if none, the paper's best for this problem, or a plain one."""
    from evopinn.genome import Genome, Space, find_published, published_models

    if model is not None and genome is not None:
        raise GenomeError("both --model and --genome are given; choose one.")
    space = Space.parse(bounds) if bounds else Space()
    if model is None:
        published = any(each.problem == family for each in published_models())
        if genome is not None or not published:
            return _within(space, Genome.parse(DEFAULT_GENOME if genome is None else genome)), None
        model = "paper:evo-dpste-1"
    found = find_published(model, family)
    return _within(space, found.genome), found if found.problem == family else None


def _within(space: "Space", genome: "Genome") -> "Genome":
    """A genome that lies in a space; what to do if it does not is to give another."""
    try:
        space.check(genome)
    except GenomeError as error:
        sizes = f"layers=2-{max(11, genome.structure.layers)} neurons=1-{max(50, genome.structure.neurons)}"
        raise GenomeError(f'{error} To widen the bounds: --space "{sizes}".') from error
    return genome
