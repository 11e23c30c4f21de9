"""The course of a search: losses by generation, and its schedule."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from evopinn.errors import FigureError
from evopinn.run.listed import GenerationSummary
from evopinn.run.reading import Reader
from evopinn.run.summary import Intent
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

_MANY = 4
"""From so many trainings a generation on, quartiles mean something."""

_ROUNDS = {"bests": "bests\nagain", "final": "final"}
"""Rounds behind the generations, as they stand below the axis."""


@styled()
def generations(run: Run, *, ax: Axes | None = None) -> Axes:
    """Plot the losses of all trainings by generation, with the best, the median and the quartiles of each.

    The final evaluations stand apart, to the right. Where a round is of a few trainings only, as in Bayesian
    optimisation, the line is the best so far.

    Args:
        run: What a search found, or its run's directory or name.
        ax: Where to draw.
    """
    found = run_of(run)
    trained = Trainings.of(found)
    all_finite = trained.succeeded
    if not len(all_finite.tasks):
        raise FigureError(f"no training of the run {found.directory} has a finite loss.")
    ax = axes_on(ax, (PAGE * 0.62, 3.0))
    many = np.median(np.unique(all_finite.generations, return_counts=True)[1]) >= _MANY
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
    _number_generations(ax, trained)
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


def _number_generations(ax: Axes, trained: Trainings) -> None:
    names = {number: _ROUNDS[kind] for number, kind in trained.kinds.items() if kind in _ROUNDS}
    counted = [number for number in trained.kinds if number not in names]
    last = max(trained.kinds)
    if names:
        first = min(names)
        ax.axvline(first - 0.5, color=GREY, linewidth=0.6, linestyle=":")
        ticks = [tick for tick in _whole_ticks(counted) if tick < first]
        ax.set_xticks([*ticks, *names], [*map(str, ticks), *names.values()])
    else:
        ax.set_xticks(_whole_ticks(counted))
    ax.set_xlim(0.3, last + 0.7)
    batches = "batch" in trained.kinds.values()
    ax.set_xlabel("batch of proposals" if batches else "generation")


def _whole_ticks(numbers: Sequence[int]) -> list[int]:
    """Round numbers, at most a dozen."""
    if not numbers:
        return []
    ticks = MaxNLocator(12, integer=True).tick_values(min(numbers), max(numbers))
    return [int(tick) for tick in ticks if min(numbers) <= tick <= max(numbers)]


@styled()
def schedule(run: Run, *, figure: Panel | None = None) -> Panel:
    """Plot how many networks each generation trains, and for how many epochs: the staircase of DPSTE.

    What is planned and was not reached yet is dashed.

    Args:
        run: What a search found, or its run's directory or name.
        figure: Where to draw.
    """
    found = run_of(run)
    with Reader(found.directory) as reader:
        rounds = [each for each in reader.generations() if each.kind in {"generation", "batch"}]
        epochs = reader.efforts()
        planned = Intent.of(reader.about().config, found.directory).schedule
    if not rounds:
        raise FigureError(f"the run {found.directory} has not asked for a training yet.")
    figure = panel_on(figure, (COLUMN, 3.4))
    (upper,), (lower,) = grid_of_axes(figure, 2, 1, sharex=True)
    numbers = [each.generation for each in rounds]
    _plot_trained(upper, rounds)
    _stairs(lower, numbers, [epochs[number] for number in numbers], "epochs")
    ahead = range(numbers[-1] + 1, len(planned) + 1)
    if ahead:
        for ax, column in ((upper, 0), (lower, 1)):
            values = [planned[number - 1][column] for number in ahead]
            _stairs(ax, list(ahead), values, "planned", linestyle="--", color=GREY)
    upper.set_ylabel("networks")
    lower.set_ylabel("epochs of each")
    lower.set_xlabel("batch of proposals" if rounds[0].kind == "batch" else "generation")
    lower.set_xticks(_whole_ticks([*numbers, *ahead]))
    for ax in (upper, lower):
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    upper.legend(**ABOVE, ncols=4)
    return figure


def _plot_trained(ax: Axes, rounds: Sequence[GenerationSummary]) -> None:
    numbers = [each.generation for each in rounds]
    _stairs(ax, numbers, [each.asked for each in rounds], "asked for")
    bars = ax.bar(
        numbers, [each.settled for each in rounds], width=1.0, color=SKY, alpha=0.5, label="trained"
    )
    failed = [each.failed for each in rounds]
    bars[0].set_gid("trained")
    if any(failed):
        ax.bar(numbers, failed, width=1.0, color=VERMILION, alpha=0.8, label="failed")


def _stairs(ax: Axes, numbers: Sequence[int], values: Sequence[float], name: str, **look: Any) -> None:
    """A step for each generation, from half a number before to half a number after."""
    edges = [numbers[0] - 0.5, *(number + 0.5 for number in numbers)]
    line = ax.stairs(values, edges, baseline=None, label=name, **{"color": BLUE, "linewidth": 1.4, **look})
    line.set_gid(name)
