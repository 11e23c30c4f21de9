"""The ranking of choices by how much they matter for the errors of trainings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import kruskal, norm  # pyright: ignore[reportUnknownVariableType, reportMissingTypeStubs]

from evopinn.lab.studies.statistics import holm
from evopinn.store.records import Entry

_SMALLEST = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class RankedObjective:
    """How much an objective matters, in decimal logarithms of its trainings' largest errors.

    Where no solution is known, these are logarithms of losses. A failed training counts as the worst one of
    the case that did not fail.

    Attributes:
        objective: Its name.
        effect: Distance from the least to the largest mean over its values, in decades.
        best: The value of the least mean.
        worst: The value of the largest.
        share: Of this effect in the sum of all objectives' effects.
        noise: The effect to expect if the values did not matter and means differed by chance alone; NaN with
            one training of each.
        p: Of Kruskal and Wallis' test that all values are alike; NaN where there is nothing to test.
        p_holm: The same corrected for the number of objectives.
        failed: Trainings that failed.
        case: The problem that was trained on.
    """

    objective: str
    effect: float
    best: str
    worst: str
    share: float
    noise: float = math.nan
    p: float = math.nan
    p_holm: float = math.nan
    failed: int = 0
    case: str = ""


def ranking(groups: Mapping[str, Mapping[str, Sequence[float]]], deviation: float) -> list[RankedObjective]:
    """The objectives, the one that matters most first.

    Args:
        groups: Responses by objective and value.
        deviation: Standard deviation of responses that differ in their seeds alone.
    """
    rows = [_ranked(objective, values, deviation) for objective, values in groups.items()]
    whole = sum(row.effect for row in rows)
    rows = [
        replace(row, share=row.effect / whole if whole else math.nan, p_holm=p)
        for row, p in zip(rows, holm([row.p for row in rows]), strict=True)
    ]
    return sorted(rows, key=lambda row: -row.effect)


def responses(entries: Sequence[Entry]) -> list[float]:
    """Logarithms to base 10 of the largest errors, or of losses where no solution is known.

    A failed training gets the worst response of the others: its own is not known, and leaving it out would
    make a choice look good that mostly fails. NaN if all failed.
    """
    found = logarithms(entries)
    worst = max((each for each in found if not math.isnan(each)), default=math.nan)
    return [worst if math.isnan(each) else each for each in found]


def logarithms(entries: Sequence[Entry]) -> list[float]:
    """See `responses`; NaN where a training failed."""
    by_error = any(entry.errors for entry in entries)
    numbers = [entry.error if by_error else entry.loss for entry in entries]
    return [
        math.log10(max(number, _SMALLEST))
        if number is not None and math.isfinite(number) and math.isfinite(entry.loss)
        else math.nan
        for number, entry in zip(numbers, entries, strict=True)
    ]


def expected_range(count: int) -> float:
    """The mean of the range of so many standard normal numbers: ∫ 1 - Φ(z)^n - (1 - Φ(z))^n dz.

    Examples:
        >>> round(expected_range(2), 4), round(expected_range(5), 4)
        (1.1284, 2.3259)
    """
    z = np.linspace(-9, 9, 4001)
    below = np.asarray(norm.cdf(z), dtype=float)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    return float(np.trapezoid(1 - below**count - (1 - below) ** count, z))


def _ranked(objective: str, values: Mapping[str, Sequence[float]], deviation: float) -> RankedObjective:
    means = {value: float(np.mean(own)) for value, own in values.items()}
    best, worst = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    each = len(values) / sum(1 / len(own) for own in values.values())  # the harmonic mean of their numbers
    return RankedObjective(
        objective,
        means[worst] - means[best],
        best,
        worst,
        math.nan,
        noise=expected_range(len(values)) * deviation / math.sqrt(each),
        p=_kruskal(list(values.values())),
    )


def _kruskal(groups: Sequence[Sequence[float]]) -> float:
    everything = [number for group in groups for number in group]
    if len(groups) < 2 or len(everything) == len(groups) or len(set(everything)) < 2:
        return math.nan
    if not all(map(math.isfinite, everything)):
        return math.nan
    return float(kruskal(*groups).pvalue)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportAttributeAccessIssue]
