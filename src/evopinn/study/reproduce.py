"""The paper's tables of discovered models: published models trained again, and how they come out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from evopinn.genome import PublishedError, PublishedModel, published_model, published_models
from evopinn.study.design import Reproduction
from evopinn.study.parts import Load, Part, case_place, trainings_load, trainings_part
from evopinn.study.plain import plain
from evopinn.study.trials import Spread, Trial, spread_of, trials_of

Verdict = Literal["within", "better", "worse", "failed"]
"""Within the published spread; below or above it; or no training came to anything."""


@dataclass(frozen=True)
class Reproduced:
    """A row of the table: one field of one case.

    Attributes:
        model: The published model.
        case: Full name of the case.
        published: What was reported.
        measured: What came out.
    """

    model: PublishedModel
    case: str
    published: PublishedError
    measured: Spread

    @property
    def verdict(self) -> Verdict:
        """How the measured mean lies to the published mean and deviation."""
        if not self.measured.count:
            return "failed"
        distance = self.measured.mean - self.published.mean
        if abs(distance) <= self.published.deviation:
            return "within"
        return "worse" if distance > 0 else "better"


class ReproductionStudy:
    """Trains published models on the cases of their problem.

    Args:
        asked: What to do.
    """

    def __init__(self, asked: Reproduction) -> None:
        known = published_models(asked.family)
        chosen = list(dict.fromkeys(asked.models or (model.name for model in known)))
        self.design = asked.settled().model_copy(update={"models": chosen})
        self._published = [published_model(asked.family, name) for name in chosen]

    @cached_property
    def models(self) -> Mapping[str, str]:
        """Genomes by the models' names."""
        return {model.name: model.genome.text for model in self._published}

    def loads(self) -> Sequence[Load]:
        """A run for each case."""
        genomes = self.models.values()
        return [trainings_load(self.design, case, case, genomes) for case in self.design.case_names()]

    def parts(self, directory: Path) -> Iterator[Part]:  # noqa: ARG002 - nothing follows from what was found
        """A run for each case."""
        for case in self.design.case_names():
            yield trainings_part(self.design, case_place(case), case, case, self.models.values())

    def trials(self, directory: Path) -> list[Trial]:
        """All trainings."""
        cases = self.design.case_names()
        return [
            trial for case in cases for trial in trials_of(directory / case_place(case), case, self.models)
        ]

    recorded = trials  # nothing else is trained

    def table(self, trials: Sequence[Trial]) -> list[Reproduced]:
        """Published and measured side by side, in the order of the models."""
        return [
            Reproduced(model, case, error, spread_of(trials, model.name, case, error.field))
            for model in self._published
            for case in self.design.case_names()
            for error in model.errors
            if error.case == case.rpartition(":")[2]
        ]

    def data(self, directory: Path) -> dict[str, Any]:
        """What came out, as plain data."""
        rows = [
            {
                "model": row.model.name,
                "genome": row.model.genome.text,
                "case": row.case,
                "field": row.published.field,
                "published": {"mean": row.published.mean, "deviation": row.published.deviation},
                "measured": plain(row.measured),
                "verdict": row.verdict,
            }
            for row in self.table(self.trials(directory))
        ]
        return {"study": str(directory), "design": plain(self.design.model_dump()), "rows": rows}
