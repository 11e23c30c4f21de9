"""Tests of whether methods differ: Wilcoxon's signed-rank test on pairs, Holm's correction, effect sizes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.stats import rankdata, wilcoxon  # pyright: ignore[reportUnknownVariableType, reportMissingTypeStubs]

SIGNIFICANT = 0.05

_LEAST = float(np.finfo(float).tiny)
"""Stands for an error of zero, which has no logarithm."""

Pairing = tuple[object, ...]
"""What two numbers must share to be a pair, such as a case and a trial."""


@dataclass(frozen=True)
class Contrast:
    """Two methods compared on pairs of errors.

    Attributes:
        first: A method.
        second: Another.
        pairs: How many pairs there are.
        ratio: The geometric mean of first / second where neither failed; below 1 if the first is better.
        effect: Matched-pairs rank-biserial correlation, from -1 (the first is better in all pairs) to 1.
        p: Of Wilcoxon's signed-rank test, two-sided; NaN with fewer than two different pairs.
        p_holm: The same, corrected for the number of contrasts.
    """

    first: str
    second: str
    pairs: int
    ratio: float
    effect: float
    p: float
    p_holm: float = math.nan


def contrasts(errors: Mapping[str, Mapping[Pairing, float]]) -> list[Contrast]:
    """All pairs of methods compared.

    Args:
        errors: For each method, numbers under what makes pairs of them. A number that is not finite is a
            training that failed, and worse than any that did not. Pairs of which one is missing are left out.
    """
    found = [_contrast(first, second, errors) for first, second in combinations(errors, 2)]
    corrected = holm([each.p for each in found])
    return [replace(each, p_holm=p) for each, p in zip(found, corrected, strict=True)]


def holm(values: Sequence[float]) -> list[float]:
    """p-values corrected for their number by Holm's step-down rule; NaN stays NaN.

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    known = sorted((value, place) for place, value in enumerate(values) if not math.isnan(value))
    corrected = [math.nan] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * value))
        corrected[place] = largest
    return corrected


def rank_biserial(differences: Sequence[float]) -> float:
    """The share of ranks of positive differences minus that of negative ones; zeros are left out.

    Examples:
        >>> rank_biserial([1.0, 2.0, 3.0]), rank_biserial([-1.0, 1.0])
        (1.0, 0.0)
    """
    array = np.array([each for each in differences if each], dtype=float)
    if not len(array):
        return 0.0
    ranks = rankdata(np.abs(array))
    return float((ranks * np.sign(array)).sum() / ranks.sum())


def _contrast(one_name: str, other_name: str, errors: Mapping[str, Mapping[Pairing, float]]) -> Contrast:
    one, other = errors[one_name], errors[other_name]
    pairs = [(_logarithm(one[key]), _logarithm(other[key])) for key in one if key in other]
    # Infinite if one of them failed, nothing if both did.
    logs = [0.0 if first == second else first - second for first, second in pairs]
    sound = [log for log, pair in zip(logs, pairs, strict=True) if all(map(math.isfinite, pair))]
    ratio = math.exp(float(np.mean(sound))) if sound else math.nan
    different = len({each for each in logs if each}) > 1
    p = float(wilcoxon(logs).pvalue) if different else math.nan  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportAttributeAccessIssue]
    return Contrast(one_name, other_name, len(logs), ratio, rank_biserial(logs), p)


def _logarithm(value: float) -> float:
    return math.log(max(value, _LEAST)) if math.isfinite(value) else math.inf
