"""Figures as files in memory, with titles and captions, for reports, studies and the dashboard."""

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure

from evopinn.errors import EvopinnError
from evopinn.view.figures.figure_table import FIGURES, Scene, draw
from evopinn.view.figures.style import UNDATED, styled
from evopinn.view.figures.subjects import Subject

_DOTS = 180
"""Dots per inch: twice the size of the widest figure on a page, for screens with small dots."""

_LARGEST_DRAWING = 160_000
"""The size in bytes above which a bitmap replaces a vector drawing, which would be slower to show."""

Undrawn = dict[str, str]
"""Names of figures that could not be drawn, with the reason."""


@dataclass(frozen=True)
class PictureRow:
    """A figure that is to become a picture.

    Attributes:
        name: The figure's.
        title: A heading.
        caption: What it shows, and how to read it.
        kind: `svg`, or `png` for many points or colours.
        part: The part of a report that it belongs to, if it is of a single run.
    """

    name: str
    title: str
    caption: str
    kind: str = "svg"
    part: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure, drawn; see `PictureRow`.

    Attributes:
        name: Of the figure, and of its file.
        title: A heading.
        caption: What is seen and how to read it.
        kind: `svg` or `png`.
        data: The file.
        width: In inches.
        part: The part of a report that it belongs to.
    """

    name: str
    title: str
    caption: str
    kind: str
    data: bytes
    width: float
    part: str = ""

    @property
    def media_type(self) -> str:
        """The name that browsers have for its format."""
        return "image/svg+xml" if self.kind == "svg" else "image/png"


def picture_row(name: str, scene: Scene) -> PictureRow:
    """One of the figures in `FIGURES`, with its title and caption."""
    row = FIGURES[name]
    return PictureRow(name, *row.words(scene), kind=row.kind, part=row.report)


def drawn(subject: Subject, names: Iterable[str], scene: Scene) -> tuple[dict[str, Picture], Undrawn]:
    """Draw figures of a run.

    Args:
        subject: The run.
        names: Names in `FIGURES`.
        scene: The facts that their titles and captions depend on.

    Returns:
        The pictures by name, and the reasons why others could not be drawn.
    """
    rows = [(picture_row(name, scene), partial(draw, name, subject)) for name in names]
    pictures, undrawn = drawn_rows(rows)
    return {each.name: each for each in pictures}, undrawn


def drawn_rows(rows: Iterable[tuple[PictureRow, Callable[[], Figure]]]) -> tuple[list[Picture], Undrawn]:
    """Draw figures, each by a function of its own.

    Returns:
        The pictures, and the reasons why others could not be drawn.
    """
    pictures: list[Picture] = []
    undrawn: Undrawn = {}
    for row, make in rows:
        try:
            pictures.append(picture(row, make()))
        except EvopinnError as reason:
            undrawn[row.name] = str(reason)
    return pictures, undrawn


def picture(row: PictureRow, figure: Figure) -> Picture:
    """A figure as a picture."""
    kind, data = row.kind, _written(figure, row.kind)
    if kind == "svg" and len(data) > _LARGEST_DRAWING:
        kind, data = "png", _written(figure, "png")
    return Picture(row.name, row.title, row.caption, kind, data, float(figure.get_figwidth()), row.part)


@styled()
def _written(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=_DOTS, metadata=dict(UNDATED[kind]))
    return file.getvalue()
