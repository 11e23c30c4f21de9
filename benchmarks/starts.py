"""Tables of what starts do, from trainings that `benchmarks/trainings.py` recorded.

    python benchmarks/trainings.py experiments/starts/catalogue.toml
    python benchmarks/starts.py gains docs/results/starts-catalogue.csv
    python benchmarks/trainings.py experiments/starts/repeatability.toml
    python benchmarks/starts.py repeatability docs/results/starts-repeatability.csv

`gains` compares the errors from each start with those from the paper's, with the same network, problem and
seeds, in geometric means. `repeatability` tells how much of the variance of the losses lies between networks,
rather than between the seeds of one.
"""

import argparse
import importlib.util
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

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


TABLES = {"gains": gains, "repeatability": repeatability}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("file", type=Path, help="a CSV file of benchmarks/trainings.py")
    options = parser.parse_args()
    sys.stdout.write("\n".join(TABLES[options.table](trainings.read(options.file))) + "\n")


if __name__ == "__main__":
    main()
