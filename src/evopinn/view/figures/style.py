"""The style of all figures: colours, sizes, fonts, and text from users, shown literally.

Figures are made without pyplot, so they need no screen and leave nothing behind. matplotlib keeps its
settings in one place for all threads; ours hold while a figure is made or saved, one at a time.
"""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import TextPath

from evopinn.atomic_write import atomic_write
from evopinn.errors import FigureError

Panel = Figure | SubFigure
"""The canvas of a figure with several axes."""

Size = tuple[float, float]

# The palette of Okabe and Ito (2008), made to be told apart by everybody. Its yellow is left to areas.
BLACK, GREY, PALE = "#000000", "#777777", "#D9D9D9"
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, YELLOW = "#E69F00", "#56B4E9", "#F0E442"
LINES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
AREAS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW)

SEQUENCE = "viridis"
"""The colours of values and of ordered items."""

ERRORS = "inferno"
"""The colours of errors, different from those of values."""

COLUMN, PAGE = 3.5, 7.0
"""Widths of one column and of the page in inches."""

SMALL = 7.0
"""The size in points of labels of ticks and legends; other text is a point larger."""

FORMATS = ("png", "pdf", "svg")

_STYLE: Mapping[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": BLACK,
    "axes.facecolor": "white",
    "axes.formatter.use_mathtext": True,
    "axes.labelcolor": BLACK,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.facecolor": "white",
    "figure.titlesize": 9,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.color": PALE,
    "grid.linewidth": 0.5,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,
    "savefig.dpi": 250,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "evopinn",
    "text.color": BLACK,
    "text.parse_math": True,
    "text.usetex": False,
    "xtick.labelsize": SMALL,
    "xtick.major.width": 0.6,
    "ytick.labelsize": SMALL,
    "ytick.major.width": 0.6,
}

# Without these a file would have the date in it, and never be the same twice.
UNDATED: Mapping[str, Mapping[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
}

_lock = threading.RLock()


@contextmanager
def styled() -> Generator[None]:
    """Apply our settings within a `with` block or, as a decorator, while a figure is made."""
    with _lock, mpl.rc_context(dict(_STYLE)):
        yield


def axes_on(ax: Axes | None, size: Size) -> Axes:
    """The axes that were given, or those of a new figure."""
    return dressed(new_figure(size).subplots()) if ax is None else ax


def panel_on(figure: Panel | None, size: Size) -> Panel:
    """The figure that was given, or a new one."""
    return new_figure(size) if figure is None else figure


def new_figure(size: Size) -> Figure:
    """An empty figure, in inches."""
    # A little more room than usual: ticks at the ends of neighbouring axes would touch.
    return Figure(figsize=size, layout=ConstrainedLayoutEngine(wspace=0.05))


def grid_of_axes(figure: Panel, rows: int, columns: int, **options: Any) -> list[list[Axes]]:
    """Axes in rows and columns."""
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    return [[dressed(ax) for ax in row] for row in grid.tolist()]


def dressed(ax: Axes) -> Axes:
    """The axes, with our sizes for their ticks, which matplotlib makes only when it draws them."""
    ax.tick_params(which="both", labelsize=SMALL, width=0.6)
    ax.tick_params(which="major", length=3)
    ax.tick_params(which="minor", length=1.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_size(SMALL)
    return ax


def shades(count: int) -> list[tuple[float, ...]]:
    """Colours of ordered items, first to last, none of them too light."""
    return [tuple(colour) for colour in mpl.colormaps[SEQUENCE](np.linspace(0.0, 0.85, count))]


def plain(text: str, limit: int | None = None) -> str:
    r"""Text from users, shown literally: no mathematics, no line breaks, no characters the font lacks.

    Args:
        text: Any.
        limit: The maximum number of characters.

    Examples:
        >>> plain("costs $5\nor _x_")
        'costs \\$5 or _x_'
    """
    words = " ".join(text.split())
    if limit is not None and len(words) > limit:
        words = f"{words[: limit - 1]}…"
    known = _characters()
    shown = "".join(each if each.isprintable() and each in known else "\ufffd" for each in words)
    # matplotlib leaves labels that begin with an underscore out of legends.
    return (" " if shown.startswith("_") else "") + shown.replace("$", r"\$")


def math(latex: str) -> str:
    """A formula, which must not contain text from users."""
    return f"${latex}$"


def text_width(text: str, size: float) -> float:
    """The width of a text in inches, at a size in points."""
    return (
        float(
            TextPath((0, 0), text, size=size, prop=FontProperties(family="DejaVu Sans")).get_extents().width
        )
        / 72
    )


@styled()
def save(figure: Panel | Axes, path: str | Path) -> Path:
    """Write a figure to a file, completely or not at all.

    Args:
        figure: The figure, or its axes.
        path: The file, whose ending sets the format: `.png`, `.pdf` or `.svg`.

    Returns:
        The path.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise FigureError(f"a figure cannot be written to {path}; end its name in .png, .pdf or .svg.")
    whole = whole_figure(figure)
    write = partial(whole.savefig, format=kind, metadata=dict(UNDATED[kind]))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, write)
    except OSError as error:
        raise FigureError(f"the figure cannot be written to {path}: {error.strerror}.") from error
    return path


def whole_figure(figure: Panel | Axes) -> Figure:
    """The figure that axes, or a part of a figure, belong to."""
    while not isinstance(figure, Figure):
        figure = figure.figure
    return figure


@cache
def _characters() -> frozenset[str]:
    return frozenset(map(chr, get_font(findfont("DejaVu Sans")).get_charmap()))
