"""The command that trains one network."""

import os
from typing import Annotated

import typer

from evopinn.cli.shared import PROBLEM_HELP, JsonOption, QuietOption, stop_on_termination
from evopinn.errors import GenomeError, TrainingError
from evopinn.genome import DEFAULT_GENOME, Genome, PublishedModel, Space, find_published
from evopinn.training import DEFAULT_EPOCHS, TrainingOptions


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
            help='Network of any size, e.g. "layers=6 neurons=48 shortcuts=0-1,1-2 '
            f'activation=asinh(x)*cos(x)", or as a search prints it. Default: "{DEFAULT_GENOME}".'
        ),
    ] = None,
    epochs: Annotated[
        int, typer.Option(min=0, help="Maximum number of iterations (for lm: equivalent cost).")
    ] = DEFAULT_EPOCHS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the initial weights.")] = 0,
    optimizer: Annotated[
        str | None,
        typer.Option(
            help="lbfgs, adam, lm, or a chain: adam:500+lm. Default: lm; for --model the paper's lbfgs."
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate. Default: the optimiser's own.")] = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop after this time: 20s, 10m, 2h.")] = None,
    max_evaluations: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of loss evaluations.")
    ] = None,
    errors_every: Annotated[
        int, typer.Option(min=1, help="Epochs between measurements of the error.")
    ] = TrainingOptions.errors_every,
    precision: Annotated[str, typer.Option(help="float64 or float32.")] = TrainingOptions.precision,
    device: Annotated[str, typer.Option(help="Torch device: cpu, cuda, cuda:1.")] = TrainingOptions.device,
    engine: Annotated[
        str, typer.Option(help="How derivatives are computed: auto, autograd, taylor, fused.")
    ] = TrainingOptions.engine,
    threads: Annotated[int, typer.Option(min=1, help="CPU threads; more than one seldom helps.")] = 1,
    bounds: Annotated[
        str | None, typer.Option("--space", help="Refuse a network outside these bounds. Default: none.")
    ] = None,
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
) -> Genome | PublishedModel:
    """The network that the user names, or the default one.

    Args:
        family: The family of problems for which a published model is meant.
        model: A published model.
        genome: A genome as text.
        bounds: A search space in which it must lie.
    """
    if model is not None and genome is not None:
        raise GenomeError("both --model and --genome are given; choose one.")
    found = Genome.parse(genome or DEFAULT_GENOME) if model is None else find_published(model, family)
    if bounds is not None:
        Space.parse(bounds).check(found.genome if isinstance(found, PublishedModel) else found)
    return found
