"""The rounds of a run for charts and tables, merged into at most some hundreds of rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

from evopinn.run.record import RunRound, finite
from evopinn.run.wording import round_label, round_name
from evopinn.view.dashboard.cache import Quartiles

_MOST = 300
_SUMS = ("asked", "settled", "failed", "epochs", "seconds")


def merged(rounds: Sequence[RunRound]) -> list[RunRound]:
    """At most some hundreds of rounds; neighbours of one kind are merged if there are more."""
    width = max(1, -(-len(rounds) // _MOST))
    return [_together(group) for group in _grouped(rounds, width)]


def round_data(each: RunRound, quartiles: Mapping[int, Quartiles | None]) -> dict[str, Any]:
    """A round for charts, with quartiles only if it is not merged."""
    summary = each.summary
    low, median, high = quartiles.get(summary.generation) or (None, None, None)
    return asdict(summary) | {
        "label": round_label(summary.kind, summary.generation),
        "name": round_name(summary.kind, summary.generation),
        "searched": summary.kind in {"generation", "batch"},
        "best": finite(summary.best),
        "effort": each.epochs,
        "low": low,
        "median": median,
        "high": high,
    }


def _grouped(rounds: Sequence[RunRound], width: int) -> Iterator[Sequence[RunRound]]:
    for _, kind in groupby(rounds, key=lambda each: each.summary.kind):
        alike = list(kind)
        yield from (alike[start : start + width] for start in range(0, len(alike), width))


def _together(group: Sequence[RunRound]) -> RunRound:
    """Rounds merged: the last number, the sums and the best loss; epochs only if all agree."""
    summaries = [each.summary for each in group]
    sums = {name: sum(getattr(each, name) for each in summaries) for name in _SUMS}
    best = min(each.best for each in summaries)
    known = {each.epochs for each in group}
    return RunRound(replace(summaries[-1], best=best, **sums), known.pop() if len(known) == 1 else None)
