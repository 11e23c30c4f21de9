"""The 45 published models that five methods discovered for three equations, with the errors reported."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome.genome import Genome


@dataclass(frozen=True)
class PublishedError:
    """The relative L2 error of one field in one case, over ten trainings.

    Attributes:
        case: The case of the problem, as a Roman numeral.
        field: The name of the field.
        mean: The mean over the trainings.
        deviation: Their standard deviation.
    """

    case: str
    field: str
    mean: float
    deviation: float


@dataclass(frozen=True)
class PublishedModel:
    """A model that was discovered and published.

    Attributes:
        problem: The family of problems it was discovered for: `klein-gordon`, `burgers` or `lame`.
        method: The method that discovered it: `bo-fcnet` or `bo-fcresnet` (Bayesian optimisation), `random`
            (search), `evo` or `evo-dpste` (evolution without or with dynamic population size and training
            epochs).
        run: Which of the method's three runs discovered it.
        genome: The model itself.
        errors: What was reported, by case and field.
    """

    problem: str
    method: str
    run: int
    genome: Genome
    errors: tuple[PublishedError, ...]

    @property
    def name(self) -> str:
        """The name among the models of its problem, e.g. `evo-dpste-1`."""
        return f"{self.method}-{self.run}"

    def error(self, case: str = "I", field: str = "u") -> PublishedError:
        """The published error of one case and field."""
        reported = {(error.case, error.field): error for error in self.errors}
        try:
            return reported[case, field]
        except KeyError:
            known = [f"{case} {field}" for case, field in reported]
            hint = f"There are {', '.join(known)}."
            raise UnknownNameError(
                f"published error of {self.problem}", f"{case} {field}", known, hint
            ) from None


def published_models(problem: str | None = None) -> tuple[PublishedModel, ...]:
    """The published models of a family of problems, or all 45."""
    models = _models()
    if problem is None:
        return tuple(models.values())
    families = dict.fromkeys(family for family, _ in models)
    if problem not in families:
        hint = f"There are models for {', '.join(families)}."
        raise UnknownNameError("problem with published models", problem, families, hint)
    return tuple(model for model in models.values() if model.problem == problem)


def published_model(problem: str, name: str) -> PublishedModel:
    """One published model.

    Examples:
        >>> published_model("klein-gordon", "evo-dpste-1").genome.activation.text
        'asinh(x)*cos(x)'
    """
    models = {model.name: model for model in published_models(problem)}
    if name not in models:
        hint = f"The models of {problem} are {', '.join(models)}."
        raise UnknownNameError("published model", name, models, hint)
    return models[name]


def is_published(reference: str) -> bool:
    """Whether a text refers to a published model: `paper:evo-dpste-1` or `paper:lame/evo-dpste-1`."""
    return reference.startswith("paper:")


def find_published(reference: str, problem: str) -> PublishedModel:
    """The published model that a reference names.

    Args:
        reference: `paper:NAME`, or `paper:PROBLEM/NAME` for a model that was found for another problem.
        problem: The family of problems that is meant if the reference names none.

    Examples:
        >>> find_published("paper:lame/bo-fcnet-1", "heat").genome.activation.text
        'swish(x)'
    """
    if not is_published(reference):
        raise GenomeError(
            f"{reference!r} is not a published model; write paper:NAME, with a name from `evopinn models`."
        )
    family, slash, name = reference.removeprefix("paper:").rpartition("/")
    families = dict.fromkeys(model.problem for model in published_models())
    if not slash and problem not in families:
        raise GenomeError(
            f"{reference} names no problem, and this one has no published models; "
            f"write for example paper:{next(iter(families))}/{name}."
        )
    return published_model(family if slash else problem, name)


@cache
def _models() -> Mapping[tuple[str, str], PublishedModel]:
    data = json.loads(files("evopinn.genome").joinpath("published.json").read_text(encoding="utf-8"))
    models = [_model(row) for row in data["models"]]
    return MappingProxyType({(model.problem, model.name): model for model in models})


def _model(row: dict[str, Any]) -> PublishedModel:
    errors = tuple(
        PublishedError(case, field, mean, deviation)
        for case, fields in row["errors"].items()
        for field, (mean, deviation) in fields.items()
    )
    return PublishedModel(row["problem"], row["method"], row["run"], Genome.parse(row["genome"]), errors)
