"""Trainings of networks on cases for equal time or cost, with several seeds each, and tables of their errors.

    python benchmarks/trainings.py experiments/second-order/cases.toml
    python benchmarks/trainings.py experiments/second-order/cases.toml --table

The file lists networks and the cases to train each on, and may list starts, each of which every network is
trained from. Every training is a row of a CSV file under docs/results, named after the experiment. Existing
rows are not trained again, so run the same command to resume an interrupted experiment. Time is a core's
processor time, so other programs on the machine matter little; with `epochs` the trainings have equal cost.
"""

import argparse
import csv
import math
import statistics
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path

import torch

import evopinn as ep
from evopinn.training import Progress

RESULTS = Path(__file__).parent.parent / "docs" / "results"


MANY = 10**7


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training: its network, case, seed, optimiser and limits."""

    case: str
    name: str
    genome: str
    seed: int
    optimizer: str
    limit: float
    epochs: int = MANY
    coarseness: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Work(Training):
    """A training to do, and the error to reach."""

    target: float


@dataclass(frozen=True, kw_only=True)
class Row(Training):
    """The result of a training; `reached` is when the worst field's error first fell below the target."""

    seconds: float
    steps: int
    parameters: int
    loss: float
    error: float
    reached: float
    held_out: float


def works(experiment: dict) -> Iterator[Work]:
    """The trainings of an experiment: all networks with one seed before the next seed."""
    for seed in experiment["seeds"]:
        for network in experiment["networks"]:
            cases = network.get("cases", experiment.get("cases"))
            for case, start in product(cases, experiment.get("starts", [""])):
                yield Work(
                    case=case,
                    name=network["name"],
                    genome=f"{network['genome']} start={start}" if start else network["genome"],
                    seed=seed,
                    optimizer=network.get("optimizer", experiment.get("optimizer", "lm")),
                    limit=float(network.get("seconds", experiment.get("seconds", math.inf))),
                    epochs=experiment.get("epochs", MANY),
                    coarseness=float(experiment.get("coarseness", 1)),
                    target=float(experiment.get("targets", {}).get(case, 0)),
                )


def trained(work: Work) -> Row:
    """The result of one training, timed by the processor time of this process."""
    torch.set_num_threads(1)
    reached = math.inf

    def look(progress: Progress) -> None:
        nonlocal reached
        worst = max(progress.errors.values(), default=math.inf)
        reached = min(reached, progress.seconds) if worst <= work.target else reached

    result = ep.train(
        ep.find_problem(work.case).coarsened(work.coarseness),
        work.genome,
        epochs=work.epochs,
        seed=work.seed,
        optimizer=work.optimizer,
        time_limit=work.limit if math.isfinite(work.limit) else None,
        errors_every=1 if work.target else MANY,
        on_progress=look,
        on_warning=None,
        clock=time.process_time,
    )
    sizes = result.residuals
    return Row(
        **{field.name: getattr(work, field.name) for field in fields(Training)},
        seconds=round(result.seconds, 1),
        steps=len(result.history.losses) - 1,
        parameters=result.parameters,
        loss=result.loss,
        error=max(result.errors.values(), default=math.nan),
        reached=round(reached, 1),
        held_out=round(sizes["held_out"] / sizes["training"], 2) if "held_out" in sizes else math.nan,
    )


def read(file: Path) -> list[Row]:
    """The rows of a results file."""
    if not file.exists():
        return []
    with file.open(newline="") as text:
        kinds = {field.name: field.type for field in fields(Row)}
        return [Row(**{key: kinds[key](value) for key, value in row.items()}) for row in csv.DictReader(text)]


def identity(of: Training) -> tuple[object, ...]:
    """The values that identify a training."""
    return (of.case, of.genome, of.seed, of.optimizer, of.limit, of.epochs, of.coarseness)


def run(experiment: dict, file: Path, workers: int) -> None:
    """Run the missing trainings, and write each row as soon as it is there."""
    there = {identity(row) for row in read(file)}
    missing = [work for work in works(experiment) if identity(work) not in there]
    new = not file.exists()
    with file.open("a", newline="") as text, ProcessPoolExecutor(workers) as pool:
        writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
        if new:
            writer.writeheader()
        for future in as_completed([pool.submit(trained, work) for work in missing]):
            row = future.result()
            writer.writerow(asdict(row))
            text.flush()
            sys.stdout.write(
                f"{row.case} {row.name} seed {row.seed}: loss {row.loss:.1e} error {row.error:.1e}\n"
            )
            sys.stdout.flush()


def table(rows: Sequence[Row]) -> str:
    """A Markdown table of networks by case, the most accurate first."""
    groups = defaultdict[tuple[str, str, float], list[Row]](list)
    for row in rows:
        groups[row.case, row.name, row.limit].append(row)
    lines = [
        "| case | network | parameters | seconds | mean error | errors | target after, s | loss | held out |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for (case, name, limit), group in sorted(
        groups.items(), key=lambda item: (item[0][0], mean_error(item[1]))
    ):
        errors = ", ".join(f"{row.error:.1e}" for row in group)
        reached = statistics.median(row.reached for row in group)
        lines.append(
            f"| {case} | {name} | {group[0].parameters:,} | {limit:g} | {mean_error(group):.1e} "
            f"| {errors} | {reached:g} | {statistics.mean(row.loss for row in group):.1e} "
            f"| {statistics.median(row.held_out for row in group):.3g} |"
        )
    return "\n".join(lines)


def mean_error(rows: Sequence[Row]) -> float:
    """Mean over the seeds; infinite if one failed."""
    errors = [row.error for row in rows]
    return statistics.mean(errors) if all(map(math.isfinite, errors)) else math.inf


def main() -> None:
    """Run an experiment, or print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", type=Path, help="a TOML file")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS, help="directory of the CSV file")
    parser.add_argument("--table", action="store_true", help="print the existing rows without training")
    arguments = parser.parse_args()
    experiment = tomllib.loads(arguments.experiment.read_text())
    arguments.results.mkdir(exist_ok=True)
    file = arguments.results / f"{arguments.experiment.parent.name}-{arguments.experiment.stem}.csv"
    if not arguments.table:
        run(experiment, file, arguments.workers)
    sys.stdout.write(table(read(file)) + "\n")


if __name__ == "__main__":
    main()
