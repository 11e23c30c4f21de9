"""Points and axes for the losses of many trainings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from evopinn.view.figures.style import ORANGE, whole_figure
from evopinn.view.figures.trainings import Floats

_BEYOND = 30.0
"""The ratio of the upper end of an axis to the 0.9 quantile of the losses."""

_HEADROOM = 10.0
"""The ratio of the upper end of an axis of best losses to the highest loss that must be visible."""

ABOVE: Mapping[str, Any] = {
    "loc": "lower center",
    "bbox_to_anchor": (0.5, 1.0),
    "borderaxespad": 0.2,
    "columnspacing": 1.2,
}
"""The place of a legend that would hide points otherwise."""


def opacity(count: int) -> float:
    """The opacity of a point: many points are more transparent."""
    return min(1.0, max(0.1, 3000 / count))


def show_best(ax: Axes, lowest: float, highest: float, cost: str, columns: int = 1) -> None:
    """Dress a plot of the best loss so far against a cost, with its legend below.

    Args:
        ax: The axes with the lines.
        lowest: The lowest loss.
        highest: The highest loss that must be visible.
        cost: The label of the cost.
        columns: The number of columns of the legend.
    """
    ax.set_yscale("log")
    ax.set_ylim(lowest / 2, _HEADROOM * highest)
    ax.set_xlabel(cost)
    ax.set_ylabel("best loss so far")
    ax.grid(visible=True)
    handles, labels = ax.get_legend_handles_labels()
    whole_figure(ax).legend(handles, labels, loc="outside lower left", ncols=columns)


def limit_losses(ax: Axes, x: Floats, losses: Floats) -> None:
    """Limit the axis to most losses; mark the others, which nearly overflowed, at its edge."""
    top = _BEYOND * float(np.quantile(losses, 0.9))
    ax.set_ylim(float(losses.min()) / 2, top)
    above = losses > top
    if above.any():
        marks = ax.scatter(
            x[above], np.full(above.sum(), top / 1.5), s=10, marker="^", color=ORANGE, linewidths=0
        )
        marks.set_gid("above")
        marks.set_label(f"{above.sum():,} above")
