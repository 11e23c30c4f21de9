"""A run as small charts for the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evopinn.run.listed import RoundKind
from evopinn.run.reading import Reader
from evopinn.run.rounds import Step, schedule_steps
from evopinn.run.summary import Summary
from evopinn.view.charts import LEAST_WIDTH, MOST_WIDTH, Stair, bars, spread, staircase
from evopinn.view.glyphs import ASCII, BLOCKS

_HEIGHT = 9
_MANY = 4  # from so many trainings a generation on, quartiles mean something
_MOST_STEPS = 20
_NAMES: Mapping[RoundKind, str] = {"bests": "bests", "final": "final"}


@dataclass(frozen=True)
class Chart:
    """A chart with its title."""

    title: str
    lines: Sequence[str]


def run_charts(summary: Summary, width: int, *, ascii_only: bool = False) -> list[Chart]:
    """What there is to draw of a run: losses by generation, the schedule, failures by kind.

    Args:
        summary: The run.
        width: Of the terminal, in columns. If it is too narrow for charts, there are none.
        ascii_only: Whether the terminal has no other characters.
    """
    if width < LEAST_WIDTH:
        return []
    width = min(width, MOST_WIDTH)
    glyphs = ASCII if ascii_only else BLOCKS
    with Reader(summary.directory) as reader:
        losses: dict[int, list[float]] = {each.generation: [] for each in summary.generations}
        for outcome in reader.outcomes():
            if outcome.generation in losses:  # not so if the run has gone on meanwhile
                losses[outcome.generation].append(outcome.loss)
        efforts = reader.efforts()
    rounds = summary.generations
    groups = [losses[each.generation] for each in rounds]
    running = bool(rounds) and sum(map(len, groups)) < _MANY * len(rounds)
    batches = any(each.kind == "batch" for each in rounds)
    failed = [(each.status, each.failed) for each in summary.failures if each.failed]
    steps = schedule_steps(rounds, efforts, summary.intent.rounds, finished=summary.state == "finished")
    names = [_NAMES.get(each.kind, str(each.generation)) for each in rounds]
    charts = [
        Chart(
            f"Losses by {'batch' if batches else 'generation'}",
            spread(groups, names, width, _HEIGHT, glyphs, running=running),
        ),
        Chart("Schedule", staircase(_stairs(steps), width, glyphs)),
        Chart("Failed trainings", bars(failed, width, glyphs)),
    ]
    return [chart for chart in charts if chart.lines]


def _stairs(steps: Sequence[Step]) -> list[Stair]:
    """The steps of a schedule; none if there is only one, or very many, as of batches of proposals."""
    if not 1 < len(steps) <= _MOST_STEPS or any(step.kind == "batch" for step in steps):
        return []
    return [
        Stair(
            _NAMES.get(step.kind, str(step.generation)), step.trainings, step.epochs, step.again, step.settled
        )
        for step in steps
    ]
