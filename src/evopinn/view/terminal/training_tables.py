"""Tables of a problem and of its training, and the same content as plain data for scripts."""

from collections.abc import Iterable
from typing import Any

from rich.console import Group
from rich.text import Text

from evopinn.genome import PublishedError
from evopinn.problem import Problem
from evopinn.problem.scales import UNSCALED
from evopinn.run.record import finite
from evopinn.run.wording import visible
from evopinn.training import TrainingResult
from evopinn.view.numbers import spread
from evopinn.view.run_facts import residual_facts
from evopinn.view.scale_table import scale_table
from evopinn.view.tables import Cell, Column, Fact, Facts, Phrase, Table

TERMS = (
    Column("term", value=lambda term: term.name),
    Column("weight", "plain", lambda term: term.weight),
    Column("points", "id", lambda term: term.count),
    Column("derivatives", value=lambda term: ", ".join(term.derivatives)),
)


def problem_table(problem: Problem) -> Group:
    """One problem: the terms of its loss with their points and weights."""
    known = "not known" if problem.solution is None else f"known on {len(problem.test_points)} test points"
    title = f"{problem.name}: {problem.title}" if problem.title else problem.name
    terms = Table("", TERMS, problem.terms())
    scales = scale_table(problem)
    parts = [Text(visible(title)), terms.rich(), *([scales.rich()] if scales.records else [])]
    return Group(*parts, Text(f"solution: {known}"))


def training_facts(result: TrainingResult, published: Iterable[PublishedError] = ()) -> Facts:
    """What a training gave, beside the published errors if there are any."""
    beside = {e.field: f"   (published {spread(e.mean, e.deviation)})" for e in published}
    work = f" ({result.evaluations:,} evaluations, {result.optimizer}, seed {result.seed})"
    remark = result.settings.get("remark")
    return Facts(
        [
            Fact("problem", result.problem),
            Fact("genome", Cell("code", str(result.genome))),
            Fact("loss", Cell("scientific", result.loss)),
            *(
                Fact(f"error of {field}", Phrase(Cell("scientific", error), beside.get(field, "")))
                for field, error in result.errors.items()
            ),
            *residual_facts(result.residuals),
            Fact("parameters", Cell("count", result.parameters)),
            Fact("epochs", Phrase(Cell("count", result.epochs), work)),
            Fact("time", Phrase(Cell("seconds", result.seconds), f" ({result.settings.get('engine')})")),
            Fact("status", f"{result.status}: {result.status.meaning}"),
            *([Fact("note", str(remark))] if remark else []),
        ]
    )


def training_data(result: TrainingResult) -> dict[str, Any]:
    """What a training gave, as plain data."""
    return {
        "problem": result.problem,
        "genome": str(result.genome),
        **({} if result.scales == UNSCALED else {"scales": result.scales.to_json()}),
        "loss": finite(result.loss),
        "errors": {name: finite(error) for name, error in result.errors.items()},
        "residuals": {name: finite(value) for name, value in result.residuals.items()},
        "overfitted": result.overfitted,
        "parameters": result.parameters,
        "epochs": result.epochs,
        "evaluations": result.evaluations,
        "optimizer": result.optimizer,
        "engine": result.settings.get("engine"),
        "seed": result.seed,
        "seconds": result.seconds,
        "status": str(result.status),
        "note": result.settings.get("remark", ""),
    }
