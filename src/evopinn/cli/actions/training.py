"""The actions of `problems` and `train`: show a problem, and train a network on it."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import torch
import typer

from evopinn import training
from evopinn.catalogue import find_problem
from evopinn.cli.shared import EXIT_FAILED, EXIT_INTERRUPTED, output, own_prints_to_stderr
from evopinn.errors import StoredModelError
from evopinn.genome import Genome, PublishedModel
from evopinn.problem import is_problem_file
from evopinn.view.terminal.console import note, notes_console
from evopinn.view.terminal.training_progress import training_progress
from evopinn.view.terminal.training_tables import problem_table, training_data, training_facts


def show_problem(name: str) -> None:
    """Print a problem: its loss terms, weights, points and derivatives."""
    output(problem_table(find_problem(name)), as_json=False)


def train_and_show(
    problem: str,
    network: Callable[[str], Genome | PublishedModel],
    *,
    optimizer: str | None,
    rate: float | None,
    threads: int,
    save_as: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Train a network, print the result and save the network.

    Args:
        problem: As the user names it.
        network: The network for a family of problems.
        optimizer: Name of the optimiser, or a chain; None for the usual one.
        rate: Its learning rate; None for its own.
        threads: CPU threads.
        save_as: Name of the saved network; None to keep nothing.
        as_json: Whether a script reads it.
        quiet: Whether to show no progress.
        settings: As `evopinn.training.train` takes them.
    """
    torch.set_num_threads(threads)
    with own_prints_to_stderr(as_json):
        stated = find_problem(problem)
    # A user's own problem may bear any name: only what comes from the catalogue has published models.
    family, _, case = ("", "", "") if is_problem_file(problem) else stated.name.partition(":")
    genome = network(family)
    if save_as is not None:
        training.check_writable(save_as)
    notes = notes_console()
    warned: list[str] = []

    def warn(sentence: str) -> None:
        warned.append(sentence)
        note(f"warning: {sentence}", notes)

    with own_prints_to_stderr(as_json), nullcontext() if quiet else training_progress(notes) as report:
        chosen = training.find_optimiser(optimizer or training.usual_optimiser(genome), rate)
        result = training.train(
            stated, genome, optimizer=chosen, on_progress=report, on_warning=warn, **settings
        )
    published = genome.errors if isinstance(genome, PublishedModel) and genome.problem == family else ()
    beside = [error for error in published if error.case == case]
    unsaved: StoredModelError | None = None
    if save_as is not None:
        try:
            training.save(result, save_as)
        except StoredModelError as error:  # told after the result, which must not be lost as well
            unsaved = error
    facts = training_facts(result, beside).rich()
    output(training_data(result) | {"warnings": warned} if as_json else facts, as_json)
    if unsaved is not None:
        raise unsaved
    if save_as is not None:
        with suppress(OSError):  # it is saved, whether or not anybody hears of it
            notes.print(f"saved as {save_as}.safetensors and {save_as}.json")
    if str(result.status) == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.status.failed:
        raise typer.Exit(EXIT_FAILED)
