"""A report as Markdown, with its figures as files beside it."""

from collections.abc import Iterable
from urllib.parse import quote

from evopinn.view.markup import coded, fenced, markdown_table, plain
from evopinn.view.report.facts import Formula, GenomeFacts, Picture, ProblemFacts, ReportFacts, RunFacts
from evopinn.view.report.page import (
    GENERATOR,
    LONGEST,
    count,
    elapsed,
    moment,
    round_name,
    scientific_text,
    time_text,
    why_no_means,
    winner_title,
)

_RESIDUALS = {"training": "the points of the training", "held_out": "other points"}
_GENOME = ("parameters", "layers", "neurons", "shortcuts", "activation")


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
        report: What it says.
        folder: Where its figures are, beside the file.
    """
    several = len(report.runs) > 1
    parts = [f"<!-- {GENERATOR} -->", f"# {plain(report.title)}"]
    if several:
        parts += [_side_by_side(report.runs)]
        parts += [_picture(each, folder, "") for each in report.pictures]
    for number, run in enumerate(report.runs, start=1):
        if several:
            parts.append(f"# {plain(run.name)}")
        parts += _run(run, folder, f"{number}-" if several else "")
    parts.append(
        "The search maximises fitness = −loss and nothing else; the error, ‖û − u‖₂ / ‖u‖₂ over test points, "
        "is reported and never had a say."
    )
    parts.append(f"Made by evopinn {report.version} on {moment(report.made)}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _run(run: RunFacts, folder: str, place: str) -> list[str]:
    seed = "" if run.seed is None else f", seed {run.seed}"
    ended = "" if run.ended is None else f", last training {moment(run.ended)}"
    summary = {
        "problem": plain(run.problem_name),
        "method": plain(f"{run.method}{seed}"),
        "state": run.state,
        "run": coded(str(run.directory)),
        "begun": f"{moment(run.created)}{ended}",
        "trained": f"{run.trained:,} networks, {run.failed:,} failed; {run.epochs:,} epochs, "
        f"{time_text(run.seconds)} of workers' time",
    }
    parts = [
        _bullets(summary),
        plain(run.plan),
        "## The problem",
        *_problem(run),
        f"## {winner_title(run)}",
        *_winner(run),
    ]
    parts += [_picture(each, folder, place) for each in run.pictures.values()]
    parts += [f"No figure {plain(name)}: {plain(reason)}" for name, reason in run.undrawn.items()]
    if run.finalists:
        mean = run.finalists[0].entry.mean_name
        rows = [
            (
                str(row.rank),
                scientific_text(row.entry.mean_loss),
                scientific_text(row.entry.mean_error),
                str(len(row.entry.tasks)),
                *_cells(row.genome),
            )
            for row in run.finalists
        ]
        parts += [
            "## Final evaluations",
            run.finalists[0].deciding,
            markdown_table(("rank", f"{mean} loss", f"{mean} error", "trainings", *_GENOME), rows),
        ]
    if run.hall:
        rows = [
            (
                str(row.rank),
                scientific_text(row.loss),
                scientific_text(row.error),
                count(row.epochs),
                time_text(row.seconds),
                str(row.task),
                *_cells(row.genome),
            )
            for row in run.hall
        ]
        parts += [
            "## Hall of fame",
            markdown_table(("rank", "loss", "error", "epochs", "time", "task", *_GENOME), rows),
        ]
    if run.rounds:
        rows = [
            (
                round_name(each),
                *map(count, (each.asked, each.settled, each.failed, run.round_epochs.get(each.generation))),
                scientific_text(each.best),
                time_text(each.seconds),
            )
            for each in run.rounds[-LONGEST:]
        ]
        heads = ("round", "networks", "trained", "failed", "epochs of each", "best loss", "time of workers")
        parts += ["## The search", markdown_table(heads, rows)]
    if run.failures:
        rows = [
            (plain(row.status), count(row.failed), count(row.retried), f"task {row.task}: {plain(row.note)}")
            for row in run.failures
        ]
        parts += ["## Failures", markdown_table(("kind", "failed", "tried again", "the first"), rows)]
    versions = {name: plain(version) for name, version in run.versions.items()}
    return [*parts, "## Settings", fenced(run.repeat, "sh"), fenced(run.config, "toml"), _bullets(versions)]


def _problem(run: RunFacts) -> list[str]:
    problem: ProblemFacts | None = run.problem
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
    return [*parts, plain(problem.solution)]


def _winner(run: RunFacts) -> list[str]:
    winner = run.winner
    if winner is None:
        failed = f"None of the {run.trained:,} trainings gave a network."
        return [failed if run.trained else "Nothing is trained yet."]
    finalist = winner.finalist
    facts = {
        "genome": coded(winner.genome.text),
        "parameters": count(winner.genome.parameters),
        "loss": f"{scientific_text(winner.loss)} after {winner.epochs:,} epochs (task {winner.task})",
        **{f"error of {plain(name)}": scientific_text(error) for name, error in winner.errors.items()},
    }
    if finalist:
        facts[f"mean of {len(finalist.tasks)}"] = (
            f"loss {scientific_text(finalist.mean_loss)}, error {scientific_text(finalist.mean_error)}"
            f"{finalist.which_mean}"
        )
    facts |= {
        f"residual on {_RESIDUALS.get(name, plain(name))}": scientific_text(value)
        for name, value in winner.residuals.items()
    }
    if winner.missing:
        facts["weights"] = f"cannot be read: {plain(winner.missing)}"
    parts = [_math(winner.genome.formula), plain(why_no_means(run)), _bullets(facts)]
    return [*parts, fenced(winner.loading, "python")]


def _side_by_side(runs: Iterable[RunFacts]) -> str:
    rows = [
        (
            plain(run.name),
            plain(run.problem_name),
            plain(run.method),
            run.state,
            scientific_text(run.best_loss),
            scientific_text(run.best_error),
            count(run.winner.genome.parameters if run.winner else None),
            count(run.epochs),
            time_text(run.seconds),
            time_text(elapsed(run)),
        )
        for run in runs
    ]
    heads = ("run", "problem", "method", "state", "mean loss", "mean error", "parameters", "epochs")
    return markdown_table((*heads, "time of workers", "from start to end"), rows)


def _cells(genome: GenomeFacts) -> tuple[str, ...]:
    numbers = map(count, (genome.parameters, genome.layers, genome.neurons))
    return (*numbers, plain(genome.shortcuts), coded(genome.activation).replace("|", r"\|"))


def _bullets(facts: dict[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _picture(picture: Picture, folder: str, place: str) -> str:
    target = quote(f"{folder}/{place}{picture.name}.{picture.kind}")
    return f"### {picture.title}\n\n![{picture.title}]({target})\n\n{picture.caption}"


def _math(formula: Formula) -> str:
    return fenced(formula.latex, "math")
