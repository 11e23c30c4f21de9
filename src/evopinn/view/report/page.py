"""A report as one HTML file that needs nothing else."""

import base64
import hashlib
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evopinn.view.figures.comparisons import MOST
from evopinn.view.figures.pictures import Picture
from evopinn.view.pages import page_text
from evopinn.view.pages.templates import environment, template_text
from evopinn.view.report.report_facts import ReportFacts
from evopinn.view.run_facts import best_facts, how_finalists_are_ranked, why_not_recommended
from evopinn.view.run_tables import (
    STRUCTURE_NOTE,
    failures_table,
    finalists_table,
    hall_of_fame_table,
    rounds_table,
    side_by_side_table,
)
from evopinn.view.tables import Cell, Fact, Facts

GENERATOR = "evopinn report"
"""The mark that identifies a file as a report, which a newer report may overwrite."""


def render_page(report: ReportFacts) -> str:
    """The report as HTML."""
    records = [run.record for run in report.runs]
    places = {id(record): f"#run{number}" for number, record in enumerate(records, start=1)}
    return render(
        "view/report/report.html.jinja",
        report=report,
        single=len(records) == 1,
        mixed=len({record.goal.problem for record in records}) > 1,
        judged=any(record.recommended for record in records),
        unjudged=not all(record.recommended for record in records),
        most=MOST,
        side_by_side=side_by_side_table(records, lambda record: places[id(record)]),
        structure_note=STRUCTURE_NOTE,
    )


def render(template: str, **context: Any) -> str:
    """A self-contained page, from a template that extends `view/report/base.html.jinja`.

    Args:
        template: The template's file, below the package `evopinn`.
        context: Its variables, all escaped; `report` has a title, a version and the time of its making.
    """
    script = page_text("sorting.js")
    return (
        environment(_FILTERS)
        .get_template(template)
        .render(
            **context,
            generator=GENERATOR,
            css=Markup(page_text("common.css") + template_text("view/report/report.css")),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def times(number: int) -> str:
    """A number of times, in words."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _shown(value: Any, kind: Any) -> str:
    return Cell(kind, value).typeset


def _source(picture: Picture) -> str:
    kind = "svg+xml" if picture.kind == "svg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(picture.data).decode()}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _versions(versions: Mapping[str, str]) -> Facts:
    return Facts([Fact(name, version) for name, version in versions.items()])


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "best_facts": best_facts,
    "failures_table": failures_table,
    "finalists_table": finalists_table,
    "hall_of_fame_table": hall_of_fame_table,
    "how_finalists_are_ranked": how_finalists_are_ranked,
    "quoted": _quoted,
    "repr": repr,
    "rounds_table": rounds_table,
    "shown": _shown,
    "source": _source,
    "times": times,
    "versions_facts": _versions,
    "why_not_recommended": why_not_recommended,
}
