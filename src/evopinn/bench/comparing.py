"""All contestants on a case, in turn: the section `engines`."""

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from evopinn.bench.cases import Case
from evopinn.bench.contestants import contestants, is_installed
from evopinn.bench.evaluation import Evaluation
from evopinn.bench.isolation import CrashedError, Isolated
from evopinn.bench.report import Comparison, Timing

Report = Callable[[str], None]


def compare(cases: Sequence[Case], rounds: int, report: Report) -> list[Comparison]:
    """Time all contestants on all cases, interleaved, after one evaluation to warm up."""
    with ExitStack() as stack:
        names = [name for name in contestants() if is_installed(name)]
        running = {name: stack.enter_context(_Lane(name)) for name in names}
        for lane in running.values():
            lane.call("loaded")  # imports that are still going on would disturb the first to be timed
        rows: list[Comparison] = []
        for number, case in enumerate(cases, 1):
            report(f"engines {number}/{len(cases)}: {case.problem}, {case.label}")
            rows.append(Comparison(case, _timings(running, case, rounds)))
        return rows


class _Lane:
    """A contestant's process, replaced by a new one if it crashes."""

    def __init__(self, contestant: str) -> None:
        self.contestant = contestant
        self.process = Isolated(Evaluation, contestant)

    def __enter__(self) -> "_Lane":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close()

    def call(self, method: str, *arguments: object) -> float | None:
        """What the method returns, or nothing if the process crashed."""
        try:
            return self.process.call(method, *arguments)
        except CrashedError:
            self.process.close()
            self.process = Isolated(Evaluation, self.contestant)
            return None


def _timings(running: dict[str, _Lane], case: Case, rounds: int) -> dict[str, Timing]:
    setups = {name: lane.call("prepare", case) for name, lane in running.items()}
    ready = {name: setup for name, setup in setups.items() if setup is not None}
    seconds: dict[str, list[float]] = {name: [] for name in ready}
    for _ in range(rounds):
        for name in tuple(ready):
            took = running[name].call("seconds")
            if took is None:
                del ready[name]
            else:
                seconds[name].append(took)
    return {name: _timing(name, ready.get(name), seconds.get(name, [])) for name in contestants()}


def _timing(contestant: str, first: float | None, seconds: Sequence[float]) -> Timing:
    if not is_installed(contestant):
        return Timing(note="not installed")
    if first is None:
        return Timing(note="failed")
    median = statistics.median(seconds)
    return Timing(median, max(0.0, first - median))
