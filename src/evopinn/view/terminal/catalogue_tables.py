"""Tables of problems, models and search spaces, and the same content as data for scripts."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.console import Group
from rich.text import Text

from evopinn.catalogue import CatalogueRow
from evopinn.genome import PublishedModel, Space
from evopinn.view.numbers import scientific, spread
from evopinn.view.tables import Column, Table


def _published(model: PublishedModel) -> str:
    return "; ".join(f"{e.field} {spread(e.mean, e.deviation)}" for e in model.errors if e.case == "I")


PROBLEMS = (
    Column("name", value=lambda row: row.name),
    Column("cases", value=lambda row: ", ".join(row.cases)),
    Column("coordinates", value=lambda row: ", ".join(row.coordinates)),
    Column("fields", value=lambda row: ", ".join(row.fields)),
    Column("problem", value=lambda row: row.title),
)
MODELS = (
    Column("problem", value=lambda model: model.problem),
    Column("model", value=lambda model: f"paper:{model.name}"),
    Column("published error, case I", value=_published),
    Column("genome", "code", lambda model: str(model.genome)),
)
ACTIVATIONS = (Column("activation functions"), Column("number", "scientific"), Column("models", "scientific"))


def problems_table(rows: Iterable[CatalogueRow]) -> Table:
    """The catalogue."""
    return Table("", PROBLEMS, list(rows))


def models_table(models: Iterable[PublishedModel]) -> Table:
    """Published models with their errors on the case that they were found for."""
    return Table("", MODELS, list(models))


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


def space_table(space: Space) -> Group:
    """The size of a search space, as in the paper's Table 2."""
    structures = space.count_structures()
    most = space.max_operators
    counts = {f"of {m} operator{'s' * (m > 1)}": space.count_activations(m) for m in range(1, most + 1)}
    counts[f"of 1 to {most}"] = space.count_activations()
    rows = [(label, count, structures * count) for label, count in counts.items()]
    size = Text(f"structures: {scientific(structures)}")
    return Group(Text(f"search space: {space}"), Table("", ACTIVATIONS, rows).rich(), size)


def space_data(space: Space) -> dict[str, Any]:
    """The size of a search space as plain data, exact."""
    by_size = {str(size): space.count_activations(size) for size in range(1, space.max_operators + 1)}
    return {
        "space": str(space),
        "structures": space.count_structures(),
        "activations": {**by_size, "all": space.count_activations()},
        "models": space.count_models(),
    }
