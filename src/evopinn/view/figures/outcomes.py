"""The outcomes of a search's trainings: their cost, and the failures."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from evopinn.errors import FigureError
from evopinn.store.reader import Reader
from evopinn.view.figures.points import ABOVE, limit_losses, opacity
from evopinn.view.figures.style import (
    BLACK,
    COLUMN,
    ORANGE,
    PAGE,
    PALE,
    SEQUENCE,
    VERMILION,
    axes_on,
    plain,
    styled,
)
from evopinn.view.figures.subjects import Run, run_of
from evopinn.view.figures.trainings import Floats, Trainings, Whole


@styled()
def failures(run: Run, *, ax: Axes | None = None) -> Axes:
    """Plot the number of failed trainings by kind, and of attempts that were tried again.

    Args:
        run: The result of a search, or the directory or name of its run.
        ax: Where to draw.
    """
    found = run_of(run)
    with Reader(found.directory) as reader:
        kinds = reader.failures()
        settled = sum(reader.counts().values())
    if not kinds:
        raise FigureError(f"no training of the run {found.directory} failed.")
    ax = axes_on(ax, (COLUMN, 0.9 + 0.3 * len(kinds)))
    places = np.arange(len(kinds))
    failed, retried = ([each.failed for each in kinds], [each.retried for each in kinds])
    bars = ax.barh(places, failed, color=VERMILION, height=0.6, label="failed")
    ax.bar_label(bars, [f"{count:,}" if count else "" for count in failed], padding=2, size=7)
    if any(retried):
        again = ax.barh(places, retried, left=failed, color=ORANGE, height=0.6, label="tried again")
        ax.bar_label(again, [f"{count:,}" if count else "" for count in retried], padding=2, size=7)
        ax.legend(loc="lower right")
    ax.set_yticks(places, [plain(each.status, 30) for each in kinds])
    ax.set_ylim(len(kinds) - 0.4, -0.6)
    ax.set_xlim(0, 1.15 * max(map(sum, zip(failed, retried, strict=True))))
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_xlabel(f"trainings (of {settled:,})")
    ax.set_ylabel("status")
    return ax


@styled()
def cost(run: Run, *, ax: Axes | None = None) -> Axes:
    """Plot the loss of each training against its duration, and mark the best ones for their time.

    Args:
        run: The result of a search, or the directory or name of its run.
        ax: Where to draw.
    """
    found = run_of(run)
    trained = Trainings.of(found).succeeded
    trained = trained.where(trained.seconds > 0)
    if not len(trained.tasks):
        raise FigureError(f"no training of the run {found.directory} has a finite loss.")
    ax = axes_on(ax, (PAGE * 0.62, 3.0))
    rounds = trained.generations
    points = ax.scatter(
        trained.seconds,
        trained.losses,
        c=rounds,
        cmap=SEQUENCE,
        norm=Normalize(rounds.min(), max(rounds.max(), rounds.min() + 1)),
        s=8,
        alpha=opacity(len(trained.tasks)),
        linewidths=0,
        rasterized=True,
    )
    points.set_gid("trainings")
    front = pareto_front(trained.seconds, trained.losses)
    (line,) = ax.plot(
        trained.seconds[front],
        trained.losses[front],
        color=BLACK,
        linewidth=0.9,
        drawstyle="steps-post",
        label="best for its time",
    )
    line.set_gid("front")
    ax.set_xscale("log")
    ax.set_yscale("log")
    limit_losses(ax, trained.seconds, trained.losses)
    ax.set_xlabel("time of a training in seconds")
    ax.set_ylabel("loss")
    ax.grid(visible=True, color=PALE)
    final = [number for number, kind in trained.kinds.items() if kind == "final"]
    label = f"generation ({final[0]}: final evaluations)" if final else "generation"
    bar = ax.figure.colorbar(points, ax=ax, label=label, pad=0.02, aspect=25)
    bar.locator = MaxNLocator(6, integer=True)
    bar.update_ticks()
    ax.legend(**ABOVE, ncols=2)
    return ax


def pareto_front(costs: Floats, losses: Floats) -> Whole:
    """The indices, by rising cost, of the trainings that have a lower loss than all cheaper ones.

    Examples:
        >>> pareto_front(np.array([3.0, 1.0, 2.0, 4.0]), np.array([1.0, 5.0, 6.0, 0.5])).tolist()
        [1, 0, 3]
    """
    order = np.lexsort((losses, costs))
    best = np.minimum.accumulate(losses[order])
    first = np.concatenate([[True], best[1:] < best[:-1]])
    return order[first].astype(np.int64)
