"""Maps of the mean absolute error of each method's models, beside the known solution."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from evopinn.errors import EvopinnError, FigureError
from evopinn.lab.studies.convergence import method_colours
from evopinn.lab.studies.labels import case_label, method_of
from evopinn.lab.studies.trials import Trial
from evopinn.problem import Problem
from evopinn.store.weights import load_weights
from evopinn.training import TrainingResult
from evopinn.view.figures.maps import Array, add_scale, fill, row_height, value_norm
from evopinn.view.figures.mesh import Section, sections
from evopinn.view.figures.style import (
    BLACK,
    ERRORS,
    PAGE,
    SEQUENCE,
    Panel,
    grid_of_axes,
    panel_on,
    plain,
    styled,
)
from evopinn.view.figures.subjects import named_problem, problem_of

_ACROSS = 4
"""The maximum number of maps side by side."""

_DECADES = 4.0
"""The decades below the greatest error that the colours span."""

_LABEL = 24


@styled()
def error_maps(trials: Sequence[Trial], case: str, *, figure: Panel | None = None) -> Panel:
    """Plot the known solution on a case and, for each method, the mean absolute error of all its trainings.

    All errors of a field have the same colours, so that methods compare. With two coordinates in space, the
    last instant is shown.

    Args:
        trials: Trainings, whose models are called after their methods.
        case: The case's full name.
        figure: Where to draw.
    """
    problem = named_problem(case)
    section = sections(problem)[-1]
    if section.reference is None:
        raise FigureError(f"no solution of {problem.name!r} is known, so there is no error to show.")
    errors = _mean_errors([trial for trial in trials if trial.case == case], problem, section)
    if not errors:
        raise FigureError(f"no trained network of the case {case_label(case)} is kept.")
    draw = _draw_lines if len(section.axes) == 1 else _draw_maps
    return draw(figure, problem, section, section.reference, errors)


def _mean_errors(trials: Sequence[Trial], problem: Problem, section: Section) -> dict[str, Array]:
    """The mean absolute errors by method, shape (points, fields); methods without a network are left out."""
    assert section.reference is not None
    found: dict[str, Array] = {}
    for method in dict.fromkeys(method_of(trial.model) for trial in trials):
        networks = [_network(trial) for trial in trials if method_of(trial.model) == method]
        each = [
            np.abs(network.predict(section.points) - section.reference)
            for network in networks
            if network is not None and problem_of(network, problem)
        ]
        if each:
            found[method] = np.mean(each, axis=0)
    return found


def _network(trial: Trial) -> TrainingResult | None:
    """The network of a training; None if the training failed or the network is lost."""
    try:
        return load_weights(trial.run, trial.entry.task)
    except EvopinnError:
        return None


def _draw_maps(
    figure: Panel | None, problem: Problem, section: Section, reference: Array, errors: Mapping[str, Array]
) -> Panel:
    fields = tuple(problem.fields)
    lines = -(-(1 + len(errors)) // _ACROSS)
    across = -(-(1 + len(errors)) // lines)
    height = row_height(problem, section, PAGE / across - 0.6) * lines * len(fields)
    figure = panel_on(figure, (PAGE, height + 0.35))
    grid = grid_of_axes(figure, lines * len(fields), across, sharex=True, sharey=True)
    for place, field in enumerate(fields):
        rows = grid[place * lines : (place + 1) * lines]
        own = {method: values[:, place] for method, values in errors.items()}
        _draw_field(rows, problem, section, field, reference[:, place], own)
    for axes in grid:
        for ax in axes[1:]:
            ax.set_ylabel("")
    for upper, lower in pairwise(grid):
        for ax, below in zip(upper, lower, strict=True):
            if below.axison:
                ax.set_xlabel("")
            else:
                ax.tick_params(labelbottom=True)
    figure.suptitle(_title(problem, section))
    return figure


def _draw_field(
    rows: Sequence[Sequence[Axes]],
    problem: Problem,
    section: Section,
    field: str,
    reference: Array,
    errors: Mapping[str, Array],
) -> None:
    panels = [ax for row in rows for ax in row]
    mesh = fill(panels[0], problem, section, reference, value_norm(reference), SEQUENCE)
    add_scale(panels[0], mesh)
    panels[0].set_title(f"{plain(field)}: exact")
    norm = _error_norm(errors)
    for ax, (method, values) in zip(panels[1:], errors.items(), strict=False):
        shown = np.maximum(values, norm.vmin)
        mesh = fill(ax, problem, section, shown, norm, ERRORS)
        ax.set_title(plain(method, _LABEL))
        ax.set_gid(f"{field} {method}")
        if ax is rows[0][-1]:  # one scale is enough: it is the same for all
            add_scale(ax, mesh)
    for ax in panels[1 + len(errors) :]:
        ax.set_axis_off()


def _error_norm(errors: Mapping[str, Array]) -> LogNorm:
    """The colours of errors, the same for all methods: from the greatest down by some decades at most."""
    values = np.concatenate(list(errors.values()))
    finite = values[np.isfinite(values) & (values > 0)]
    high = float(finite.max(initial=0.0)) or 1.0
    low = float(np.quantile(finite, 0.02)) if len(finite) else high / 10
    return LogNorm(min(max(low, high * 10**-_DECADES), high / 2), high)


def _draw_lines(
    figure: Panel | None, problem: Problem, section: Section, reference: Array, errors: Mapping[str, Array]
) -> Panel:
    fields = tuple(problem.fields)
    figure = panel_on(figure, (PAGE, 2.2 * len(fields) + 0.6))
    (x,) = section.columns
    order = np.argsort(x)
    name, colours = plain(problem.axes[section.axes[0]]), method_colours(errors)
    for place, (field, (left, right)) in enumerate(
        zip(fields, grid_of_axes(figure, len(fields), 2), strict=True)
    ):
        left.plot(x[order], reference[order, place], color=BLACK)
        left.set_ylabel(f"{plain(field)}: exact")
        for method, values in errors.items():
            (line,) = right.plot(
                x[order], values[order, place], color=colours[method], label=plain(method, _LABEL)
            )
            line.set_gid(f"{field} {method}")
        right.set_yscale("log")
        right.set_ylabel(f"mean absolute error of {plain(field)}")
        for ax in (left, right):
            ax.set_xlabel(name)
            ax.grid(visible=True)
        if not place:
            handles, labels = right.get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower left", ncols=_ACROSS)
    figure.suptitle(_title(problem, section))
    return figure


def _title(problem: Problem, section: Section) -> str:
    fixed = "".join(f", {plain(name)} = {value:.3g}" for name, value in section.fixed.items())
    return f"{plain(problem.name, 60)}{fixed}: exact solution and mean absolute error"
