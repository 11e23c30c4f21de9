"""The studies that there are, by the command that does them."""

from collections.abc import Mapping
from typing import Any

from evopinn.study.compare import ComparisonStudy
from evopinn.study.design import Comparison, Reproduction
from evopinn.study.reproduce import ReproductionStudy

AnyStudy = ComparisonStudy | ReproductionStudy


def study_of(kind: str, values: Mapping[str, Any], origin: str) -> AnyStudy:
    """A study from plain data.

    Args:
        kind: Which.
        values: Its design.
        origin: What the data are called in a message.
    """
    match kind:
        case "compare":
            return ComparisonStudy(Comparison.of(values, origin))
        case _:
            return ReproductionStudy(Reproduction.of(values, origin))
