"""Published models trained again, and their errors beside the published ones."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from evopinn.genome import PublishedError, PublishedModel, published_model, published_models
from evopinn.lab.studies.design import Design
from evopinn.lab.studies.labels import (
    activation_cell,
    case_label,
    conditions_note,
    count_cell,
    mean_cell,
    number_cell,
    published_cell,
    structure_cell,
)
from evopinn.lab.studies.page_parts import PagePart, training_parts
from evopinn.lab.studies.study import (
    Load,
    Study,
    StudyRun,
    case_place,
    plain_data,
    trainings_load,
    trainings_run,
    trials_by_case,
)
from evopinn.lab.studies.trials import Sample, Trial, errors_of
from evopinn.view.run_tables import STRUCTURE_NOTE
from evopinn.view.tables import NOTHING, Column, Table

Verdict = Literal["within", "better", "worse", "failed"]
"""Within the published spread; below or above it; or no training succeeded."""

VERDICTS: dict[Verdict, str] = {
    "within": "within the published spread",
    "better": "better",
    "worse": "worse",
    "failed": "without any network",
}
"""The same in words that follow a number."""


class ReproductionDesign(Design):
    """The design of a reproduction.

    Attributes:
        models: Names of published models, such as `evo-dpste-1`; all 15 of the problem by default.
    """

    kind: str = "reproduce"
    models: list[str] | None = None


@dataclass(frozen=True)
class Reproduced:
    """A published error beside what was measured: one model, case and field.

    Attributes:
        model: The published model.
        case: Full name of the case.
        published: The published error.
        measured: The errors of our trainings.
    """

    model: PublishedModel
    case: str
    published: PublishedError
    measured: Sample

    @property
    def verdict(self) -> Verdict:
        """How the measured mean compares with the published mean and deviation."""
        if not self.measured.count:
            return "failed"
        distance = self.measured.mean - self.published.mean
        if abs(distance) <= self.published.deviation:
            return "within"
        return "worse" if distance > 0 else "better"

    @property
    def is_trained(self) -> bool:
        """Whether there are trainings at all."""
        return bool(self.measured.count or self.measured.failed)


class ReproductionStudy(Study[ReproductionDesign]):
    """Trains published models on the cases of their problem.

    Args:
        asked: The design.
    """

    design_class = ReproductionDesign
    title = "{problem}: published models, trained again"
    question = "Do the published models reach the paper's errors when they are trained again?"

    def __init__(self, asked: ReproductionDesign) -> None:
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

    def runs(self, directory: Path) -> Iterator[StudyRun]:  # noqa: ARG002 - no run depends on earlier ones
        """A run for each case."""
        for case in self.design.case_names():
            yield trainings_run(self.design, case_place(case), case, case, self.models.values())

    def trials(self, directory: Path) -> list[Trial]:
        """All trainings."""
        return trials_by_case(self.design, directory, self.models)

    def reproduced(self, trials: Sequence[Trial]) -> list[Reproduced]:
        """Published and measured errors, in the order of the models."""
        return [
            Reproduced(model, case, error, errors_of(trials, model.name, case, error.field))
            for model in self._published
            for case in self.design.case_names()
            for error in model.errors
            if error.case == case.rpartition(":")[2]
        ]

    def results(self, directory: Path) -> dict[str, Any]:
        """The rows of the table."""
        rows = [
            {
                "model": row.model.name,
                "genome": row.model.genome.text,
                "case": row.case,
                "field": row.published.field,
                "published": {"mean": row.published.mean, "deviation": row.published.deviation},
                "measured": plain_data(row.measured),
                "verdict": row.verdict,
            }
            for row in self.reproduced(self.trials(directory))
        ]
        return {"rows": rows}

    def tables(self, directory: Path) -> list[Table]:
        """Published beside measured errors."""
        return [reproduction_table(self.design, self.reproduced(self.trials(directory)))]

    def page(self, directory: Path) -> tuple[Sequence[str], Sequence[PagePart]]:
        """Published beside measured errors, histories and maps."""
        trials = self.trials(directory)
        rows = self.reproduced(trials)
        parts = [
            PagePart.of("models", "Published and measured", tables=[reproduction_table(self.design, rows)]),
            *training_parts(self.design, trials),
        ]
        return [verdicts_note(rows), conditions_note(self.design)], parts


_COLUMNS = (
    Column("model", "name", lambda row: row.model.name),
    Column("structure", "code", lambda row: structure_cell(row.model.genome.text), gives_way=True),
    Column("activation", "code", lambda row: activation_cell(row.model.genome.text)),
    Column("case", value=lambda row: case_label(row.case)),
    Column("field", value=lambda row: row.published.field),
    Column("published error", "number", lambda row: published_cell(row.published)),
    Column("measured error", "number", lambda row: mean_cell(row.measured)),
    Column("ratio", "number", lambda row: number_cell(row.measured.mean / row.published.mean)),
    Column("trainings", "number", lambda row: count_cell(row.measured), gives_way=True),
    Column("verdict", "verdict", lambda row: row.verdict if row.is_trained else NOTHING),
)


def reproduction_table(design: ReproductionDesign, rows: Sequence[Reproduced]) -> Table:
    """A row for each model, case and field: published and measured mean ± deviation, and a verdict."""
    return Table(
        "Published models, trained again",
        _COLUMNS,
        rows,
        (
            verdicts_note(rows),
            "A mean is within the published spread if it is at most one published deviation from the "
            "published mean.",
            conditions_note(design),
            STRUCTURE_NOTE,
        ),
        groups=3,
    )


def verdicts_note(rows: Sequence[Reproduced]) -> str:
    """The number of rows with each verdict."""
    counts = Counter(each.verdict for each in rows if each.is_trained)
    listed = [f"{counts[verdict]} {words}" for verdict, words in VERDICTS.items() if counts[verdict]]
    if missing := len(rows) - counts.total():
        listed.append(f"{missing} not trained yet")
    return f"Of {len(rows)} rows: {', '.join(listed)}." if rows else "Nothing is published on these cases."
