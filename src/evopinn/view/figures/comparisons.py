"""Figures that compare several runs: how their best networks were trained, and what their searches cost."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evopinn.errors import FigureError
from evopinn.run.progress import best_so_far
from evopinn.run.record import find_best
from evopinn.run.run_result import RunResult
from evopinn.store.reader import Reader
from evopinn.training import History
from evopinn.view.figures.histories import convergence
from evopinn.view.figures.pictures import Picture, PictureRow, Undrawn, drawn_rows
from evopinn.view.figures.points import show_best
from evopinn.view.figures.style import LINES, PAGE, axes_on, plain, styled, whole_figure
from evopinn.view.figures.trainings import Floats, Trainings

MOST = len(LINES)
"""The maximum number of runs in a figure: one for each colour."""

_LABEL = 60
_EARLY = 0.02
"""The share of the time after which all losses must be visible; the first ones may be arbitrarily high."""

CONVERGENCE = PictureRow(
    "winners",
    "How the best networks were trained",
    "Loss, and error where it is known, over the epochs of each run's recommended architecture (before the "
    "final evaluations, of its most accurate network); a band shows the range of its trials. Losses of "
    "different problems do not compare.",
)
PROGRESS = PictureRow(
    "progress",
    "Best loss against cost",
    "The lowest loss that each search had found, against the time its workers had spent: the lowest line at "
    "a given time is the best search for that time. Losses on fewer points do not compare with losses on "
    "all, so a line may rise where a search changes to more points.",
)


def compared(runs: Mapping[str, RunResult]) -> tuple[list[Picture], Undrawn]:
    """The figures of several runs, by name; of only the first seven if there are more."""
    shown = dict(list(runs.items())[:MOST])
    return drawn_rows([(CONVERGENCE, partial(_best, shown)), (PROGRESS, partial(_progress, shown))])


def _best(runs: Mapping[str, RunResult]) -> Figure:
    histories = {name: _best_histories(run) for name, run in runs.items()}
    known = {name: trials for name, trials in histories.items() if trials}
    if not known:
        raise FigureError("no run has a trained network yet.")
    return whole_figure(convergence(known))


def _best_histories(run: RunResult) -> Sequence[History]:
    with Reader(run.directory) as reader:
        best = find_best(reader)
        if best is None:
            return []
        tasks = best.finalist.tasks if best.finalist else (best.entry.task,)
        return [history for task in tasks if (history := reader.history(task)) is not None]


def _progress(runs: Mapping[str, RunResult]) -> Figure:
    known: dict[str, Trainings] = {}
    for name, run in runs.items():
        try:
            trained = Trainings.of(run)
        except FigureError:
            continue
        if len(trained.succeeded.tasks):
            known[name] = trained
    if not known:
        raise FigureError("no run has a trained network yet.")
    return whole_figure(draw_progress(known))


@styled()
def draw_progress(runs: Mapping[str, Trainings], ax: Axes | None = None) -> Axes:
    """Plot the best loss so far over the time that workers have spent."""
    ax = axes_on(ax, (PAGE, 2.8 + 0.16 * len(runs)))
    lowest, highest = np.inf, 0.0
    for colour, (name, trained) in zip(LINES, runs.items(), strict=False):
        spent, best = _best_by_time(trained)
        (line,) = ax.plot(spent, best, drawstyle="steps-post", color=colour, label=plain(name, _LABEL))
        line.set_gid(name)
        ax.plot(spent[-1:], best[-1:], marker="o", markersize=3, color=colour)
        lowest = min(lowest, float(best.min()))
        highest = max(highest, float(best[spent >= _EARLY * spent[-1]].max()))
    show_best(ax, lowest, highest, "time of all workers together [s]")
    return ax


def _best_by_time(trained: Trainings) -> tuple[Floats, Floats]:
    """The time spent and the best loss after each training, from the first success on."""
    losses = np.where(trained.losses > 0, trained.losses, np.inf)  # the axis has no place for others
    best = np.array(best_so_far(losses.tolist(), trained.coarseness.tolist()))
    known = np.isfinite(best)
    return np.cumsum(trained.seconds)[known], best[known]
