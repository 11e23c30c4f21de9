"""Diagrams of a network's layers and shortcuts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from evopinn.genome import Genome, Structure
from evopinn.training import TrainingResult
from evopinn.view.figures.style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    PAGE,
    VERMILION,
    axes_on,
    plain,
    styled,
    text_width,
)
from evopinn.view.figures.subjects import structure_of

_UNIT = 0.62  # inches from one layer to the next, which is 1 in the drawing, if there is room
_LETTERS = 8.0
_HALF = 0.27  # of a box's width
_HEIGHT = 0.42
_GAP = 0.22  # from the end of what is written beside to where its arrow begins or ends
_SUM, _BRANCH = 0.40, 0.60  # where, between two boxes, a shortcut arrives and where the next departs
_ABOVE = 0.85


@styled()
def structure(
    network: TrainingResult | Genome | Structure | str,
    *,
    coordinates: Sequence[str] = (),
    fields: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw the layers of a network and its shortcuts.

    A box is a layer, with its number below, its neurons inside, and `f` if the activation follows. A shortcut
    carries the input of its first layer to the input of the layer that it leads to, where it is added.

    Args:
        network: A trained network, a genome or its text, or a structure.
        coordinates: The names of its inputs; a trained network knows them.
        fields: The names of its outputs; likewise.
        ax: Where to draw.
    """
    given = structure_of(network)
    if isinstance(network, TrainingResult):
        coordinates, fields = network.coordinates, network.fields
    inputs = plain(", ".join(coordinates), 20) if coordinates else "input"
    outputs = plain(", ".join(fields), 20) if fields else "output"
    count = str(len(fields)) if fields else "–"
    beside = [text_width(words, _LETTERS) / _UNIT + 0.15 for words in (inputs, outputs)]
    left, right = _GAP - beside[0], given.layers + 1 - _GAP + beside[1]
    low, high = -0.75, 0.95 if given.shortcuts else 0.55
    room = PAGE if ax is None else ax.bbox.width / ax.figure.dpi
    unit = min(_UNIT, room / (right - left))
    title = _title(network, given)
    width = max(unit * (right - left), text_width(title, _LETTERS) + 0.3)  # a few layers are narrower
    ax = axes_on(ax, (width, unit * (high - low) + 0.25))
    drawing = _Drawing(ax, unit / _UNIT)
    drawing.words(_GAP, 0, inputs, ha="right")
    drawing.words(given.layers + 1 - _GAP, 0, outputs, ha="left")
    for layer in range(given.layers):
        final = layer == given.layers - 1
        drawing.box(layer, count if final else f"{given.neurons}\n$f$", ORANGE if final else BLUE)
    for place in range(given.layers + 1):
        drawing.arrow(place)
    for start, end in given.shortcuts:
        drawing.shortcut(start, end)
    drawing.words(_GAP, -_HEIGHT - 0.1, "layer", ha="right", va="top", color=GREY)
    ax.set_title(title)
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


@dataclass(frozen=True)
class _Drawing:
    """The parts of a diagram; `scale` makes letters and lines smaller if there are many layers."""

    ax: Axes
    scale: float

    def words(self, x: float, y: float, words: str, **look: Any) -> None:
        usual = {"ha": "center", "va": "center", "size": _LETTERS * self.scale, "linespacing": 1.5}
        self.ax.text(x, y, words, **(usual | look))

    def box(self, layer: int, words: str, colour: str) -> None:
        box = FancyBboxPatch(
            (layer + 1 - _HALF, -_HEIGHT),
            2 * _HALF,
            2 * _HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.1",
            fc=(colour, 0.15),
            ec=colour,
        )
        box.set_gid(f"layer {layer}")
        self.ax.add_patch(box)
        self.words(layer + 1, 0, words)
        self.words(layer + 1, -_HEIGHT - 0.1, str(layer), va="top", color=GREY)

    def arrow(self, place: int) -> None:
        """Draw an arrow from a layer, or the input, to the next."""
        head = f"-|>,head_width={0.12 * self.scale},head_length={0.25 * self.scale}"
        look = {"arrowstyle": head, "shrinkA": 0, "shrinkB": 0, "lw": 0.8 * self.scale, "color": BLACK}
        self.ax.annotate("", (place + 1 - _HALF, 0), (place + _HALF, 0), arrowprops=look)

    def shortcut(self, start: int, end: int) -> None:
        leaves, arrives = start + _BRANCH, end + _SUM
        path = ([leaves, leaves, arrives, arrives], [0, _ABOVE, _ABOVE, 0])
        (line,) = self.ax.plot(*path, color=VERMILION, linewidth=1.2 * self.scale, zorder=2.5)
        line.set_gid(f"shortcut {start}-{end}")
        ring = {"markersize": 7 * self.scale, "markerfacecolor": "white", "markeredgecolor": VERMILION}
        cross = {"markersize": 4.5 * self.scale, "markeredgewidth": 0.8 * self.scale, "color": BLACK}
        self.ax.plot([leaves], [0], "o", markersize=2.5 * self.scale, color=VERMILION, zorder=3)
        self.ax.plot([arrives], [0], "o", zorder=3, **ring)
        self.ax.plot([arrives], [0], "+", zorder=4, **cross)


def _title(network: object, given: Structure) -> str:
    layers = f"{_counted(given.layers - 1, 'hidden layer')} of {given.neurons} neurons"
    parts = [layers, _counted(len(given.shortcuts), "shortcut")]
    if isinstance(network, TrainingResult):
        parts.append(f"{network.parameters:,} parameters")
    return ", ".join(parts)


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
