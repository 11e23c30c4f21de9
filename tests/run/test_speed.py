"""How fast trainings are, from short ones."""

from collections.abc import Iterable

import pytest

from evopinn.errors import RunError
from evopinn.run.budget_plan import measured
from evopinn.run.config import SMALL
from evopinn.workers.evaluation import Probe, ProbeTiming
from evopinn.workers.pool import Outcome

SPACE = SMALL


class Probed:
    """In the place of workers: probes take as long as a table says, one after the other."""

    def __init__(self, timings: Iterable[ProbeTiming]) -> None:
        self._timings = list(timings)
        self._waiting: list[int] = []

    @property
    def outstanding(self) -> int:
        return len(self._waiting)

    def submit(self, number: int, work: object, _seconds: float) -> None:
        assert isinstance(work, Probe)
        self._waiting.append(number)

    def wait(self, timeout: float) -> list[Outcome]:
        del timeout
        number = self._waiting.pop(0)
        timing = self._timings[number % len(self._timings)]
        return [Outcome(number, 1, 1, 0.1, value=timing)]


def pace_of(*timings: ProbeTiming):
    return measured(Probed(timings), 2, SPACE, lambda _: 1.0, seed=0, stopped=lambda: False)


@pytest.mark.parametrize("epochs", [(10, 10), (50, 10), (10, 50)])
def test_networks_count_alike_however_long_their_probes_are(epochs):
    """A probe has the more epochs the faster they are; so it must not count the more for it."""
    quick, slow = epochs
    pace = pace_of(ProbeTiming(0.2, quick, 0.010 * quick), ProbeTiming(0.4, slow, 0.050 * slow))
    assert pace.seconds_per_epoch == pytest.approx(0.030)
    assert pace.seconds_per_training == pytest.approx(0.3)


def test_what_has_no_finite_loss_counts_for_the_start_alone():
    pace = pace_of(ProbeTiming(0.2, 10, 0.1), ProbeTiming(0.4, 0, 0.0))
    assert pace.seconds_per_epoch == pytest.approx(0.010)
    assert pace.seconds_per_training == pytest.approx(0.3)
    with pytest.raises(RunError, match=r"none of \d+ networks .*`evopinn problems`"):
        pace_of(ProbeTiming(0.2, 0, 0.0))
