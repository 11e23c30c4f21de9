"""A report as one HTML file that needs nothing else."""

import base64
import hashlib
import html
import math
import shlex
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from evopinn.run.listed import GenerationSummary, RoundKind
from evopinn.view.numbers import duration
from evopinn.view.pages import page_text
from evopinn.view.report.comparing import MOST
from evopinn.view.report.facts import (
    Formula,
    GenomeFacts,
    HallRow,
    Picture,
    ProblemFacts,
    ReportFacts,
    RunFacts,
)

GENERATOR = "evopinn report"
"""By which a file is known to be a report, which a newer one may take the place of."""

NOTHING = "–"
LONGEST = 60
"""Rounds that the table of the schedule has at most: Bayesian optimisation has hundreds."""

_AFTER: Mapping[RoundKind, str] = {"bests": "the generations' bests once more", "final": "final evaluations"}
_AFTER_BRIEFLY: Mapping[RoundKind, str] = {"bests": "bests again", "final": "final"}


def render_page(report: ReportFacts) -> str:
    """The report as HTML."""
    return render(
        "report/report.html.jinja",
        report=report,
        single=len(report.runs) == 1,
        mixed=len({run.problem_name for run in report.runs}) > 1,
        judged=any(run.has_means for run in report.runs),
        unjudged=not all(run.has_means for run in report.runs),
        most=MOST,
    )


def render(template: str, **context: Any) -> str:
    """A page that stands alone, of a template that extends `report/base.html.jinja`.

    Args:
        template: Its file, below this package's parent.
        context: What it speaks of, all of it escaped; `report` has a title, a version and when it was made.
    """
    script = page_text("sorting.js")
    return (
        _environment()
        .get_template(template)
        .render(
            **context,
            generator=GENERATOR,
            css=Markup(page_text("common.css") + _text("report/report.css")),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def scientific_text(value: float | None) -> str:
    """Three digits and a power of ten: `8.85 × 10⁻⁵`; numbers of ordinary size as they are."""
    mantissa, exponent = _scientific(value)
    return mantissa if exponent is None else f"{mantissa} × 10{str(exponent).translate(_RAISED)}"


def elapsed(run: RunFacts) -> float | None:
    """Seconds from a run's start to its last training; None before the first."""
    return None if run.ended is None else max(0.0, run.ended - run.created)


def moment(seconds: float) -> str:
    """A time as a person writes it."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def count(value: int | None) -> str:
    """A whole number with commas, or a dash."""
    return NOTHING if value is None else f"{value:,}"


def time_text(seconds: float | None) -> str:
    """A duration, or a dash."""
    return NOTHING if seconds is None else duration(seconds)


def round_name(each: GenerationSummary) -> str:
    """What a round is called."""
    return _AFTER.get(each.kind, f"{each.kind} {each.generation:,}")


def round_label(row: HallRow) -> str:
    """The same in a table: the number of a generation or batch, or what comes after them."""
    return _AFTER_BRIEFLY.get(row.round, f"{row.generation:,}")


def winner_title(run: RunFacts) -> str:
    """What the part about the best network is headed by."""
    return "The winner" if run.state == "finished" or run.has_means else "The best so far"


def why_no_means(run: RunFacts) -> str:
    """Why the best network is not one that final evaluations chose; empty if it is."""
    if run.winner is None or run.has_means:
        return ""
    reason = "No final evaluation gave a network" if run.finalists else "There are no final evaluations"
    yet = "" if run.state == "finished" else " yet"
    return f"{reason}{yet}: this is the single training with the least loss, in which luck plays a part."


def times(number: int) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def all_formulas(problem: ProblemFacts) -> list[Formula]:
    """Everything of a problem that is written in LaTeX."""
    first = [problem.equation] if problem.equation else []
    of_terms = [each for term in problem.terms for each in term.equations]
    return [*first, problem.domain, *of_terms, *problem.definitions]


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _scientific(value: float | None) -> tuple[str, int | None]:
    if value is None or math.isnan(value):
        return NOTHING, None
    if math.isinf(value):
        return "∞" if value > 0 else "−∞", None
    if value == 0:
        return "0", None
    if 0.1 <= abs(value) < 1000:
        return f"{value:#.3g}".rstrip("."), None
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return mantissa, int(exponent)


def _scientific_markup(value: float | None) -> Markup:
    mantissa, exponent = _scientific(value)
    if exponent is None:
        return Markup(html.escape(mantissa))
    raised = str(exponent).replace("-", "−")
    return Markup(f"{mantissa}&nbsp;×&nbsp;10<sup>{raised}</sup>")


def _brief(value: float | None) -> str:
    """The same as a table has it, where space is scarce: `8.85e-5`."""
    mantissa, exponent = _scientific(value)
    return mantissa if exponent is None else f"{mantissa}e{exponent}"


def _key(value: float | None) -> str:
    """What a cell is sorted by; what is no number comes last."""
    return "" if value is None or not math.isfinite(value) else repr(value)


def _source(picture: Picture) -> str:
    kind = "svg+xml" if picture.kind == "svg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(picture.data).decode()}"


def _structure(genome: GenomeFacts) -> str:
    """Layers, neurons and how many shortcuts: `3×10 +2`."""
    if genome.layers is None:
        return genome.shortcuts
    shortcuts = _shortcut_count(genome)
    return f"{genome.layers}×{genome.neurons}" + (f" +{shortcuts}" if shortcuts else "")


def _shortcut_count(genome: GenomeFacts) -> int | None:
    if genome.layers is None:
        return None
    return 0 if genome.shortcuts == "none" else len(genome.shortcuts.split(","))


def _plain_number(value: float) -> str:
    return f"{value:g}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "all_formulas": all_formulas,
    "brief": _brief,
    "count": count,
    "duration": time_text,
    "elapsed": elapsed,
    "key": _key,
    "moment": moment,
    "plain_number": _plain_number,
    "quoted": _quoted,
    "repr": repr,
    "round_label": round_label,
    "round_name": round_name,
    "sci": _scientific_markup,
    "shortcut_count": _shortcut_count,
    "source": _source,
    "structure": _structure,
    "times": times,
    "why_no_means": why_no_means,
    "winner_title": winner_title,
    "zip": zip,
}


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tables: Any = environment  # jinja leaves the types of its tables open
    tables.filters.update(_FILTERS)
    tables.globals["longest"] = LONGEST
    return environment


def _text(name: str) -> str:
    return files("evopinn.view").joinpath(name).read_text(encoding="utf-8")
