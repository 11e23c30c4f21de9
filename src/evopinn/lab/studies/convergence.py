"""Loss and errors of a study's models over the epochs of their trainings."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from evopinn.errors import FigureError
from evopinn.lab.studies.labels import COMPARED, case_label, method_of, published_method
from evopinn.lab.studies.trials import Trial, fields_of
from evopinn.store.reader import Reader
from evopinn.training import History
from evopinn.view.figures.histories import Band, band_of, errors_of, losses_of
from evopinn.view.figures.style import (
    LINES,
    PAGE,
    Panel,
    grid_of_axes,
    panel_on,
    plain,
    styled,
)

Histories = Mapping[str, Sequence[History]]
"""Histories of trainings by model."""

_DASHES = ("-", "--", ":", "-.")
_LABEL = 40
_LEGEND_COLUMNS = 4


@styled()
def convergence(trials: Sequence[Trial], *, figure: Panel | None = None) -> Panel:
    """Plot loss and errors over the epochs: a row of plots for each case, a line for each model.

    A line is the mean over a model's trainings. Models of a method share a colour, its searches differ in
    dashes.

    Args:
        trials: Trainings of the models on the cases.
        figure: Where to draw.
    """
    fields, looks = fields_of(trials), looks_of(dict.fromkeys(trial.model for trial in trials))
    by_case = {case: histories_of(own) for case, own in _cases(trials).items()}
    if not any(by_case.values()):
        raise FigureError("no history of a training is recorded.")
    legend = -(-len(looks) // _LEGEND_COLUMNS)
    figure = panel_on(figure, (PAGE, 1.75 * len(by_case) + 0.14 * legend + 0.4))
    grid = grid_of_axes(figure, len(by_case), 1 + len(fields), sharex=True)
    for axes, (case, models) in zip(grid, by_case.items(), strict=True):
        draw_means(axes[0], _means(models, None), looks, "loss")
        axes[0].set_title(f"case {plain(case_label(case))}", loc="left")
        for ax, field in zip(axes[1:], fields, strict=True):
            draw_means(ax, _means(models, field), looks, f"error of {plain(field)}")
    for ax in grid[-1]:
        ax.set_xlabel("epoch")
    _add_legend(figure, looks)
    return figure


def looks_of(models: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """How the line of each model looks: a colour for each method, dashes for its searches."""
    names = list(models)
    looks: dict[str, Mapping[str, Any]] = {}
    for method, colour in method_colours(map(method_of, names)).items():
        for place, name in enumerate(name for name in names if method_of(name) == method):
            looks[name] = {"color": colour, "linestyle": _DASHES[place % len(_DASHES)]}
    return looks


def method_colours(methods: Iterable[str]) -> dict[str, str]:
    """A colour for each method, the same in all figures for those that the paper compares."""
    names = list(dict.fromkeys(methods))
    known = {published_method(name): colour for name, colour in zip(COMPARED, LINES, strict=False)}
    free = [colour for colour in LINES if colour not in {known.get(published_method(name)) for name in names}]
    others = cycle(free or LINES)
    return {name: known.get(published_method(name)) or next(others) for name in names}


def histories_of(trials: Sequence[Trial]) -> dict[str, list[History]]:
    """The recorded histories of some trainings, by model."""
    found: dict[str, list[History]] = {}
    ordered = sorted(trials, key=lambda trial: str(trial.run))
    for run, own in groupby(ordered, key=lambda trial: trial.run):
        with Reader(run) as reader:
            for trial in own:
                history = reader.history(trial.entry.task)
                if history is not None:
                    found.setdefault(trial.model, []).append(history)
    return found


def draw_means(
    ax: Axes, means: Mapping[str, Band], looks: Mapping[str, Mapping[str, Any]], quantity: str
) -> None:
    """Plot a line for each model, marked by its name."""
    for name, mean in means.items():
        (line,) = ax.plot(mean.epochs, mean.mean, linewidth=1.0, **looks[name])
        line.set_gid(name)
    ax.set_yscale("log")
    ax.set_ylabel(quantity)
    ax.grid(visible=True)


def mean_errors(models: Histories, field: str | None) -> dict[str, Band]:
    """The mean error of a field over the epochs, by model, where it is known."""
    found = {name: band_of([errors_of(each, field) for each in own]) for name, own in models.items()}
    return {name: each for name, each in found.items() if each is not None}


def mean_losses(models: Histories) -> dict[str, Band]:
    """The mean loss over the epochs, by model."""
    found = {name: band_of([losses_of(each) for each in own]) for name, own in models.items()}
    return {name: each for name, each in found.items() if each is not None}


def _means(models: Histories, field: str | None) -> dict[str, Band]:
    return mean_losses(models) if field is None else mean_errors(models, field)


def _cases(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    cases = dict.fromkeys(trial.case for trial in trials)
    return {case: [trial for trial in trials if trial.case == case] for case in cases}


def _add_legend(figure: Panel, looks: Mapping[str, Mapping[str, Any]]) -> None:
    lines = [Line2D([], [], linewidth=1.0, **look) for look in looks.values()]
    labels = [plain(name, _LABEL) for name in looks]
    figure.legend(lines, labels, loc="outside lower left", ncols=_LEGEND_COLUMNS)
