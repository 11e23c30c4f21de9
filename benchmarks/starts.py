"""Tables of what starts do, from trainings that `benchmarks/trainings.py` recorded.

    python benchmarks/trainings.py experiments/starts/catalogue.toml
    python benchmarks/starts.py gains docs/results/starts-catalogue.csv
    python benchmarks/trainings.py experiments/starts/repeatability.toml
    python benchmarks/starts.py repeatability docs/results/starts-repeatability.csv
    python benchmarks/starts.py figure docs/images/starts.png

`gains` compares the errors from each start with those from the paper's, with the same network, problem and
seeds, in geometric means. `repeatability` tells how much of the variance of the losses lies between networks,
rather than between the seeds of one. `figure` draws how widely pre-activations and their derivatives are
spread, layer by layer, for some activations on the Klein-Gordon equation.
"""

import argparse
import importlib.util
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import torch

import evopinn as ep
from evopinn.genome import STARTS, Genome
from evopinn.network import Layout, pre_activations
from evopinn.network.starts import sample_inputs

DRAWN = ("sin(x)", "tanh(x)", "swish(x)")

_FAILED = 1e3
"""The error, or loss, of a training that came to none."""

_spec = importlib.util.spec_from_file_location("trainings", Path(__file__).with_name("trainings.py"))
trainings = importlib.util.module_from_spec(_spec)
sys.modules["trainings"] = trainings
_spec.loader.exec_module(trainings)
Row = trainings.Row


def parted(row: Row) -> tuple[str, str]:
    """The genome without its start, and the start."""
    network, _, start = row.genome.partition(" start=")
    return network, start or "paper"


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return statistics.geometric_mean(min(each, _FAILED) if each > 0 else _FAILED for each in values)


def gains(rows: Sequence[Row]) -> Iterator[str]:
    """How many times smaller the errors become, per problem and per activation function."""
    errors = defaultdict[tuple[str, str, str], list[float]](list)
    for row in rows:
        errors[row.case, row.name, parted(row)[1]].append(row.error)
    means = {key: mean(values) for key, values in errors.items()}
    cases = list(dict.fromkeys(case for case, _, _ in means))
    names = list(dict.fromkeys(name for _, name, _ in means))
    starts = list(dict.fromkeys(start for _, _, start in means))
    yield f"| problem | {' | '.join(f'{name}: paper, best start' for name in names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for case in cases:
        cells = []
        for name in names:
            best = min(starts, key=lambda start: means[case, name, start])
            paper, least = means[case, name, "paper"], means[case, name, best]
            cells.append(f"{paper:.1e}" if best == "paper" else f"{paper:.1e}, {best} {least:.1e}")
        yield f"| {case} | {' | '.join(cells)} |"
    yield ""
    yield f"| gain over paper | {' | '.join(names)} | all | least of a problem | greatest |"
    yield "|---" * (len(names) + 4) + "|"
    for start in starts:
        ratio = {
            (case, name): means[case, name, "paper"] / means[case, name, start]
            for case in cases
            for name in names
        }
        by_name = [mean([ratio[case, name] for case in cases]) for name in names]
        by_case = {case: mean([ratio[case, name] for name in names]) for case in cases}
        least, most = min(by_case, key=by_case.__getitem__), max(by_case, key=by_case.__getitem__)
        yield (
            f"| {start} | {' | '.join(f'{each:.3g}' for each in by_name)} | {mean(list(ratio.values())):.3g} "
            f"| {by_case[least]:.2g} ({least}) | {by_case[most]:.2g} ({most}) |"
        )


def repeatability(rows: Sequence[Row]) -> Iterator[str]:
    """The share of the variance of log10 loss between networks: of all, and of the better half."""
    losses = defaultdict[tuple[str, str], dict[str, list[float]]](lambda: defaultdict(list))
    for row in rows:
        network, start = parted(row)
        finite = math.isfinite(row.loss) and row.loss > 0
        losses[row.case, start][network].append(math.log10(min(row.loss, _FAILED) if finite else _FAILED))
    yield "| problem | start | networks | between networks | better half | deviation in it | mean |"
    yield "|---|---|---|---|---|---|---|"
    for (case, start), groups in losses.items():
        ordered = sorted(groups.values(), key=statistics.mean)
        better = ordered[: len(ordered) // 2]
        within = math.sqrt(statistics.mean(statistics.variance(group) for group in better))
        cells = (f"{share(ordered):.0%}", f"{share(better):.0%}", f"{within:.2f}")
        middle = statistics.mean(map(statistics.mean, ordered))
        yield f"| {case} | {start} | {len(ordered)} | {' | '.join(cells)} | {middle:.1f} |"


def share(groups: Sequence[Sequence[float]]) -> float:
    """The part of the variance that lies between groups of equal size, estimated as in a one-way analysis."""
    size = len(groups[0])
    within = statistics.mean(statistics.variance(group) for group in groups)
    between = max(0.0, statistics.variance(map(statistics.mean, groups)) - within / size)
    return between / (between + within)


def spreads(genome: Genome, problem: ep.Problem, theta: torch.Tensor) -> list[list[float]]:
    """Per layer the deviation of its pre-activations, and the sizes of their first two derivatives by x."""
    tensors = Layout.of(genome, problem).unpack(theta)
    points = sample_inputs(problem)
    along = torch.zeros_like(points)
    along[:, 0] = 1

    def values(at: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(pre_activations(genome, tensors, at))

    def slopes(at: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.func.jvp(values, (at,), (along,))[1]

    bends = torch.func.jvp(slopes, (points,), (along,))[1]
    return [
        [
            float((each - each.mean(0) if each is z else each).square().mean().sqrt())
            for each in (z, slope, bend)
        ]
        for z, slope, bend in zip(values(points), slopes(points), bends, strict=True)
    ]


def figure(file: Path) -> None:
    """Draw the spreads for the starts, means over ten seeds."""
    problem = ep.find_problem("klein-gordon")
    names = ("z, without its mean", "∂z/∂x", "∂²z/∂x²")
    canvas, axes = plt.subplots(
        3, len(DRAWN), sharex=True, sharey="row", figsize=(8, 6), layout="constrained"
    )
    for column, activation in zip(axes.T, DRAWN, strict=True):
        for start in STARTS:
            genome = Genome.parse(f"layers=5 neurons=14 activation={activation} start={start}")
            sizes = [
                spreads(
                    genome, problem, ep.train(problem, genome, epochs=0, seed=seed, on_warning=None).theta
                )
                for seed in range(10)
            ]
            for number, axis in enumerate(column):
                # The first layer is linear in the coordinates: it has no second derivative to draw.
                layers = range(2 if number == 2 else 1, 6)
                means = [mean([each[layer - 1][number] for each in sizes]) for layer in layers]
                axis.semilogy(layers, means, marker="o", label=start)
        column[0].set_title(activation)
        column[-1].set_xticks(range(1, 6), ["1", "2", "3", "4", "u"])
        column[-1].set_xlabel("layer")
    for name, axis in zip(names, axes[:, 0], strict=True):
        axis.set_ylabel(name)
    axes[0, 0].legend()
    canvas.savefig(file, dpi=110)


TABLES = {"gains": gains, "repeatability": repeatability}


def main() -> None:
    """Print a table, or draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*TABLES, "figure"])
    parser.add_argument(
        "file", type=Path, help="a CSV file of benchmarks/trainings.py, or the picture to write"
    )
    options = parser.parse_args()
    if options.what == "figure":
        figure(options.file)
    else:
        sys.stdout.write("\n".join(TABLES[options.what](trainings.read(options.file))) + "\n")


if __name__ == "__main__":
    main()
