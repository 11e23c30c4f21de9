"""Means over several trainings of one network."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import Literal, cast

from evopinn.checks import shown
from evopinn.errors import SearchError

Mean = Literal["arithmetic", "geometric"]


def _geometric(values: Sequence[float]) -> float:
    if math.inf in values:
        return math.inf
    return 0.0 if 0.0 in values else math.exp(fmean(map(math.log, values)))


_MEANS: Mapping[str, Callable[[Sequence[float]], float]] = MappingProxyType(
    {"arithmetic": lambda values: sum(values) / len(values), "geometric": _geometric}
)


def mean_of(values: Sequence[float], mean: Mean) -> float:
    """The mean of losses or errors: numbers from 0 on, infinite where a training failed.

    The arithmetic mean, which is the paper's, is that of the worst of them where they differ by orders of
    magnitude, as they do with a method of second order: one bad start in four outweighs three good ones. The
    geometric mean weighs orders of magnitude. A failure is not outweighed by anything in either.

    Examples:
        >>> losses = (1e-11, 1e-11, 1e-11, 1e-6)
        >>> [f"{mean_of(losses, mean):.1e}" for mean in ("arithmetic", "geometric")]
        ['2.5e-07', '1.8e-10']
    """
    return _MEANS[mean](values)


def check_mean(mean: object) -> Mean:
    """The mean of this name; refuse any other value."""
    if not isinstance(mean, str) or mean not in _MEANS:
        raise SearchError(f"mean is {shown(mean)}; it must be {' or '.join(_MEANS)}.")
    return cast(Mean, mean)
