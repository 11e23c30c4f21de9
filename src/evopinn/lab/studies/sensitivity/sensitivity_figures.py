"""Errors and histories by the values of each choice, and the choices ranked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from evopinn.errors import FigureError
from evopinn.lab.studies.convergence import draw_means, histories_of, mean_errors, mean_losses
from evopinn.lab.studies.sensitivity.importance import RankedObjective
from evopinn.lab.studies.sensitivity.morris import MorrisRow
from evopinn.lab.studies.trials import Trial, quantities
from evopinn.view.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    GREY,
    LINES,
    ORANGE,
    PAGE,
    PALE,
    Panel,
    axes_on,
    grid_of_axes,
    panel_on,
    plain,
    shades,
    styled,
)

_LABEL = 14
_JITTER = 0.16
_BESIDE: Mapping[str, Any] = {"textcoords": "offset points", "va": "center", "size": 7}
_ROOM, _LEAST_EFFECT = 1.6, 1e-3
"""The room for labels beside bars, as a factor; and the range of the axis if nothing matters."""


@styled()
def sensitivity_figure(
    objectives: Mapping[str, Mapping[str, str]],
    baseline: str,
    trials: Sequence[Trial],
    case: str,
    *,
    field: str | None = None,
    figure: Panel | None = None,
) -> Panel:
    """Plot errors by the values of each objective, and how they fall over the epochs: a row for each.

    Left a dot is a training and a bar the mean of a value's; right a line is the mean over its trainings.
    The baseline's name is bold.

    Args:
        objectives: Genomes by objective and value.
        baseline: The genome that all objectives share.
        trials: The trainings.
        case: The full name of the case to show.
        field: The field whose error is shown; the first by default. Losses, if no solution is known.
        figure: Where to draw.
    """
    known, trials = quantities(trials), [trial for trial in trials if trial.case == case]
    chosen = next((each for each in known if each.name == (field or known[0].name)), None)
    if chosen is None:
        raise FigureError(f"there is no error of {field!r}; choose from {', '.join(e.name for e in known)}.")
    of_loss = chosen.name == "loss"
    quantity = "loss" if of_loss else f"error of {plain(chosen.name)}"
    figure = panel_on(figure, (PAGE, 1.9 * len(objectives) + 0.2))
    grid = grid_of_axes(figure, len(objectives), 2)
    drawn = 0
    for (left, right), (objective, values) in zip(grid, objectives.items(), strict=True):
        looks = _looks(list(values))
        own = {
            value: [trial for trial in trials if trial.model == f"{objective}={value}"] for value in values
        }
        errors = {value: [chosen.of(trial) for trial in each] for value, each in own.items()}
        drawn += _strip(left, errors, looks)
        histories = {value: found for value, each in own.items() for found in histories_of(each).values()}
        means = mean_losses(histories) if of_loss else mean_errors(histories, chosen.name)
        draw_means(right, means, looks, quantity)
        left.set_ylabel(quantity)
        left.set_title(plain(objective, 40), loc="left", fontweight="bold")
        left.set_xlabel("value")
        right.set_xlabel("epoch")
        for tick, value in zip(left.get_xticklabels(), values, strict=True):
            if values[value] == baseline:
                tick.set_fontweight("bold")
    if not drawn:
        raise FigureError("no training gave a network.")
    return figure


@styled()
def ranking_figure(rows: Sequence[RankedObjective], *, ax: Axes | None = None) -> Axes:
    """Plot how much each objective matters as bars, the greatest above, with marks for the effect of chance.

    Args:
        rows: The objectives.
        ax: Where to draw.
    """
    sound = [row for row in rows if np.isfinite(row.effect)]
    effects = [row.effect for row in sound]
    ax = _bars(ax, PAGE, "objective", {row.objective: row.effect for row in sound})
    for place, row in enumerate(sound):
        share = "" if np.isnan(row.share) else f"{row.share:.0%}: "
        words = f"{share}from {plain(row.best, _LABEL)} (best) to {plain(row.worst, _LABEL)}"
        ax.annotate(
            words, (max(row.effect, row.noise) if row.noise > 0 else row.effect, place), (4, 0), **_BESIDE
        )
    known = [(place, row.noise) for place, row in enumerate(sound) if np.isfinite(row.noise)]
    for place, noise in known:
        ax.vlines(noise, place - 0.36, place + 0.36, color=ORANGE, linewidth=2).set_gid("noise")
    ax.set_xlim(0, _ROOM * max(*effects, *(noise for _, noise in known), _LEAST_EFFECT))
    ax.set_xlabel("effect on the error [decades]")
    return ax


@styled()
def morris_figure(rows: Sequence[MorrisRow], *, ax: Axes | None = None) -> Axes:
    """Plot Morris' mean effects as bars with their intervals.

    Args:
        rows: The factors.
        ax: Where to draw.
    """
    sound = [row for row in rows if np.isfinite(row.mu_star)]
    ax = _bars(
        ax,
        COLUMN,
        "factor",
        {row.factor: row.mu_star for row in sound},
        xerr=[row.confidence for row in sound],
        ecolor=BLACK,
        capsize=2,
        error_kw={"linewidth": 0.8},
    )
    ax.set_xlabel("μ*: mean effect on the error [decades]")
    return ax


def _bars(ax: Axes | None, width: float, what: str, values: Mapping[str, float], **look: Any) -> Axes:
    """Draw bars with names, the first above."""
    if not values:
        raise FigureError(f"no {what} has an effect that is known.")
    ax = axes_on(ax, (width, 0.8 + 0.32 * len(values)))
    places = np.arange(len(values))
    ax.barh(places, list(values.values()), color=BLUE, height=0.6, **look)
    ax.set_yticks(places, [plain(name, 30) for name in values])
    ax.set_ylabel(what)
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.grid(visible=True, axis="x", color=PALE)
    return ax


def _looks(values: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """The looks of values: shades for numbers, which have an order, and colours for others."""
    ordered = all(value.isdigit() for value in values) or len(values) > len(LINES)
    colours = shades(len(values)) if ordered else LINES
    return {value: {"color": colour} for value, colour in zip(values, colours, strict=False)}


def _strip(ax: Axes, errors: Mapping[str, Sequence[float]], looks: Mapping[str, Mapping[str, Any]]) -> int:
    """Plot a dot for each successful training and a bar for their mean; return the number of dots."""
    drawn = 0
    for place, (value, each) in enumerate(errors.items()):
        known = np.array([error for error in each if np.isfinite(error) and error > 0])
        if not len(known):
            continue
        drawn += len(known)
        across = place + _JITTER * np.linspace(-1, 1, len(known) + 2)[1:-1]
        dots = ax.scatter(across, known, s=12, alpha=0.75, linewidths=0, **looks[value])
        dots.set_gid(value)
        ax.hlines(known.mean(), place - 0.3, place + 0.3, color=GREY, linewidth=1.2)
    ax.set_yscale("log")
    labels = [plain(value, _LABEL) for value in errors]
    long = max(map(len, labels), default=0) * len(labels) > 40
    ax.set_xticks(range(len(errors)), labels, rotation=25 if long else 0, ha="right" if long else "center")
    ax.set_xlim(-0.6, len(errors) - 0.4)
    ax.grid(visible=True, axis="y")
    return drawn
