"""Names, numbers and notes as the tables, figures and pages of studies show them."""

import math
from collections.abc import Sequence
from pathlib import Path

from evopinn.genome import PublishedError, published_models
from evopinn.lab.studies.design import PAPER_EPOCHS, Design
from evopinn.lab.studies.trials import Sample, Trial, fields_of
from evopinn.problem import is_problem_file
from evopinn.run.architecture import Architecture, function_text
from evopinn.view.numbers import scientific, spread
from evopinn.view.tables import NOTHING

REFERENCE = "evo-dpste"
"""The method whose cost sets the budget of all others."""

OURS = "evo-dpste+lm"
"""Evolution with DPSTE that trains by Levenberg-Marquardt, in the space of small networks."""

COMPARED = ("bo-fcnet", "bo-fcresnet", "random", "evolution", REFERENCE, OURS)
"""The methods of a comparison; colours in figures follow this order."""

_PAPER_NAMES = {"evolution": "evo"}
"""The names of methods in published models, where they differ."""


def structure_cell(genome: str) -> str:
    """Layers, neurons and shortcuts: `7×30 [0-2, 3-5]`; see `Architecture`."""
    return Architecture(genome).structure


def activation_cell(genome: str) -> str:
    """The activation of a genome, and a start other than the paper's."""
    return function_text(genome) or NOTHING


def mean_cell(measured: Sample) -> str:
    """Mean and deviation; `failed` if no training succeeded, a dash if there is none."""
    if measured.count:
        return spread(measured.mean, measured.deviation)
    return "failed" if measured.failed else NOTHING


def count_cell(measured: Sample) -> str:
    """The number of trainings in a mean: `3`, or `2 of 3` if one failed."""
    return (
        f"{measured.count} of {measured.count + measured.failed}" if measured.failed else f"{measured.count}"
    )


def published_cell(error: PublishedError | None) -> str:
    """A published error; a dash if there is none."""
    return NOTHING if error is None else spread(error.mean, error.deviation)


def number_cell(value: float, digits: int = 3) -> str:
    """A number of ordinary size; a dash for NaN."""
    if math.isnan(value):
        return NOTHING
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.{digits}g}"


def scientific_cell(value: float) -> str:
    """A number with its power of ten; a dash for NaN."""
    return NOTHING if math.isnan(value) else scientific(value)


def case_label(case: str) -> str:
    """A case without its problem: `II`; of a file, its name."""
    return Path(case).name if is_problem_file(case) else case.rpartition(":")[2]


def method_of(model: str) -> str:
    """The method that discovered a model: its name without the number."""
    return model.rpartition("-")[0]


def published_method(method: str) -> str:
    """The name of a method among the published models."""
    return _PAPER_NAMES.get(method, method)


def measure_of(trials: Sequence[Trial]) -> tuple[str, str]:
    """The quantity that models are judged by, in singular and plural: losses where no solution is known."""
    return ("error", "errors") if fields_of(trials) else ("loss", "losses")


def published_error(family: str, model: str, case: str, field: str) -> PublishedError | None:
    """The published error of a model's field on a case; None if there is none."""
    if family not in PAPER_EPOCHS:
        return None
    return next(
        (
            error
            for each in published_models(family)
            if each.name == model
            for error in each.errors
            if (error.case, error.field) == (case_label(case), field)
        ),
        None,
    )


def conditions_note(design: Design) -> str:
    """How the trainings differ from the published ones, and thus how far errors can agree."""
    usual = PAPER_EPOCHS.get(design.family)
    epochs = f"{design.epochs or 0:,} epochs"
    if usual is None:
        return f"All models were trained for {epochs}; nothing is published on this problem."
    words = f"Models were trained for {epochs}, the published ones for {usual:,}"
    if (design.coarseness or 1) > 1:
        words += f"; on 1/{design.coarseness:.3g} of their points along each axis"
    if design.optimizer != "lbfgs":
        words += f"; by {design.optimizer} instead of L-BFGS"
    shorter = usual > (design.epochs or 0)
    return words + (": expect larger errors." if shorter else ".")


def scale_note(design: Design) -> str:
    """The effects of the scale, and what the design sets differently."""
    words = design.scaled().describe()
    usual = type(design).of({"kind": design.kind, "problem": design.problem, "scale": design.scale}).settled()
    own = [
        f"{name} {ours:,.6g} instead of {theirs:,.6g}"
        for name in ("epochs", "trials", "coarseness", "searches")
        if (ours := getattr(design, name, None)) != (theirs := getattr(usual, name, None))
    ]
    given = [name for name in ("budget", "schedule", "space") if getattr(design, name, None)]
    if given:
        own.append(f"its own {' and '.join(given)}")
    note = f" But the design has {', '.join(own)}." if own else ""
    return f"{words[:1].upper()}{words[1:]}{note}"
