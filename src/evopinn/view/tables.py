"""Tables for the terminal, and the same content as plain data for scripts."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from evopinn.genome import PublishedError, PublishedModel, Space
from evopinn.problem import Problem
from evopinn.problems import Row
from evopinn.training import TrainingResult
from evopinn.view.numbers import duration, json_number, scientific, spread
from evopinn.view.plain import named_values, plain_table


def problems_table(rows: Iterable[Row]) -> Table:
    """The catalogue."""
    table = plain_table("name", "cases", "coordinates", "fields", "problem")
    for row in rows:
        cases = ", ".join(row.cases)
        table.add_row(row.name, cases, ", ".join(row.coordinates), ", ".join(row.fields), row.title)
    return table


def problem_table(problem: Problem) -> Group:
    """One problem: the terms of its loss with their points and weights."""
    table = plain_table("term", "weight", "points", "derivatives")
    for term in problem.terms():
        derivatives = ", ".join(term.derivatives)
        table.add_row(escape(term.name), f"{term.weight:g}", str(term.count), derivatives)
    known = "not known" if problem.solution is None else f"known on {len(problem.test_points)} test points"
    title = f"{problem.name}: {problem.title}" if problem.title else problem.name
    return Group(Text(title), table, Text(f"solution: {known}"))


def models_table(models: Iterable[PublishedModel]) -> Table:
    """Published models with their errors on the case that they were found for."""
    table = plain_table("problem", "model", "published error, case I", "genome")
    for model in models:
        errors = [f"{e.field} {spread(e.mean, e.deviation)}" for e in model.errors if e.case == "I"]
        table.add_row(model.problem, f"paper:{model.name}", "\n".join(errors), str(model.genome))
    return table


def models_data(models: Iterable[PublishedModel]) -> list[dict[str, Any]]:
    """Published models as plain data."""
    return [
        {
            "problem": model.problem,
            "model": f"paper:{model.name}",
            "genome": str(model.genome),
            "errors": [asdict(error) for error in model.errors],
        }
        for model in models
    ]


def training_table(result: TrainingResult, published: Iterable[PublishedError] = ()) -> Table:
    """What a training gave, beside the published errors if there are any."""
    values = {
        "problem": result.problem,
        "genome": str(result.genome),
        "loss": scientific(result.loss),
    }
    beside = {e.field: f"   (published {spread(e.mean, e.deviation)})" for e in published}
    for field, error in result.errors.items():
        values[f"error of {field}"] = scientific(error) + beside.get(field, "")
    if result.residuals:
        values["residual"] = residual_words(result)
    work = f"{result.evaluations:,} evaluations, {result.optimizer}, seed {result.seed}"
    values |= {
        "parameters": f"{result.parameters:,}",
        "epochs": f"{result.epochs:,} ({work})",
        "time": duration(result.seconds) + f" ({result.settings.get('engine')})",
        "status": f"{result.status}: {result.status.meaning}",
    }
    if remark := result.settings.get("remark"):
        values["note"] = str(remark)
    return named_values(values)


def residual_words(result: TrainingResult) -> str:
    """The residual on points of the training and on others, with a warning if they differ much."""
    training, held_out = result.residuals.get("training", math.nan), result.residuals.get("held_out")
    words = f"{scientific(training)} on the points of the training"
    if held_out is not None:
        words += f", {scientific(held_out)} on others"
    if result.overfitted:
        words += ": many times larger, the loss deceives; train on more points or with fewer parameters"
    return words


def training_data(result: TrainingResult) -> dict[str, Any]:
    """What a training gave, as plain data."""
    return {
        "problem": result.problem,
        "genome": str(result.genome),
        "loss": json_number(result.loss),
        "errors": {name: json_number(error) for name, error in result.errors.items()},
        "residuals": {name: json_number(value) for name, value in result.residuals.items()},
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


def space_table(space: Space) -> Group:
    """The size of a search space, as in the paper's Table 2."""
    table = plain_table("activation functions", "number", "models")
    structures = space.count_structures()
    for label, count in _activation_counts(space):
        table.add_row(label, scientific(count), scientific(structures * count))
    return Group(Text(f"search space: {space}"), table, Text(f"structures: {scientific(structures)}"))


def space_data(space: Space) -> dict[str, Any]:
    """The size of a search space as plain data, exact."""
    by_size = {str(size): space.count_activations(size) for size in range(1, space.max_operators + 1)}
    return {
        "space": str(space),
        "structures": space.count_structures(),
        "activations": {**by_size, "all": space.count_activations()},
        "models": space.count_models(),
    }


def _activation_counts(space: Space) -> Sequence[tuple[str, int]]:
    sizes = [
        (f"of {m} operator{'s' * (m > 1)}", space.count_activations(m))
        for m in range(1, space.max_operators + 1)
    ]
    return [*sizes, (f"of 1 to {space.max_operators}", space.count_activations())]
