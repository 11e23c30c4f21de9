"""Loss and error over the epochs of trainings, with mean and range over trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from evopinn.errors import FigureError
from evopinn.run.architecture import function_text, structure_text
from evopinn.run.run_result import RunResult
from evopinn.store.reader import Reader
from evopinn.training import History, TrainingResult
from evopinn.view.figures.style import LINES, PAGE, Panel, grid_of_axes, panel_on, plain, styled

Array = NDArray[np.float64]
HistoryLike = TrainingResult | History
Trials = HistoryLike | Sequence[HistoryLike]

_NODES = 1000
_LISTED = len(LINES)
_LABEL = 90
_FEW = 30
_WITH_GAPS: Mapping[str, Any] = {"marker": "o", "markersize": 4, "linestyle": ":", "linewidth": 0.7}


@dataclass(frozen=True, eq=False)
class Band:
    """A quantity over the epochs of several trials: mean, lowest and highest.

    Attributes:
        epochs: Shape (n,).
        mean: Over the trials, shape (n,).
        least: The lowest of them.
        greatest: The highest.
        trials: The number of trials.
    """

    epochs: Array
    mean: Array
    least: Array
    greatest: Array
    trials: int


@styled()
def convergence(
    models: Mapping[str, Trials] | Trials | RunResult,
    *,
    field: str | None = None,
    figure: Panel | None = None,
) -> Panel:
    """Plot the loss, and the error where it is known, over the epochs of a training.

    A line is the mean over the trials of a model, with a band from the lowest to the highest. A trial that
    ended early keeps its last value; values that are not finite are left out. If only a few epochs were
    measured, they are drawn as dots.

    Args:
        models: By name, a training or a list of trials: trained networks or their histories. Or one of these
            without a name; or the result of a search, whose finalists are plotted.
        field: The field whose error is plotted; by default the largest of all fields' errors.
        figure: Where to draw.
    """
    named = _named(models)
    if len(named) > _LISTED:
        raise FigureError(
            f"{len(named)} models are too many to tell their lines apart; give at most {_LISTED}."
        )
    losses = {name: band_of([losses_of(_history(each)) for each in trials]) for name, trials in named.items()}
    errors = {
        name: band_of([errors_of(_history(each), field) for each in trials]) for name, trials in named.items()
    }
    if not any(losses.values()):
        raise FigureError("no training history with a finite loss is recorded.")
    measured = any(errors.values())
    figure = panel_on(figure, (PAGE, 2.6 + 0.16 * len(named)))
    axes = grid_of_axes(figure, 1, 1 + measured)[0]
    _plot(axes[0], losses, "loss")
    if measured:
        _plot(axes[1], errors, "relative L₂ error" + (f" of {plain(field)}" if field else ""))
    handles, labels = axes[0].get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower left", ncols=1)
    return figure


def finalist_histories(run: RunResult, size: int = 3) -> dict[str, list[History]]:
    """The histories of the finalists' trials, by rank and genome; before the finals, of the best genomes."""
    with Reader(run.directory) as reader:
        finalists = [(each.genome, each.tasks) for each in reader.finalists(size)]
        best = finalists or [(each.genome, (each.task,)) for each in reader.hall_of_fame(size)]
        found = [(genome, [reader.history(task) for task in tasks]) for genome, tasks in best]
    known = ((genome, [each for each in histories if each is not None]) for genome, histories in found)
    return {
        f"{rank}: {function_text(genome)}, {structure_text(genome)}": each
        for rank, (genome, each) in enumerate(known, start=1)
        if each
    }


def band_of(trials: Sequence[tuple[Array, Array]]) -> Band | None:
    """The band of trials, each a pair of epochs and values; None if no value is finite."""
    known = [(epochs[np.isfinite(values)], values[np.isfinite(values)]) for epochs, values in trials]
    known = [(epochs, values) for epochs, values in known if len(epochs)]
    if not known:
        return None
    nodes = np.unique(np.concatenate([epochs for epochs, _ in known]))
    nodes = nodes[np.unique(np.linspace(0, len(nodes) - 1, _NODES).round().astype(int))]
    nodes = nodes[nodes >= max(epochs[0] for epochs, _ in known)]
    # The last value measured at or before a node; after its end, a trial keeps its last value.
    values = np.stack([values[np.searchsorted(epochs, nodes, side="right") - 1] for epochs, values in known])
    return Band(nodes, values.mean(axis=0), values.min(axis=0), values.max(axis=0), len(known))


def _named(models: Mapping[str, Trials] | Trials | RunResult) -> dict[str, Sequence[HistoryLike]]:
    if isinstance(models, RunResult):
        return dict(finalist_histories(models))
    table = models if isinstance(models, Mapping) else {"": models}
    return {name: [each] if isinstance(each, HistoryLike) else list(each) for name, each in table.items()}


def _history(given: HistoryLike) -> History:
    return given.history if isinstance(given, TrainingResult) else given


def losses_of(history: History) -> tuple[Array, Array]:
    """The epochs of a training and its losses after them."""
    return np.array(history.epochs, dtype=float), np.array(history.losses, dtype=float)


def errors_of(history: History, field: str | None) -> tuple[Array, Array]:
    """The epochs at which errors were measured, and the errors of a field; by default the largest of all."""
    if field is not None and history.errors and field not in history.errors:
        raise FigureError(f"there is no error of {field!r}; choose from {', '.join(history.errors)}.")
    chosen = history.errors.values() if field is None else [history.errors.get(field, ())]
    series = [np.array(each, dtype=float) for each in chosen if len(each)]
    epochs = np.array(history.error_epochs, dtype=float)
    return (epochs, np.max(series, axis=0)) if series else (epochs[:0], epochs[:0])


def _plot(ax: Axes, bands: Mapping[str, Band | None], quantity: str) -> None:
    gaps = False
    for place, ((name, each), colour) in enumerate(zip(bands.items(), LINES, strict=False), start=1):
        if each is None:
            continue
        trials = f" (mean of {each.trials})" if each.trials > 1 else ""
        label = plain(name, _LABEL) + trials if name else trials.strip()
        look = _look(each)
        gaps = gaps or look == _WITH_GAPS
        (line,) = ax.plot(each.epochs, each.mean, color=colour, label=label, **look)
        line.set_gid(f"model {place}")
        if each.trials > 1 and look == _WITH_GAPS:
            ax.vlines(each.epochs, each.least, each.greatest, color=colour, alpha=0.4, linewidth=2)
        elif each.trials > 1:
            ax.fill_between(each.epochs, each.least, each.greatest, color=colour, alpha=0.2, linewidth=0)
    ax.set_yscale("log")
    ax.set_xlabel("epoch (recorded at the dots)" if gaps else "epoch")
    ax.set_ylabel(quantity)
    ax.grid(visible=True)


def _look(band: Band) -> Mapping[str, Any]:
    """Few values are drawn as dots: a line would suggest values in between."""
    if len(band.epochs) >= _FEW:
        return {}
    return _WITH_GAPS if np.diff(band.epochs).max(initial=1) > 1 else {"marker": "."}
