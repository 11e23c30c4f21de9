"""Activation functions and their derivatives, over the range that a network uses, beside common ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from evopinn.errors import FigureError
from evopinn.genome import Activation, Genome, common_activation
from evopinn.genome.printer import greek_letters
from evopinn.network import pre_activations
from evopinn.problem import Problem
from evopinn.training import TrainingResult
from evopinn.view.figures.style import (
    BLUE,
    GREY,
    PAGE,
    Panel,
    grid_of_axes,
    math,
    panel_on,
    plain,
    shades,
    styled,
    text_width,
)
from evopinn.view.figures.subjects import activation_of, problem_of

BESIDE = ("tanh", "sin", "swish")
"""Common activations to compare with."""

_USUAL = (-3.0, 3.0)
"""The range of a plot if the range that a network uses is unknown."""

_LARGE = 100.0
"""Values beyond which only a logarithmic axis shows the smaller ones too."""

_SHARES = (0.005, 0.25, 0.5, 0.75, 0.995)
"""Quantiles of the pre-activations of a layer: nearly all of them, half of them, the middle."""

_REACH = 6.0
"""The maximum distance of a plot beyond the quartiles, in units of the distance between them."""

_WAVES = ("sin", "cos")
_WIDEST_WAVES = 8 * np.pi
"""The widest range for common activations that oscillate; in a wider one they would be a black area."""

_POINTS = 20_000
_NODES = 401
_TITLE = 9.0
_ORDERS = ("f", "f'", "f''")
_DASHES = ("--", ":", "-.")

Range = tuple[float, float]
Colour = str | tuple[float, ...]


@dataclass(frozen=True, eq=False)
class LayerUse:
    """How a layer uses the activation.

    Attributes:
        layer: Its number.
        parameters: Those of the activation in this layer.
        quartiles: Of the pre-activations on the problem's points, if known: the quartiles, and before and
            after them the ends of what 99 % of all lie between.
    """

    layer: int
    parameters: Tensor
    quartiles: tuple[float, ...] | None

    @property
    def range(self) -> Range:
        """The range of most pre-activations, without the few outliers."""
        if self.quartiles is None:
            return _USUAL
        low, quarter, _, three_quarters, high = self.quartiles
        reach = _REACH * (three_quarters - quarter)
        if reach > 0:
            low, high = max(low, quarter - reach), min(high, three_quarters + reach)
        return (low, high) if low < high else (low - 1, high + 1)


@dataclass(frozen=True, eq=False)
class _ActivationCurve:
    """The activation with some parameters, over a range."""

    name: str
    parameters: Tensor
    range: Range


def activation(
    network: TrainingResult | Genome | Activation | str,
    *,
    problem: Problem | str | None = None,
    beside: Sequence[str] = BESIDE,
    figure: Panel | None = None,
) -> Panel:
    """Plot an activation function and its first two derivatives, beside common ones.

    For a trained network, each is plotted over the range of most pre-activations on the problem's points. If
    it has parameters, which differ from layer to layer, each layer has a curve. Another plot shows the
    ranges. An untrained network, or one whose problem cannot be found, is plotted around zero; unknown
    parameters are 1, as when a training begins.

    Args:
        network: A trained network, a genome, an activation, or the text of one of these.
        problem: The problem that the network was trained on, if its name does not lead to it.
        beside: Names of common activations, at most three.
        figure: Where to draw.
    """
    uses: Sequence[LayerUse] = ()
    if isinstance(network, TrainingResult):
        uses = layer_uses(network, _found(network, problem))
    return draw_activation(activation_of(network), uses, beside, figure)


@styled()
def draw_activation(
    function: Activation,
    uses: Sequence[LayerUse],
    beside: Sequence[str] = BESIDE,
    figure: Panel | None = None,
) -> Panel:
    """Plot an activation function over the range that layers use, or around zero if that is unknown.

    Args:
        function: The activation.
        uses: How each layer uses it; empty if there is no trained network.
        beside: Names of common activations.
        figure: Where to draw.
    """
    if len(beside) > len(_DASHES):
        raise FigureError(f"beside has {len(beside)} activations; give at most {len(_DASHES)}.")
    curves = _curves(function, uses)
    colours: Sequence[Colour] = shades(len(curves)) if len(curves) > 1 else [BLUE]
    widest = min(curve.range[0] for curve in curves), max(curve.range[1] for curve in curves)
    heights = [2.5, 0.6 + 0.16 * len(uses)] if uses else [2.5]
    figure = panel_on(figure, (PAGE, sum(heights)))
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False).ravel().tolist()
    for order, ax in enumerate(grid_of_axes(parts[0], 1, 3)[0]):
        low, high = _plot(ax, function, curves, colours, order)
        _plot_beside(ax, beside, widest, order)
        if max(high, -low) > _LARGE:
            ax.set_yscale("symlog", linthresh=1.0)
            ax.set_yticks(_powers(low, high))
        else:
            margin = 0.3 * (high - low) or 1.0
            ax.set_ylim(low - margin, high + margin)  # a common one that grows faster is cut off
        ax.set_xlim(widest)
        ax.set_xlabel("pre-activation $x$")
        ax.set_title(math(f"{_ORDERS[order]}(x)"))
        ax.grid(visible=True)
    handles, labels = parts[0].axes[0].get_legend_handles_labels()
    parts[0].legend(handles, labels, loc="outside lower center", ncols=max(1, len(handles)))
    title = math(rf"f(x) = {function.latex()}")
    parts[0].suptitle(title, size=_TITLE * min(1.0, 0.95 * PAGE / text_width(title, _TITLE)))
    if uses:
        shown = colours if len(colours) == len(uses) else [BLUE] * len(uses)
        _show_ranges(grid_of_axes(parts[1], 1, 1)[0][0], uses, shown)
    return figure


def layer_uses(result: TrainingResult, problem: Problem | None) -> tuple[LayerUse, ...]:
    """How each hidden layer of a trained network uses the activation.

    Args:
        result: The network.
        problem: The problem that it was trained on; None if it is not available.
    """
    tensors = result.layout.unpack(result.theta)
    values: Sequence[Tensor | None] = [None] * (result.genome.structure.layers - 1)
    if problem is not None:
        with torch.no_grad():
            inputs = result.scales.inputs(_points(problem).to(result.theta))
            values = pre_activations(result.genome, tensors, inputs)[:-1]
    none = result.theta.new_zeros(0)
    return tuple(
        LayerUse(layer, tensors.get(f"activations.{layer}", none).to(torch.float64), _quartiles(each))
        for layer, each in enumerate(values)
    )


def derivative(function: Activation, parameters: Tensor, x: Tensor, order: int) -> Tensor:
    """The function, or a derivative of it by automatic differentiation, shape of x."""
    x = x.detach().requires_grad_()
    value = function(x, parameters)
    for _ in range(order):
        if not value.requires_grad:  # a constant: nothing of x is left in it
            return torch.zeros_like(x)
        (value,) = torch.autograd.grad(
            value.sum(), x, create_graph=True, allow_unused=True, materialize_grads=True
        )
    return value.detach()


def _found(result: TrainingResult, problem: Problem | str | None) -> Problem | None:
    """The given problem, or else the one that the network names; None if that cannot be loaded."""
    try:
        return problem_of(result, problem)
    except FigureError:
        if problem is not None:
            raise
        return None


def _points(problem: Problem) -> Tensor:
    """Some of the points that a network is trained on."""
    points = torch.cat([side.points for term in problem.terms() for side in term.sides])
    return points[:: -(-len(points) // _POINTS)]


def _quartiles(values: Tensor | None) -> tuple[float, ...] | None:
    if values is None:
        return None
    flat = values.flatten().to(torch.float64).numpy()
    flat = flat[np.isfinite(flat)]
    return tuple(map(float, np.quantile(flat, _SHARES))) if len(flat) else None


def _curves(function: Activation, uses: Sequence[LayerUse]) -> list[_ActivationCurve]:
    """One curve for each layer if they differ, otherwise one for all."""
    if function.parameters and uses:
        return [_ActivationCurve(f"layer {use.layer}", use.parameters, use.range) for use in uses]
    ranges = [use.range for use in uses] or [_USUAL]
    widest = min(low for low, _ in ranges), max(high for _, high in ranges)
    return [_ActivationCurve("all layers", torch.ones(function.parameters, dtype=torch.float64), widest)]


def _plot(
    ax: Axes, function: Activation, curves: Sequence[_ActivationCurve], colours: Sequence[Colour], order: int
) -> Range:
    """Plot the activation or a derivative; gives the range of its values."""
    bounds = [0.0]
    for curve, colour in zip(curves, colours, strict=True):
        x = torch.linspace(*curve.range, _NODES, dtype=torch.float64)
        y = derivative(function, curve.parameters, x, order).numpy()
        (line,) = ax.plot(x.numpy(), y, color=colour)
        line.set_gid(curve.name)
        finite = y[np.isfinite(y)]
        bounds += [float(finite.min()), float(finite.max())] if len(finite) else []
    return min(bounds), max(bounds)


def _powers(low: float, high: float) -> list[float]:
    """Zero and powers of ten for an axis that is logarithmic away from it, at most three on each side."""
    decades = int(np.log10(max(high, -low)))
    ticks = [10.0**power for power in range(-(-decades // 3), decades + 1, -(-decades // 3))]
    return [tick for tick in [*(-tick for tick in reversed(ticks)), 0.0, *ticks] if low <= tick <= high]


def _plot_beside(ax: Axes, names: Sequence[str], widest: Range, order: int) -> None:
    x = torch.linspace(*widest, _NODES, dtype=torch.float64)
    for name, dashes in zip(names, _DASHES, strict=False):
        if name in _WAVES and widest[1] - widest[0] > _WIDEST_WAVES:
            continue
        common = common_activation(name)
        y = derivative(common, torch.ones(common.parameters, dtype=torch.float64), x, order)
        ax.plot(x.numpy(), y.numpy(), color=GREY, linestyle=dashes, linewidth=0.9, label=plain(name))


def _show_ranges(ax: Axes, uses: Sequence[LayerUse], colours: Sequence[Colour]) -> None:
    """The pre-activations of each layer: a line for 99 % of them, a bar from quartile to quartile."""
    for use, colour in zip(uses, colours, strict=True):
        if use.quartiles is not None:
            low, quarter, middle, three_quarters, high = use.quartiles
            height = [use.layer, use.layer]
            ax.plot([low, high], height, color=colour, linewidth=0.8)
            (bar,) = ax.plot(
                [quarter, three_quarters], height, color=colour, linewidth=5, solid_capstyle="butt"
            )
            bar.set_gid(f"layer {use.layer}")
            ax.plot([middle], [use.layer], "|", color="white", markersize=5)
    if all(use.quartiles is None for use in uses):
        ax.text(0.5, 0.5, "not measured: the problem is not available", ha="center", transform=ax.transAxes)
    ax.set_yticks([use.layer for use in uses], [_layer_label(use) for use in uses])
    ax.set_ylim(len(uses) - 0.5, -0.5)
    ax.set_xlabel("pre-activation $x$: 99 % of all, quartiles, median")
    ax.set_ylabel("layer and\nparameters" if len(uses[0].parameters) else "layer")


def _layer_label(use: LayerUse) -> str:
    values = zip(greek_letters(), map(float, use.parameters), strict=False)
    return "  ".join([str(use.layer), *(math(f"{name}={value:.2f}") for name, value in values)])
