"""The parts of a study's page, and those shared by several kinds of studies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evopinn.lab.studies.convergence import convergence
from evopinn.lab.studies.design import Design
from evopinn.lab.studies.error_maps import error_maps
from evopinn.lab.studies.labels import case_label
from evopinn.lab.studies.trials import Trial, fields_of
from evopinn.view.figures.pictures import Picture, PictureRow, drawn_rows
from evopinn.view.figures.style import Panel, whole_figure
from evopinn.view.tables import Table

Drawing = tuple[PictureRow, Callable[[], Panel | Axes]]
"""A figure in words, and the function that draws it."""

_CONVERGENCE = PictureRow(
    "convergence",
    "How the models were trained",
    "Loss and relative error over the epochs, a row for each case. A line is the mean over the trainings of "
    "a model; models of a method share a colour, its searches differ in dashes. A line that still falls at "
    "the end would have gained from more epochs.",
)


@dataclass(frozen=True)
class PagePart:
    """A part of the page.

    Attributes:
        key: Its name in links.
        title: Its heading.
        words: Paragraphs below the heading.
        tables: Its tables.
        pictures: Its figures, below the tables.
        undrawn: Figures that could not be drawn, with the reason.
    """

    key: str
    title: str
    words: Sequence[str]
    tables: Sequence[Table]
    pictures: Sequence[Picture]
    undrawn: Mapping[str, str]

    @classmethod
    def of(
        cls,
        key: str,
        title: str,
        *,
        words: Sequence[str] = (),
        tables: Sequence[Table] = (),
        drawings: Iterable[Drawing] = (),
    ) -> "PagePart":
        """A part with its figures drawn."""
        rows = [(row, partial(_figure, draw)) for row, draw in drawings]
        return cls(key, title, words, tables, *drawn_rows(rows))


def training_parts(design: Design, trials: Sequence[Trial]) -> list[PagePart]:
    """The parts on the training of models and, if a solution is known, on the places of their errors."""
    histories = PagePart.of("courses", "Training", drawings=[(_CONVERGENCE, lambda: convergence(trials))])
    if not fields_of(trials):
        return [histories]
    words = (
        "The known solution of each case, and the absolute error of each method's models, as the mean over "
        "all of their trainings. All errors of a field have the same colours: darker is more exact."
    )
    maps = [_map(case, trials) for case in design.case_names()]
    return [histories, PagePart.of("maps", "Where they err", words=[words], drawings=maps)]


def of_case(row: PictureRow, case: str, *words: str) -> PictureRow:
    """A figure of one case."""
    label = ", ".join([f"case {case_label(case)}", *words])
    return replace(row, name=f"{row.name}, {label}", title=f"{row.title}: {label}")


def _map(case: str, trials: Sequence[Trial]) -> Drawing:
    label = case_label(case)
    row = PictureRow(f"maps-{label}", f"Case {label}", "Exact solution and mean absolute error.", "png")
    return row, lambda: error_maps(trials, case)


def _figure(draw: Callable[[], Panel | Axes]) -> Figure:
    return whole_figure(draw())
