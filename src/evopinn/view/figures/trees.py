"""Activation functions as trees of operators and as formulas."""

from dataclasses import dataclass

from matplotlib.axes import Axes

from evopinn.genome import Activation, Genome, Node, operator
from evopinn.genome.printer import greek_letters
from evopinn.genome.tree import Path, walk
from evopinn.training import TrainingResult
from evopinn.view.figures.style import (
    BLUE,
    GREEN,
    GREY,
    PAGE,
    VERMILION,
    axes_on,
    math,
    styled,
    text_width,
)
from evopinn.view.figures.subjects import activation_of

ActivationLike = TrainingResult | Genome | Activation | str

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": r"\times",
    "div": r"\div",
    "neg": r"-(\cdot)",
    "inv": r"1/\cdot",
    "square": r"(\cdot)^2",
}
"""Operators that a sign between or before operands stands for."""

_FORMULA_SIZE = 14.0


@dataclass(frozen=True)
class _TreeBox:
    """A box of the drawing: an operator, or the x that enters a leaf.

    Attributes:
        words: Its text in LaTeX.
        x: Its place from left to right, in leaves.
        y: Its place from the root down; each row is lower by one.
        above: The place that its output goes to.
        parameter: The parameter that multiplies its output; empty if none does.
        kind: "operator" or "input".
    """

    words: str
    x: float
    y: float
    above: tuple[float, float]
    parameter: str
    kind: str


@styled()
def tree(activation: ActivationLike, *, ax: Axes | None = None) -> Axes:
    """Draw the tree of an activation function: operators, and the parameters on edges.

    Args:
        activation: The activation or its text, or a network that has one.
        ax: Where to draw.
    """
    places = _places(activation_of(activation).root)
    right, bottom = max(place.x for place in places), min(place.y for place in places)
    ax = axes_on(ax, (min(PAGE, 0.85 * (right + 1.4)), 0.45 * (2.0 - bottom)))
    for place in places:
        _draw_edge(ax, place)
        colour = GREEN if place.kind == "input" else BLUE
        box = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": colour, "lw": 1.0}
        node = ax.text(place.x, place.y, math(place.words), ha="center", va="center", bbox=box)
        node.set_gid(place.kind)
    ax.text(places[0].x, 1, math("f(x)"), ha="center", va="bottom")
    ax.set_xlim(-0.7, right + 0.7)
    ax.set_ylim(bottom - 0.5, 1.5)
    ax.set_axis_off()
    return ax


def _draw_edge(ax: Axes, place: _TreeBox) -> None:
    x, y = place.above
    ax.plot([place.x, x], [place.y, y], color=GREY, linewidth=0.9, zorder=1)
    if place.parameter:
        middle = (place.x + x) / 2, (place.y + y) / 2
        box = {"boxstyle": "circle,pad=0.1", "fc": "white", "ec": "none"}
        label = ax.text(*middle, math(place.parameter), ha="center", va="center", color=VERMILION, bbox=box)
        label.set_gid("parameter")


def _places(root: Node) -> list[_TreeBox]:
    """All boxes, the root first; parameters are named in the order of their edges, as in the formula."""
    nodes = list(walk(root))
    columns = _columns(nodes)
    names = greek_letters()
    places: list[_TreeBox] = []
    for path, node in nodes:
        x, y = columns[path], -float(len(path))
        above = (columns[path[:-1]], y + 1) if path else (x, 1.0)
        name = next(names) if node.scaled else ""
        places.append(_TreeBox(operator_sign(node.operator), x, y, above, name, "operator"))
        if node.is_leaf:
            name = next(names) if node.input_scaled else ""
            places.append(_TreeBox("x", x, y - 1, (x, y), name, "input"))
    return places


def _columns(nodes: list[tuple[Path, Node]]) -> dict[Path, float]:
    """The place of each node from left to right: leaves side by side, others above their children."""
    leaves = (path for path, node in nodes if node.is_leaf)
    columns = {path: float(column) for column, path in enumerate(leaves)}
    for path, node in reversed(nodes):  # children before parents
        if not node.is_leaf:
            below = [columns[*path, child] for child in range(len(node.children))]
            columns[path] = sum(below) / len(below)
    return columns


def operator_sign(name: str) -> str:
    r"""An operator in LaTeX without operands: a name, a sign, or a pattern with a dot for the operand.

    Examples:
        >>> operator_sign("tanh"), operator_sign("mul"), operator_sign("exp_minus_one")
        ('\\tanh', '\\times', 'e^{\\cdot} - 1')
    """
    if name in _SIGNS:
        return _SIGNS[name]
    pattern = operator(name).latex.template
    head, call, _ = pattern.partition("(#")
    return head if call else pattern.replace("#1", r"\cdot")


@styled()
def formula(activation: ActivationLike, *, ax: Axes | None = None) -> Axes:
    """Write an activation function as a formula, in smaller letters if it is long.

    Args:
        activation: The activation or its text, or a network that has one.
        ax: Where to write.
    """
    words = math(rf"f(x) = {activation_of(activation).latex()}")
    width = text_width(words, _FORMULA_SIZE) + 0.3
    room = PAGE if ax is None else ax.bbox.width / ax.figure.dpi
    ax = axes_on(ax, (min(width, PAGE), 0.7))
    size = _FORMULA_SIZE * min(1.0, room / width)
    ax.text(0.5, 0.5, words, ha="center", va="center", size=size, transform=ax.transAxes)
    ax.set_axis_off()
    return ax
