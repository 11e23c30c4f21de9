"""The best loss of searches against the epochs that they have spent."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from evopinn.errors import FigureError
from evopinn.lab.studies.convergence import method_colours
from evopinn.view.figures.histories import Array, band_of
from evopinn.view.figures.points import show_best
from evopinn.view.figures.style import PAGE, axes_on, plain, styled

_LABEL = 40
_EARLY = 0.1
"""The share of the epochs after which all losses must be visible; the first ones may be arbitrarily high."""


@styled()
def progress(
    courses: Mapping[str, Sequence[Sequence[tuple[float, float]]]],
    epochs: Mapping[str, float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the best loss so far against the epochs of all trainings of a search.

    A thin line is a search, a thick one the geometric mean of a method's searches.

    Args:
        courses: By method, for each of its searches the epochs spent and the best loss then.
        epochs: By method, those of a whole search.
        ax: Where to draw.
    """
    ax = axes_on(ax, (PAGE, 3.6))
    colours = method_colours(courses)
    lowest, highest = np.inf, 0.0
    drawn: list[tuple[Array, Array]] = []
    for method, searches in courses.items():
        colour = colours[method]
        courses_of = [[each for each in course if each[1] > 0] for course in searches]
        known = [_whole(course, epochs[method]) for course in courses_of if course]
        drawn += known
        for spent, best in known:
            lowest, highest = min(lowest, float(best.min())), max(highest, _after_start(spent, best))
            ax.plot(spent, best, drawstyle="steps-post", color=colour, linewidth=0.6, alpha=0.45)
        mean = band_of([(spent, np.log(best)) for spent, best in known])
        if mean is not None:
            label = plain(method, _LABEL) + (f" (mean of {len(known)})" if len(known) > 1 else "")
            (line,) = ax.plot(
                mean.epochs,
                np.exp(mean.mean),
                drawstyle="steps-post",
                color=colour,
                label=label,
                linewidth=1.8,
            )
            line.set_gid(method)
    if not ax.lines:
        raise FigureError("no search has found a network.")
    ax.set_xscale("log")
    show_best(ax, lowest, highest, "epochs of all trainings of the search", columns=3)
    ax.set_xlim(left=0.8 * min(float(spent[best <= highest][0]) for spent, best in drawn))
    return ax


def _whole(course: Sequence[tuple[float, float]], epochs: float) -> tuple[Array, Array]:
    """A course up to the end of its search."""
    spent, best = np.array(course, dtype=np.float64).T
    return np.append(spent, max(epochs, spent[-1])), np.append(best, best[-1])


def _after_start(spent: Array, best: Array) -> float:
    """The best loss once a share of the search is over."""
    return float(best[np.searchsorted(spent, _EARLY * spent[-1], side="right") - 1 :].max())
