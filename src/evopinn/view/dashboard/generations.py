"""Generations as a page shows them: however many there are, some hundreds of rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from evopinn.run.listed import GenerationSummary
from evopinn.run.summary import finite
from evopinn.view.dashboard.memory import Quartiles

_MOST = 300


def generation_data(
    group: Sequence[GenerationSummary],
    efforts: Mapping[int, int],
    quartiles: Mapping[int, Quartiles | None],
) -> dict[str, Any]:
    """A generation; of several that are shown as one, the last number, sums and the best.

    Quartiles are those of one generation only, and so are epochs unless all have the same.
    """
    names = ("asked", "settled", "failed", "epochs", "seconds")
    last = group[-1].generation
    low, middle, high = (quartiles.get(last) if len(group) == 1 else None) or (None, None, None)
    known = {efforts.get(each.generation) for each in group}
    return asdict(group[-1]) | {
        **{name: sum(getattr(each, name) for each in group) for name in names},
        "best": finite(min(each.best for each in group)),
        "effort": known.pop() if len(known) == 1 else None,
        "low": low,
        "median": middle,
        "high": high,
    }


def grouped(generations: Sequence[GenerationSummary]) -> Iterator[Sequence[GenerationSummary]]:
    """At most some hundreds: of many generations, neighbours of one kind together."""
    width = max(1, -(-len(generations) // _MOST))
    for _, kind in groupby(generations, key=lambda each: each.kind):
        alike = list(kind)
        yield from (alike[start : start + width] for start in range(0, len(alike), width))
