"""A run as small charts for the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from evopinn.run.planned_rounds import ScheduledRound
from evopinn.run.record import RunRecord
from evopinn.run.wording import round_label
from evopinn.store.reader import Reader
from evopinn.view.numbers import LEAST_FOR_QUARTILES
from evopinn.view.terminal.charts import LEAST_WIDTH, MOST_WIDTH, Stair, bars, spread, staircase
from evopinn.view.terminal.glyphs import ASCII, BLOCKS

_HEIGHT = 9
_MOST_STEPS = 20


@dataclass(frozen=True)
class Chart:
    """A chart with its title."""

    title: str
    lines: Sequence[str]


def run_charts(run: RunRecord, width: int, *, ascii_only: bool = False) -> list[Chart]:
    """What there is to draw of a run: losses by generation, the schedule, failures by kind.

    Args:
        run: The run.
        width: Of the terminal, in columns. If it is too narrow for charts, there are none.
        ascii_only: Whether the terminal has no other characters.
    """
    if width < LEAST_WIDTH:
        return []
    width = min(width, MOST_WIDTH)
    glyphs = ASCII if ascii_only else BLOCKS
    losses: dict[int, list[float]] = {each.generation: [] for each in run.generations}
    with Reader(run.directory) as reader:
        for outcome in reader.settled_tasks():
            if outcome.generation in losses:  # not so if the run has gone on meanwhile
                losses[outcome.generation].append(outcome.loss)
    rounds = run.generations
    groups = [losses[each.generation] for each in rounds]
    running = bool(rounds) and sum(map(len, groups)) < LEAST_FOR_QUARTILES * len(rounds)
    failed = [(each.status, each.failed) for each in run.failures if each.failed]
    names = [round_label(each.kind, each.generation) for each in rounds]
    charts = [
        Chart(
            f"Losses by {'batch' if run.has_batches else 'generation'}",
            spread(groups, names, width, _HEIGHT, glyphs, running=running),
        ),
        Chart("Schedule", staircase(_stairs(run.schedule), width, glyphs)),
        Chart("Failed trainings", bars(failed, width, glyphs)),
    ]
    return [chart for chart in charts if chart.lines]


def _stairs(steps: Sequence[ScheduledRound]) -> list[Stair]:
    """The steps of a schedule; none if there is only one, or very many, as of batches of proposals."""
    if not 1 < len(steps) <= _MOST_STEPS or any(step.kind == "batch" for step in steps):
        return []
    return [
        Stair(round_label(step.kind, step.generation), step.trainings, step.epochs, step.again, step.settled)
        for step in steps
    ]
