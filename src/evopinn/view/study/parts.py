"""The parts of a study's page, kind by kind: what is shown, in which order, with which words."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evopinn.study.compare import OURS, ComparisonStudy
from evopinn.study.design import Design
from evopinn.study.ranking import Ranked
from evopinn.study.reproduce import ReproductionStudy
from evopinn.study.sensitivity import SensitivityStudy
from evopinn.study.trials import Trial, fields_of, quantities
from evopinn.view.figures.style import whole_figure
from evopinn.view.report.pictures import PictureRow, drawn_rows
from evopinn.view.study import figures
from evopinn.view.study.facts import StudyPart
from evopinn.view.study.sheets import Sheet
from evopinn.view.study.tables import (
    accounting_table,
    contrasts_table,
    discovery_tables,
    methods_table,
    morris_table,
    ranking_table,
    reproduction_table,
    sensitivity_table,
)
from evopinn.view.study.tables.comparison import SIGNIFICANT
from evopinn.view.study.tables.forecast import PAPER_TIME
from evopinn.view.study.tables.reproduction import verdicts_note
from evopinn.view.study.tables.sensitivity import by_case
from evopinn.view.study.wording import case_label, conditions_note, measure_of, method_of

Shown = tuple[Sequence[str], Sequence[StudyPart]]
"""What came out, in sentences; and the parts of the page."""

Drawn = tuple[PictureRow, Callable[[], Figure]]


@dataclass(frozen=True)
class Kind:
    """A kind of study.

    Attributes:
        title: Of its page.
        asked: In a sentence.
        command: That carries it out.
        shown: Makes the parts of its page.
    """

    title: str
    asked: str
    command: str
    shown: Callable[[Any, Path, Sequence[Trial]], Shown]


_COURSES = PictureRow(
    "convergence",
    "How the models were trained",
    "Loss and relative error over the epochs, a row for each case. A line is the mean over the trainings of "
    "a model; models of a method share a colour, its searches differ in dashes. A line that still falls at "
    "the end would have gained from more epochs.",
)
_PROGRESS = PictureRow(
    "progress",
    "Best loss against cost",
    "The least loss that searches have seen after so many epochs of all their trainings; a thin line is a "
    "search, a thick one the geometric mean of a method's. How far apart two lines are sideways says how "
    "much cheaper the same loss has become. Losses of short trainings come first: a method that begins with "
    "them begins higher.",
)
_SENSED = PictureRow(
    "sensitivity",
    "Errors and courses by what is varied",
    "A row for each objective. Left a dot is a training and a bar the mean of a value's; right is the mean "
    "course of the same trainings in the same colours. The baseline's value is bold. Where dots of all "
    "values lie at one height, the objective hardly matters.",
)
_RANKING = PictureRow(
    "ranking",
    "What matters most",
    "How far apart the errors of an objective's values are, in powers of ten, and its share of all effects. "
    "The orange mark is what luck alone would give: a bar that ends near it shows nothing.",
)
_MORRIS = PictureRow(
    "morris",
    "Morris' mean effects",
    "The mean size of the effect of a factor's step, with its interval of 95 %.",
)


def _reproduction(study: ReproductionStudy, directory: Path, trials: Sequence[Trial]) -> Shown:  # noqa: ARG001
    sheet = reproduction_table(study, trials)
    parts = [
        _part("models", "Published and measured", sheets=[sheet]),
        _part("courses", "Courses", rows=[(_COURSES, partial(_convergence, trials))]),
        *_maps(study.design, trials),
    ]
    return [verdicts_note(study.table(trials)), conditions_note(study.design)], parts


def _comparison(study: ComparisonStudy, directory: Path, trials: Sequence[Trial]) -> Shown:
    discoveries = study.discoveries(directory)
    epochs = {method: study.epochs(method) for method in study.methods}
    parts = [
        _part(
            "methods",
            "The methods",
            sheets=[methods_table(study, trials), contrasts_table(study, trials)],
        ),
        _part(
            "cost",
            "Cost",
            words=[PAPER_TIME],
            sheets=[accounting_table(study, discoveries)],
            rows=[(_PROGRESS, lambda: whole_figure(figures.progress(study.courses(directory), epochs)))],
        ),
        _part("models", "Discovered models", sheets=discovery_tables(study, discoveries, trials)),
        _part("courses", "Courses", rows=[(_COURSES, partial(_convergence, trials))]),
        *_maps(study.design, trials),
    ]
    return _compared(study, trials), parts


def _sensitivity(study: SensitivityStudy, directory: Path, trials: Sequence[Trial]) -> Shown:
    ranked, morris = study.ranking(trials), study.morris(directory)
    cases = by_case(ranked)
    pictures = [
        _sensed(study, trials, case, field)
        for case in study.design.case_names()
        for field in fields_of(trials) or (None,)
    ]
    parts = [
        _part(
            "ranking",
            "Ranking",
            sheets=[ranking_table(ranked)],
            rows=[
                (_of_case(_RANKING, case), partial(_drawn, figures.ranking, own))
                for case, own in cases.items()
            ],
        ),
        _part("values", "Value by value", sheets=[sensitivity_table(study.table(trials))], rows=pictures),
    ]
    if morris is not None:
        rows = [
            (_of_case(_MORRIS, case), partial(_drawn, figures.morris, own))
            for case, own in by_case(morris).items()
        ]
        parts.append(_part("morris", "All together", sheets=[morris_table(morris)], rows=rows))
    return [_ranked(case, own) for case, own in cases.items()], parts


KINDS: Mapping[str, Kind] = {
    "reproduce": Kind(
        "{problem}: published models, trained again",
        "Do the published models come out as the paper says when they are trained anew?",
        "reproduce table",
        _reproduction,
    ),
    "compare": Kind(
        "{problem}: methods compared at equal cost",
        "Which method finds the better networks when all train for as many epochs? What each search found is "
        "trained from scratch, on the problem that was searched and on its other cases.",
        "compare",
        _comparison,
    ),
    "sensitivity": Kind(
        "{problem}: what each choice matters",
        "How much do layers, neurons, shortcuts and activation matter for the error, each varied alone from "
        "a common baseline?",
        "sensitivity",
        _sensitivity,
    ),
}
"""By the word that designs have for them."""


def _part(
    key: str,
    title: str,
    *,
    words: Sequence[str] = (),
    sheets: Sequence[Sheet] = (),
    rows: Iterable[Drawn] = (),
) -> StudyPart:
    pictures, undrawn = drawn_rows(rows)
    return StudyPart(key, title, words, sheets, pictures, undrawn)


def _convergence(trials: Sequence[Trial]) -> Figure:
    return whole_figure(figures.convergence(trials))


def _maps(design: Design, trials: Sequence[Trial]) -> list[StudyPart]:
    """None where no solution is known."""
    if not fields_of(trials):
        return []
    rows = [_map(case, trials) for case in design.case_names()]
    words = (
        "The known solution of each case, and the absolute error of each method's models, as the mean over "
        "all of their trainings. All errors of a field have the same colours: darker is more exact."
    )
    return [_part("maps", "Where they err", words=[words], rows=rows)]


def _map(case: str, trials: Sequence[Trial]) -> Drawn:
    label = case_label(case)
    row = PictureRow(f"maps-{label}", f"Case {label}", "Exact solution and mean absolute error.", "png")
    return row, lambda: whole_figure(figures.error_maps(trials, case))


def _sensed(study: SensitivityStudy, trials: Sequence[Trial], case: str, field: str | None) -> Drawn:
    row = _of_case(_SENSED, case, field or "loss")
    return row, lambda: whole_figure(figures.sensitivity(study, trials, case, field=field))


def _drawn(make: Callable[[Any], Axes], rows: Any) -> Figure:
    return whole_figure(make(rows))


def _of_case(row: PictureRow, case: str, *words: str) -> PictureRow:
    """A figure that there is one of for each case."""
    label = ", ".join([f"case {case_label(case)}", *words])
    return replace(row, name=f"{row.name}, {label}", title=f"{row.title}: {label}")


def _ranked(case: str, rows: Sequence[Ranked]) -> str:
    listed = ", ".join(f"{each.objective} ({each.effect:.2g} decades; best {each.best})" for each in rows)
    shown = [each.objective for each in rows if each.p_holm <= SIGNIFICANT]
    beyond = f"More than luck (p ≤ {SIGNIFICANT:g} after Holm's correction): {', '.join(shown) or 'none'}."
    return f"What matters on case {case_label(case)}, most first: {listed}. {beyond}"


def _compared(study: ComparisonStudy, trials: Sequence[Trial]) -> list[str]:
    """Who is most exact how often, how ours stands apart, and which differences are more than chance."""
    columns = list(_mean_errors(study, trials))
    best = Counter(min(each, key=lambda method: each[method]) for each in map(_theirs, columns) if each)
    listed = ", ".join(f"{method} ({count} of {best.total()})" for method, count in best.most_common())
    measure, _ = measure_of(trials)
    sentences = [f"The least mean {measure} of a case and field is that of {listed}."] if best else []
    ratios = [each[OURS] / min(_theirs(each).values()) for each in columns if OURS in each and _theirs(each)]
    if ratios:
        sentences.append(
            f"{OURS}, which trains in another way and stands apart, has {geometric_mean(ratios):.2g} times "
            f"the least {measure} of these (geometric mean)."
        )
    contrasts = study.contrasts(trials)
    shown = sum(each.p_holm <= SIGNIFICANT for each in contrasts)
    sentences.append(
        f"Of {len(contrasts)} pairs of methods, {shown} differ by more than chance (p ≤ {SIGNIFICANT:g} "
        "after Holm's correction)."
    )
    return [*sentences, conditions_note(study.design)]


def _theirs(means: Mapping[str, float]) -> dict[str, float]:
    return {method: mean for method, mean in means.items() if method != OURS}


def _mean_errors(study: ComparisonStudy, trials: Sequence[Trial]) -> Iterable[dict[str, float]]:
    """For each case and field, the mean of each method that has one."""
    for case in study.design.case_names():
        for quantity in quantities(trials):
            of_case = [trial for trial in trials if trial.case == case]
            spreads = {
                method: quantity.spread([each for each in of_case if method_of(each.model) == method])
                for method in study.methods
            }
            yield {method: each.mean for method, each in spreads.items() if each.count and each.mean > 0}
