"""The command line: arguments in, exit code out; the only place that prints."""

import importlib.metadata
import json
import os
import signal
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evopinn.errors import EvopinnError, GenomeError, StoredModelError, TrainingError
from evopinn.view.console import notes_console, output_console

if TYPE_CHECKING:
    from evopinn.genome import Genome, PublishedModel

DEFAULT_GENOME = "layers=5 neurons=32 shortcuts=none activation=tanh(x)"

EXIT_FAILED, EXIT_MISTAKE, EXIT_INTERRUPTED = 1, 2, 130

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

PROBLEM_HELP = "A name of the catalogue (klein-gordon, klein-gordon:II), my_problem.py or my_problem.py:name."
SPACE_HELP = 'Bounds of the search space, e.g. "layers=2-12 neurons=8-64:4"; the paper\'s by default.'

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
SpaceOption = Annotated[str | None, typer.Option("--space", help=SPACE_HELP)]


def main() -> None:
    """Run the command line; a user's mistake is told in a sentence, without a traceback."""
    try:
        app()
    except EvopinnError as error:
        notes_console().print(f"error: {error}")
        sys.exit(EXIT_MISTAKE)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        sys.exit(0)
    except OSError as error:
        sys.stderr.write(f"error: the output could not be written: {error.strerror}.\n")
        sys.exit(EXIT_FAILED)


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Give it a PDE, get back the physics-informed neural network that solves it best."""
    if version:
        sys.stdout.write(f"evopinn {importlib.metadata.version('evopinn')}\n")
        raise typer.Exit


@app.command()
def problems(
    name: Annotated[str | None, typer.Argument(help=PROBLEM_HELP)] = None,
) -> None:
    """List the catalogue, or show and check one problem: its terms, weights, points and derivatives."""
    from evopinn.problems import catalogue, find_problem
    from evopinn.view.tables import problem_table, problems_table

    _output(problems_table(catalogue()) if name is None else problem_table(find_problem(name)), as_json=False)


@app.command()
def models(
    problem: Annotated[
        str | None, typer.Argument(help="klein-gordon, burgers or lame; all if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the 45 published models with their published errors."""
    from evopinn.genome import published_models
    from evopinn.view.tables import models_data, models_table

    found = published_models(problem)
    _output(models_data(found) if as_json else models_table(found), as_json)


@app.command()
def space(bounds: SpaceOption = None, as_json: JsonOption = False) -> None:
    """Print the size of the search space."""
    from evopinn.genome import Space
    from evopinn.view.tables import space_data, space_table

    given = Space.parse(bounds) if bounds else Space()
    _output(space_data(given) if as_json else space_table(given), as_json)


@app.command()
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
    epochs: Annotated[int, typer.Option(min=0, help="Iterations of the optimiser, at most.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the initial weights.")] = 0,
    optimizer: Annotated[str, typer.Option(help="lbfgs or adam.")] = "lbfgs",
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
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
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

    signal.signal(signal.SIGTERM, _as_interrupt)
    if threads > (os.cpu_count() or 1):
        raise TrainingError(f"--threads {threads}: this machine has {os.cpu_count()} cores.")
    torch.set_num_threads(threads)
    stated = find_problem(problem)
    # A user's own problem may bear any name: only what comes from the catalogue has published models.
    family, _, case = ("", "", "") if is_problem_file(problem) else stated.name.partition(":")
    network, published = _network(family, model, genome, bounds)
    if save is not None:
        check_writable(save)
    notes = notes_console()
    with nullcontext() if quiet else training_progress(notes) as report:
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
    _output(training_data(result) if as_json else training_table(result, beside), as_json)
    if unsaved is not None:
        raise unsaved
    if save is not None:
        with suppress(OSError):  # it is saved, whether or not anybody hears of it
            notes.print(f"saved as {save}.safetensors and {save}.json")
    if str(result.status) == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)
    if result.status.failed:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Two small networks, few points: a try.")] = False,
    only: Annotated[str | None, typer.Option(help="One section: engines, scaling, precision, lbfgs.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Evaluations to take the median of.")] = 5,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures as JSON too.")] = None,
) -> None:
    """Time the engines beside peers, on one core."""
    from evopinn.bench import FULL, QUICK, run_bench
    from evopinn.view.bench import bench_tables

    signal.signal(signal.SIGTERM, _as_interrupt)
    if json_file is not None:  # what cannot be written is better known before the measurements
        with json_file.open("a"):
            pass
    report = run_bench(QUICK if quick else FULL, rounds, notes_console().print, only)
    if json_file is not None:
        json_file.write_text(json.dumps(report.data(), indent=2, allow_nan=False) + "\n")
    _output(bench_tables(report), as_json=False)


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
            return Genome.parse(DEFAULT_GENOME if genome is None else genome, space), None
        model = "paper:evo-dpste-1"
    found = find_published(model, family)
    space.check(found.genome)
    return found.genome, found if found.problem == family else None


def _output(content: Any, as_json: bool) -> None:
    """Print a table for a person, or JSON for a script."""
    if as_json:
        sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")
    else:
        output_console().print(content)


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Let a request to end be treated as Ctrl-C: the result so far is kept."""
    raise KeyboardInterrupt
