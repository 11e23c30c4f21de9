"""The studies that there are, by the command that does them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from evopinn.study.compare import ComparisonStudy
from evopinn.study.design import Comparison, Reproduction, Sensitivity
from evopinn.study.reproduce import ReproductionStudy
from evopinn.study.sensitivity import SensitivityStudy

AnyStudy = ComparisonStudy | ReproductionStudy | SensitivityStudy

KINDS: Mapping[str, Callable[[Mapping[str, Any], str], AnyStudy]] = MappingProxyType(
    {
        "sensitivity": lambda values, origin: SensitivityStudy(Sensitivity.of(values, origin)),
        "compare": lambda values, origin: ComparisonStudy(Comparison.of(values, origin)),
        "reproduce": lambda values, origin: ReproductionStudy(Reproduction.of(values, origin)),
    }
)
"""What makes each of them from plain data, which a message calls by a name."""


def study_of(kind: str, values: Mapping[str, Any], origin: str) -> AnyStudy:
    """A study from plain data.

    Args:
        kind: Which.
        values: Its design.
        origin: What the data are called in a message.
    """
    return KINDS[kind](values, origin)
