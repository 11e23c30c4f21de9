"""The losses and the schedule of a search, by generation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from evopinn.errors import FigureError
from evopinn.run.goal import Goal
from evopinn.run.planned_rounds import ScheduledRound, scheduled_rounds
from evopinn.store.reader import Reader
from evopinn.store.records import RoundKind
from evopinn.view.figures.points import ABOVE, limit_losses, opacity
from evopinn.view.figures.style import (
    BLUE,
    COLUMN,
    GREY,
    PAGE,
    SKY,
    VERMILION,
    Panel,
    axes_on,
    grid_of_axes,
    panel_on,
    styled,
)
from evopinn.view.figures.subjects import Run, run_of
from evopinn.view.figures.trainings import Trainings
from evopinn.view.numbers import LEAST_FOR_QUARTILES

_ROUNDS = {"bests": "bests\nagain", "final": "final"}
"""The labels of rounds after the generations."""

_PLANNED = {"linestyle": "--", "color": GREY}


@styled()
def generations(run: Run, *, ax: Axes | None = None) -> Axes:
    """Plot the losses of all trainings by generation, with the best, the median and the quartiles of each.

    The final evaluations stand apart, to the right. If rounds have only a few trainings, as in Bayesian
    optimisation, the line shows the best loss so far.

    Args:
        run: The result of a search, or the directory or name of its run.
        ax: Where to draw.
    """
    found = run_of(run)
    trained = Trainings.of(found)
    all_finite = trained.succeeded
    if not len(all_finite.tasks):
        raise FigureError(f"no training of the run {found.directory} has a finite loss.")
    ax = axes_on(ax, (PAGE * 0.62, 3.0))
    many = np.median(np.unique(all_finite.generations, return_counts=True)[1]) >= LEAST_FOR_QUARTILES
    # Side by side where there are many, and always in the same places.
    shift = 0.6 * (np.modf(all_finite.tasks * 0.6180339887)[0] - 0.5) * many
    points = ax.scatter(
        all_finite.generations + shift,
        all_finite.losses,
        s=5,
        color=SKY,
        alpha=opacity(len(all_finite.tasks)),
        linewidths=0,
        rasterized=True,
    )
    points.set_gid("trainings")
    points.set_label("a training")
    searched = all_finite.of_kinds("generation", "batch")
    if len(searched.tasks):
        _plot_progress(ax, searched, bool(many))
    ax.set_yscale("log")
    limit_losses(ax, all_finite.generations + shift, all_finite.losses)
    ax.set_ylabel("loss")
    _number_rounds(ax, trained.kinds)
    ax.legend(**ABOVE, ncols=5)
    return ax


def _plot_progress(ax: Axes, searched: Trainings, many: bool) -> None:
    rounds = np.unique(searched.generations)
    groups = [searched.losses[searched.generations == each] for each in rounds]
    best = np.array([group.min() for group in groups])
    if many:
        low, middle, high = np.array([np.quantile(group, (0.25, 0.5, 0.75)) for group in groups]).T
        band = ax.fill_between(rounds, low, high, color=BLUE, alpha=0.25, linewidth=0, label="quartiles")
        band.set_gid("quartiles")
        ax.plot(rounds, middle, color=BLUE, marker=".", label="median").pop().set_gid("median")
        (line,) = ax.plot(rounds, best, color=VERMILION, marker=".", label="best")
    else:
        best = np.minimum.accumulate(best)
        (line,) = ax.plot(rounds, best, color=VERMILION, drawstyle="steps-post", label="best so far")
    line.set_gid("best")


def _number_rounds(ax: Axes, kinds: Mapping[int, RoundKind]) -> None:
    """Label generations by their numbers, and later rounds by name and apart."""
    names = {number: _ROUNDS[kind] for number, kind in kinds.items() if kind in _ROUNDS}
    counted = [number for number in kinds if number not in names]
    if names:
        first = min(names)
        ax.axvline(first - 0.5, color=GREY, linewidth=0.6, linestyle=":")
        ticks = [tick for tick in _whole_ticks(counted) if tick < first]
        ax.set_xticks([*ticks, *names], [*map(str, ticks), *names.values()])
    else:
        ax.set_xticks(_whole_ticks(counted))
    ax.set_xlim(0.3, max(kinds) + 0.7)
    ax.set_xlabel("batch of proposals" if "batch" in kinds.values() else "generation")


def _whole_ticks(numbers: Sequence[int]) -> list[int]:
    """Round numbers, at most a dozen."""
    if not numbers:
        return []
    ticks = MaxNLocator(12, integer=True).tick_values(min(numbers), max(numbers))
    return [int(tick) for tick in ticks if min(numbers) <= tick <= max(numbers)]


@styled()
def schedule(run: Run, *, figure: Panel | None = None) -> Panel:
    """Plot how many networks each round trains, and for how many epochs: the staircase of DPSTE.

    The final evaluations are a step of their own. The networks of a generation are its population and, from
    the second on, elitists that are trained again. Planned rounds are dashed; in the current round, the
    trainings that have not finished are hatched.

    Args:
        run: The result of a search, or the directory or name of its run.
        figure: Where to draw.
    """
    found = run_of(run)
    with Reader(found.directory) as reader:
        rounds, efforts, finished = reader.generations(), reader.efforts(), reader.state() == "finished"
        planned = Goal.of(reader.about().config, found.directory).rounds
    if not rounds:
        raise FigureError(f"the run {found.directory} has not started any training yet.")
    steps = scheduled_rounds(rounds, efforts, planned, finished=finished)
    begun = [step for step in steps if step.started]
    ahead = [step for step in steps if not step.started]
    figure = panel_on(figure, (COLUMN, 3.4))
    (upper,), (lower,) = grid_of_axes(figure, 2, 1, sharex=True)
    _plot_trained(upper, begun)
    _stairs(lower, begun, [step.epochs for step in begun], "epochs")
    if ahead:
        _stairs(upper, ahead, [step.trainings for step in ahead], "planned", **_PLANNED)
        _stairs(lower, ahead, [step.epochs for step in ahead], "planned", **_PLANNED)
    _plot_population(upper, steps)
    upper.set_ylabel("networks")
    lower.set_ylabel("epochs of each")
    _number_rounds(lower, {step.generation: step.kind for step in steps})
    if any(step.kind in _ROUNDS for step in steps):
        first = min(step.generation for step in steps if step.kind in _ROUNDS)
        upper.axvline(first - 0.5, color=GREY, linewidth=0.6, linestyle=":")
    for ax in (upper, lower):
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    upper.legend(**ABOVE, ncols=3)
    return figure


def _plot_trained(ax: Axes, begun: Sequence[ScheduledRound]) -> None:
    """Plot how many trainings of each round were requested, have finished, have failed and remain."""
    numbers = [step.generation for step in begun]
    settled = [step.settled for step in begun]
    _stairs(ax, begun, [step.trainings for step in begun], "asked for")
    bars = ax.bar(numbers, settled, width=1.0, color=SKY, alpha=0.5, label="trained")
    bars[0].set_gid("trained")
    failed = [step.failed for step in begun]
    if any(failed):
        ax.bar(numbers, failed, width=1.0, color=VERMILION, alpha=0.8, label="failed")
    half_done = [step for step in begun if step.settled < step.trainings]
    if half_done:
        rest = [step.trainings - step.settled for step in half_done]
        below = [step.settled for step in half_done]
        look = {"facecolor": "none", "edgecolor": GREY, "hatch": "////", "linewidth": 0.0}
        hatched = ax.bar(
            [step.generation for step in half_done],
            rest,
            width=1.0,
            bottom=below,
            label="not trained yet",
            **look,
        )
        hatched[0].set_gid("not trained yet")


def _plot_population(ax: Axes, steps: Sequence[ScheduledRound]) -> None:
    """Plot the number of networks without elitists, in rounds that have some."""
    with_elitists = [step for step in steps if step.again]
    for place, step in enumerate(with_elitists):
        (line,) = ax.plot(
            [step.generation - 0.5, step.generation + 0.5],
            [step.trainings - step.again] * 2,
            color=BLUE,
            linewidth=0.9,
            linestyle=":",
            label="without elitists" if place == 0 else None,
        )
        line.set_gid("without elitists")


def _stairs(
    ax: Axes, steps: Sequence[ScheduledRound], values: Sequence[float], name: str, **look: Any
) -> None:
    """A step for each round, from half a number before to half a number after."""
    edges = [steps[0].generation - 0.5, *(step.generation + 0.5 for step in steps)]
    line = ax.stairs(values, edges, baseline=None, label=name, **{"color": BLUE, "linewidth": 1.4, **look})
    line.set_gid(name)
