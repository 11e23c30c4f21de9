"""The words and numbers of a study, as its tables and figures have them."""

import math
from collections.abc import Sequence
from pathlib import Path

from evopinn.errors import EvopinnError
from evopinn.genome import Genome, PublishedError, published_models
from evopinn.problem import is_problem_file
from evopinn.run.summary import activation_of
from evopinn.study.design import PAPER_EPOCHS, Design
from evopinn.study.trials import Spread, Trial, fields_of
from evopinn.view.numbers import scientific, spread

NOTHING = "–"
STRUCTURE_NOTE = (
    "A structure of 7×30 [0-2, 3-5] has seven layers of 30 neurons and two shortcuts, the first from the "
    "input of layer 0 to that of layer 2."
)


def structure_cell(genome: str) -> str:
    """Layers, neurons and shortcuts: `7×30 [0-2, 3-5]`; a text that is no genome as it is."""
    try:
        structure = Genome.parse(genome).structure
    except EvopinnError:
        return genome
    shortcuts = ", ".join(f"{start}-{end}" for start, end in structure.shortcuts)
    return f"{structure.layers}×{structure.neurons}" + (f" [{shortcuts}]" if shortcuts else "")


def activation_cell(genome: str) -> str:
    """The activation of a genome."""
    return activation_of(genome) or NOTHING


def spread_cell(measured: Spread) -> str:
    """Mean and deviation; or that all failed, or that there is nothing."""
    if measured.count:
        return spread(measured.mean, measured.deviation)
    return "failed" if measured.failed else NOTHING


def count_cell(measured: Spread) -> str:
    """How many trainings a mean is of: `3`, or `2 of 3` if others failed."""
    return (
        f"{measured.count} of {measured.count + measured.failed}" if measured.failed else f"{measured.count}"
    )


def published_cell(error: PublishedError | None) -> str:
    """What was reported, if anything was."""
    return NOTHING if error is None else spread(error.mean, error.deviation)


def number_cell(value: float, digits: int = 3) -> str:
    """A number of ordinary size; a dash for what is none."""
    if math.isnan(value):
        return NOTHING
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.{digits}g}"


def scientific_cell(value: float) -> str:
    """A number with its power of ten; a dash for what is none."""
    return NOTHING if math.isnan(value) else scientific(value)


def case_label(case: str) -> str:
    """A case without its problem: `II`; of a file, its name."""
    return Path(case).name if is_problem_file(case) else case.rpartition(":")[2]


def method_of(model: str) -> str:
    """The method that a model was discovered by: what stands before its number."""
    return model.rpartition("-")[0]


def measure_of(trials: Sequence[Trial]) -> tuple[str, str]:
    """What models are judged by, as one and as several: the loss where no solution is known."""
    return ("error", "errors") if fields_of(trials) else ("loss", "losses")


def published_error(family: str, model: str, case: str, field: str) -> PublishedError | None:
    """What was reported of a model's field on a case; None if nothing was."""
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
    """How trainings differ from those that were published, which decides how far errors can agree."""
    usual = PAPER_EPOCHS.get(design.family)
    epochs = f"{design.epochs or 0:,} epochs"
    if usual is None:
        return f"All models were trained for {epochs}; nothing is published on this problem."
    words = f"Models were trained for {epochs}, the published ones for {usual:,}"
    if (design.coarseness or 1) > 1:
        words += f"; on 1/{design.coarseness:.3g} of their points along each axis"
    if design.optimizer != "lbfgs":
        words += f"; by {design.optimizer} in place of L-BFGS"
    shorter = usual > (design.epochs or 0)
    return words + (": larger errors are to be expected." if shorter else ".")


def scale_note(design: Design) -> str:
    """What the scale does, and what the design sets otherwise."""
    words = design.scaled().describe()
    usual = type(design).of({"kind": design.kind, "problem": design.problem, "scale": design.scale}).settled()
    own = [
        f"{name} {ours:,.6g} in place of {theirs:,.6g}"
        for name in ("epochs", "trials", "coarseness", "searches")
        if (ours := getattr(design, name, None)) != (theirs := getattr(usual, name, None))
    ]
    given = [name for name in ("budget", "schedule", "space") if getattr(design, name, None)]
    if given:
        own.append(f"its own {' and '.join(given)}")
    note = f" But the design has {', '.join(own)}." if own else ""
    return f"{words[:1].upper()}{words[1:]}{note}"
