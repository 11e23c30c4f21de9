"""Problems in other units of measurement: how much larger the error becomes when nothing else changes.

    python benchmarks/units.py --seeds 5
    python benchmarks/units.py --seeds 1 --epochs 30 --coarseness 3 --problems heat --factors 1e-3 1e6

Heat, Klein-Gordon, Kovasznay and Lamé are stated without weights, with lengths, times and fields multiplied
by a factor, each alone and all together. The table has, for each problem and change of units, the geometric
mean over the seeds of the error divided by that of the original units with the same seed, and the largest of
these ratios either way.
"""

import argparse
import inspect
import math
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import evopinn as ep
from evopinn.problem import Domain, SpaceTime
from evopinn.problem.fields import FieldValues, as_tensor

PROBLEMS = {
    "heat": "layers=4 neurons=14 activation=tanh(x)",
    "klein-gordon": "layers=5 neurons=14 activation=sin(x)",
    "kovasznay": "layers=4 neurons=16 activation=sin(x)",
    "lame": "layers=4 neurons=14 activation=tanh(x)",
}
FACTORS = (1e-6, 1e-3, 1e3, 1e6)


@dataclass(frozen=True)
class Units:
    """The numbers by which lengths, times and fields are multiplied."""

    lengths: float = 1.0
    times: float = 1.0
    fields: float = 1.0


def changes(factor: float, timed: bool) -> Iterator[tuple[str, Units]]:
    """Each alone, and all together."""
    yield "lengths", Units(lengths=factor)
    if timed:
        yield "times", Units(times=factor)
    yield "fields", Units(fields=factor)
    yield "all", Units(factor, factor, factor)


def in_units(problem: ep.Problem, units: Units) -> ep.Problem:
    """A problem without weights, as it is stated in other units."""
    axes = problem.axes
    timed = problem.domain.time is not None
    factors = [units.lengths] * (len(axes) - timed) + [units.times] * timed

    def restated(function: Callable, size: float) -> Callable:
        def in_original(**given):
            values = {}
            for name, value in given.items():
                if name in axes:
                    values[name] = value / factors[axes.index(name)]
                elif name in problem.fields:
                    values[name] = FieldValues(name, axes, partial(original, value))
                else:  # a component of the normal
                    values[name] = value
            found = function(**values)
            listed = found if isinstance(found, list | tuple) else [found]
            scaled = tuple(size * as_tensor(each) for each in listed)
            return scaled if isinstance(found, list | tuple) else scaled[0]

        def original(value, index):
            letters = "_".join(name for name, order in zip(axes, index, strict=True) for _ in range(order))
            factor = math.prod(f**order for f, order in zip(factors, index, strict=True)) / units.fields
            return factor * (getattr(value, letters) if letters else as_tensor(value))

        in_original.__signature__ = inspect.signature(function)
        return in_original

    return replace(
        problem,
        domain=resized(problem.domain, units),
        # As if each was multiplied out: the size of the residual is that of its highest derivative.
        residual=restated(problem.residual, units.fields / units.lengths**2),
        conditions=[
            replace(each, function=restated(each.function, units.fields), weight=None)
            for each in problem.conditions
        ],
        solution=restated(problem.solution, units.fields),
        scale=True,
    )


def resized(domain: Domain, units: Units) -> Domain:
    """A domain in other units."""
    if isinstance(domain, SpaceTime):
        time = ep.Time(domain.time.start * units.times, domain.time.end * units.times)
        return resized(domain.space, units) * time
    if isinstance(domain, ep.Ring):
        return ep.Ring(inner=domain.inner * units.lengths, outer=domain.outer * units.lengths)
    spans = [tuple(units.lengths * float(end) for end in span) for span in domain.bounds]
    return ep.Interval(*spans[0]) if len(spans) == 1 else ep.Rectangle(*spans)


def errors(problem: ep.Problem, genome: str, options: argparse.Namespace) -> list[float]:
    """The largest error of a field after a training, per seed."""
    results = [
        ep.train(problem, genome, optimizer="lm", epochs=options.epochs, seed=seed)
        for seed in range(options.seeds)
    ]
    return [max(result.errors.values()) for result in results]


def main() -> None:
    """Train in all units and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--factors", nargs="+", type=float, default=FACTORS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--coarseness", type=float, default=2.0, help="as for Problem.coarsened")
    options = parser.parse_args()
    _write("| problem | changed | factor | error | ratio, geometric mean | largest either way |")
    _write("|---|---|---|---|---|---|")
    for name in options.problems:
        problem = ep.find_problem(name).coarsened(options.coarseness)
        usual = errors(in_units(problem, Units()), PROBLEMS[name], options)
        _write(f"| {name} | nothing | | {statistics.geometric_mean(usual):.1e} | | |")
        for factor in options.factors:
            for what, units in changes(factor, timed=problem.domain.time is not None):
                found = errors(in_units(problem, units), PROBLEMS[name], options)
                ratios = [ours / theirs for ours, theirs in zip(found, usual, strict=True)]
                worst = max(max(ratio, 1 / ratio) for ratio in ratios)
                _write(
                    f"| {name} | {what} | {factor:g} | {statistics.geometric_mean(found):.1e} "
                    f"| {statistics.geometric_mean(ratios):.3g} | {worst:.3g} |"
                )


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
