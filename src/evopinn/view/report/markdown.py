"""A report as Markdown, with its figures in separate files."""

from urllib.parse import quote

from evopinn.view.figures.pictures import Picture
from evopinn.view.markup import fenced, plain
from evopinn.view.numbers import moment
from evopinn.view.report.page import GENERATOR
from evopinn.view.report.report_facts import Formula, ReportFacts, RunFacts
from evopinn.view.run_facts import best_facts, how_finalists_are_ranked, run_facts, why_not_recommended
from evopinn.view.run_tables import (
    STRUCTURE_NOTE,
    failures_table,
    finalists_table,
    hall_of_fame_table,
    rounds_table,
    side_by_side_table,
)
from evopinn.view.tables import Fact, Facts, Table


def pictures_of(report: ReportFacts) -> dict[str, Picture]:
    """All figures by the names of their files."""
    several = len(report.runs) > 1
    found = {f"{each.name}.{each.kind}": each for each in report.pictures}
    for number, run in enumerate(report.runs, start=1):
        place = f"{number}-" if several else ""
        found |= {f"{place}{each.name}.{each.kind}": each for each in run.pictures.values()}
    return found


def render_markdown(report: ReportFacts, folder: str) -> str:
    """The report as text.

    Args:
        report: Its content.
        folder: The directory of its figures, beside the file.
    """
    several = len(report.runs) > 1
    parts = [f"<!-- {GENERATOR} -->", f"# {plain(report.title)}"]
    if several:
        parts.append(side_by_side_table([run.record for run in report.runs]).markdown(heading=False))
        parts += [_picture(each, folder, "") for each in report.pictures]
    for number, run in enumerate(report.runs, start=1):
        if several:
            parts.append(f"# {plain(run.record.name)}")
        parts += _run(run, folder, f"{number}-" if several else "")
    parts.append(
        "The search maximises fitness = −loss and nothing else; the error, ‖û − u‖₂ / ‖u‖₂ over test points, "
        "is reported but does not guide the search."
    )
    parts.append(f"Made by evopinn {report.version} on {moment(report.made)}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _run(run: RunFacts, folder: str, place: str) -> list[str]:
    record = run.record
    parts = [
        run_facts(record).markdown(),
        "## The problem",
        *_problem(run),
        "## The best network",
        *_best(run),
    ]
    parts += [_picture(each, folder, place) for each in run.pictures.values()]
    parts += [f"No figure {plain(name)}: {plain(reason)}" for name, reason in run.undrawn.items()]
    parts += _table(finalists_table(record), how_finalists_are_ranked(record))
    parts += _table(hall_of_fame_table(record), plain(STRUCTURE_NOTE))
    parts += _table(rounds_table(record))
    parts += _table(failures_table(record))
    versions = Facts([Fact(name, version) for name, version in record.about.versions.items()])
    return [
        *parts,
        "## Settings",
        fenced(run.repeat, "sh"),
        fenced(record.about.config, "toml"),
        versions.markdown(),
    ]


def _table(table: Table, words: str = "") -> list[str]:
    """A table with its heading; an empty table is left out."""
    return [f"## {plain(table.title)}", words, table.markdown(heading=False)] if table.records else []


def _problem(run: RunFacts) -> list[str]:
    problem = run.problem
    if problem is None:
        return [f"The problem cannot be shown: {plain(run.problem_missing)}"]
    parts = [plain(problem.title)]
    if problem.equation:
        parts.append(_math(problem.equation))
    parts.append(_math(problem.domain))
    for term in problem.terms:
        parts.append(
            f"**{plain(term.name)}**, {plain(term.place)}; weight {term.weight:g}, {term.count:,} points"
        )
        parts += [_math(each) for each in term.equations]
        parts.append(fenced(term.source, "python"))
    parts += [_math(each) for each in problem.definitions]
    parts.append(plain(problem.solution))
    return [*parts, problem.scales.markdown()] if problem.scales.records else parts


def _best(run: RunFacts) -> list[str]:
    record = run.record
    facts = list(best_facts(record).facts)
    if run.network_missing:
        facts.append(Fact("weights", f"cannot be read: {run.network_missing}"))
    parts = [_math(run.formula), plain(why_not_recommended(record)), Facts(facts).markdown()]
    return [*parts, fenced(run.loading, "python")]


def _picture(picture: Picture, folder: str, place: str) -> str:
    target = quote(f"{folder}/{place}{picture.name}.{picture.kind}")
    return f"### {picture.title}\n\n![{picture.title}]({target})\n\n{picture.caption}"


def _math(formula: Formula) -> str:
    return fenced(formula.latex, "math")
