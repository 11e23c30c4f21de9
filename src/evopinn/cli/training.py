"""The command that trains one network."""

import os
from typing import Annotated

import typer

from evopinn.cli.shared import PROBLEM_HELP, JsonOption, QuietOption, SpaceOption, stop_on_termination
from evopinn.errors import GenomeError, TrainingError
from evopinn.genome import STARTS, Genome, PublishedModel, Space, find_published, published_models

DEFAULT_GENOME = "layers=5 neurons=32 shortcuts=none activation=tanh(x)"


def train(
    problem: Annotated[str, typer.Argument(help=PROBLEM_HELP)],
    model: Annotated[
        str | None,
        typer.Option(
            help="Published model: paper:evo-dpste-1, or paper:lame/evo-dpste-1 for another problem's."
        ),
    ] = None,
    genome: Annotated[
        str | None,
        typer.Option(
            help='Network, e.g. "layers=6 neurons=48 shortcuts=0-1,1-2 activation=asinh(x)*cos(x)".'
        ),
    ] = None,
    epochs: Annotated[
        int, typer.Option(min=0, help="Maximum number of iterations (for lm: equivalent cost).")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the initial weights.")] = 0,
    optimizer: Annotated[str, typer.Option(help="lbfgs, adam, lm, or a chain: adam:500+lm.")] = "lbfgs",
    rate: Annotated[float | None, typer.Option(help="Learning rate. Default: the optimiser's own.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop after this time: 20s, 10m, 2h.")] = None,
    max_evaluations: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of loss evaluations.")
    ] = None,
    errors_every: Annotated[int, typer.Option(min=1, help="Epochs between measurements of the error.")] = 100,
    precision: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    device: Annotated[str, typer.Option(help="Torch device: cpu, cuda, cuda:1.")] = "cpu",
    engine: Annotated[
        str, typer.Option(help="How derivatives are computed: auto, autograd, taylor, fused.")
    ] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="CPU threads; more than one seldom helps.")] = 1,
    bounds: SpaceOption = None,
    save: Annotated[
        str | None, typer.Option(help="Save the network as NAME.safetensors and NAME.json.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train one network on a problem and report its loss and errors."""
    stop_on_termination()
    if threads > (os.cpu_count() or 1):
        raise TrainingError(f"--threads {threads}: this machine has {os.cpu_count()} cores.")
    from evopinn.cli.actions.training import train_and_show

    train_and_show(
        problem,
        lambda family: _network(family, model, genome, bounds),
        optimizer=optimizer,
        rate=rate,
        threads=threads,
        save_as=save,
        as_json=as_json,
        quiet=quiet,
        epochs=epochs,
        seed=seed,
        time_limit=time_limit,
        max_evaluations=max_evaluations,
        errors_every=errors_every,
        precision=precision,
        device=device,
        engine=engine,
    )


def _network(
    family: str, model: str | None, genome: str | None, bounds: str | None
) -> tuple[Genome, PublishedModel | None]:
    """The network that the user names; if none, the paper's best for this problem, or a plain one."""
    if model is not None and genome is not None:
        raise GenomeError("both --model and --genome are given; choose one.")
    space = Space.parse(bounds) if bounds else Space(starts=tuple(STARTS))
    if model is None:
        published = any(each.problem == family for each in published_models())
        if genome is not None or not published:
            return _within(space, Genome.parse(DEFAULT_GENOME if genome is None else genome)), None
        model = "paper:evo-dpste-1"
    found = find_published(model, family)
    return _within(space, found.genome), found if found.problem == family else None


def _within(space: Space, genome: Genome) -> Genome:
    """A genome that lies in a space; what to do if it does not is to give another."""
    try:
        space.check(genome)
    except GenomeError as error:
        sizes = f"layers=2-{max(11, genome.structure.layers)} neurons=1-{max(50, genome.structure.neurons)}"
        raise GenomeError(f'{error} To widen the bounds: --space "{sizes}".') from error
    return genome
