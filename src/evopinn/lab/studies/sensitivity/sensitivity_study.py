"""The study that varies each choice around a baseline to see which matter."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from evopinn.catalogue import find_problem
from evopinn.catalogue import names as catalogue_names
from evopinn.errors import SearchError
from evopinn.lab.studies.labels import case_label
from evopinn.lab.studies.page_parts import Drawing, PagePart, of_case
from evopinn.lab.studies.sensitivity.importance import RankedObjective, logarithms, ranking, responses
from evopinn.lab.studies.sensitivity.morris import MorrisRow, Screening, noise_effect
from evopinn.lab.studies.sensitivity.sensitivity_figures import (
    morris_figure,
    ranking_figure,
    sensitivity_figure,
)
from evopinn.lab.studies.sensitivity.sensitivity_tables import (
    ValueResult,
    by_case,
    morris_table,
    ranking_table,
    sensitivity_table,
)
from evopinn.lab.studies.sensitivity.variations import SensitivityDesign
from evopinn.lab.studies.statistics import SIGNIFICANT
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
from evopinn.lab.studies.trials import Sample, Trial, fields_of, settled_entries, trials_of
from evopinn.problem import is_problem_file
from evopinn.store.directory import is_run
from evopinn.view.figures.pictures import PictureRow
from evopinn.view.tables import Table

_MORRIS = "morris"

_SENSITIVITY_PICTURE = PictureRow(
    "sensitivity",
    "Errors and histories by what is varied",
    "A row for each objective. Left: a dot is a training, a bar the mean of a value. Right: the mean history "
    "of the same trainings, in the same colours. The baseline's value is bold. Where the dots of all values "
    "lie at the same height, the objective hardly matters.",
)
_RANKING_PICTURE = PictureRow(
    "ranking",
    "What matters most",
    "How far apart the errors of an objective's values are, in powers of ten, and its share of all effects. "
    "The orange mark is what luck alone would give: a bar that ends near it shows nothing.",
)
_MORRIS_PICTURE = PictureRow(
    "morris",
    "Morris' mean effects",
    "The mean size of the effect of a factor's step, with its 95 % interval.",
)


class SensitivityStudy(Study[SensitivityDesign]):
    """Trains a baseline, and networks that differ from it in one choice.

    Args:
        asked: The design.
    """

    design_class = SensitivityDesign
    title = "{problem}: how much each choice matters"
    question = (
        "How much do layers, neurons, shortcuts and activation matter for the error, each varied alone from "
        "a common baseline?"
    )

    def __init__(self, asked: SensitivityDesign) -> None:
        self._varied = asked.varied()
        self.design = asked.settled()
        for case in self.design.case_names():
            if not is_problem_file(case) and case not in catalogue_names():
                find_problem(case)  # which names the known ones
        if not self.objectives:
            raise SearchError("nothing is varied: all values of the study are the baseline's; give others.")
        self.screening = Screening.of(self._varied, asked.morris, asked.seed) if asked.morris else None

    @cached_property
    def objectives(self) -> Mapping[str, Mapping[str, str]]:
        """Genomes by objective and by the name of the value; the baseline is one of each objective."""
        return self._varied.objectives()

    @cached_property
    def models(self) -> Mapping[str, str]:
        """Genomes by `objective=value`."""
        return {
            f"{objective}={value}": genome
            for objective, values in self.objectives.items()
            for value, genome in values.items()
        }

    @property
    def baseline(self) -> str:
        """The genome that all objectives share."""
        return self._varied.baseline.text

    def loads(self) -> Sequence[Load]:
        """A run for each case, and one of Morris' screening if that is asked for."""
        return [
            trainings_load(design, title, case, genomes)
            for case in self.design.case_names()
            for design, _, title, genomes in self._runs(case)
        ]

    def runs(self, directory: Path) -> Iterator[StudyRun]:  # noqa: ARG002 - no run depends on earlier ones
        """A run for each case, and one of Morris' screening if that is asked for."""
        for case in self.design.case_names():
            for design, place, title, genomes in self._runs(case):
                yield trainings_run(design, place, title, case, genomes)

    def trials(self, directory: Path) -> list[Trial]:
        """All trainings but those of the screening; the baseline's occur under each of its names."""
        return trials_by_case(self.design, directory, self.models)

    def recorded(self, directory: Path) -> list[Trial]:
        """All trainings, those of the screening behind the others as `morris=1`, `morris=2`, ..."""
        genomes = dict.fromkeys(() if self.screening is None else self.screening.genomes)
        screened = {f"{_MORRIS}={number}": genome for number, genome in enumerate(genomes, start=1)}
        places = {case: directory / case_place(case, _MORRIS) for case in self.design.case_names()}
        return self.trials(directory) + [
            trial
            for case, place in places.items()
            if is_run(place)
            for trial in trials_of(place, case, screened)
        ]

    def sensed(self, trials: Sequence[Trial]) -> list[ValueResult]:
        """Errors and losses of each value, in the order of the objectives."""
        fields = fields_of(trials)
        return [
            ValueResult(
                objective,
                value,
                genome == self.baseline,
                {field: Sample.of(trial.error(field) for trial in own) for field in fields},
                Sample.of(trial.entry.loss for trial in own),
                case,
            )
            for case in self.design.case_names()
            for objective, values in self.objectives.items()
            for value, genome in values.items()
            for own in [_of(trials, case, objective, value)]
        ]

    def ranking(self, trials: Sequence[Trial]) -> list[RankedObjective]:
        """The objectives, the one that matters most first; case by case."""
        return [row for case in self.design.case_names() for row in self._ranking(trials, case)]

    def morris(self, directory: Path) -> list[MorrisRow] | None:
        """The effect of each factor in the screening; None if it was not asked for or is not done."""
        if self.screening is None:
            return None
        rows: list[MorrisRow] = []
        for case in self.design.case_names():
            place = directory / case_place(case, _MORRIS)
            entries = list(settled_entries(place)) if is_run(place) else []
            found = dict(zip([each.genome for each in entries], responses(entries), strict=True))
            if not set(self.screening.genomes) <= set(found):
                return None
            noise = noise_effect(self._deviation(self.trials(directory), case))
            failed = sum(map(math.isnan, logarithms(entries)))
            rows += [
                replace(row, noise=noise, failed=failed, case=case) for row in self.screening.rows(found)
            ]
        return rows

    def results(self, directory: Path) -> dict[str, Any]:
        """Values, ranking and screening."""
        trials = self.trials(directory)
        return {
            "rows": plain_data(self.sensed(trials)),
            "ranking": plain_data(self.ranking(trials)),
            "morris": plain_data(self.morris(directory)),
        }

    def tables(self, directory: Path) -> list[Table]:
        """Values, ranking and screening."""
        trials, morris = self.trials(directory), self.morris(directory)
        screened = [] if morris is None else [morris_table(morris)]
        return [sensitivity_table(self.sensed(trials)), ranking_table(self.ranking(trials)), *screened]

    def page(self, directory: Path) -> tuple[Sequence[str], Sequence[PagePart]]:
        """Ranking, values and screening."""
        trials, morris = self.trials(directory), self.morris(directory)
        values, ranks, *screened = self.tables(directory)
        ranked = by_case(self.ranking(trials))
        bars: list[Drawing] = [
            (of_case(_RANKING_PICTURE, case), partial(ranking_figure, own)) for case, own in ranked.items()
        ]
        strips = [
            self._drawing(trials, case, field)
            for case in self.design.case_names()
            for field in fields_of(trials) or (None,)
        ]
        parts = [
            PagePart.of("ranking", "Ranking", tables=[ranks], drawings=bars),
            PagePart.of("values", "Value by value", tables=[values], drawings=strips),
        ]
        if morris is not None:
            effects: list[Drawing] = [
                (of_case(_MORRIS_PICTURE, case), partial(morris_figure, own))
                for case, own in by_case(morris).items()
            ]
            parts.append(PagePart.of("morris", "All together", tables=screened, drawings=effects))
        return [_summary(case, own) for case, own in ranked.items()], parts

    def _drawing(self, trials: Sequence[Trial], case: str, field: str | None) -> Drawing:
        row = of_case(_SENSITIVITY_PICTURE, case, field or "loss")
        return row, partial(sensitivity_figure, self.objectives, self.baseline, trials, case, field=field)

    def _runs(self, case: str) -> Iterator[tuple[SensitivityDesign, str, str, Sequence[str]]]:
        # The baseline comes first, so that it is known as soon as anything is.
        genomes = [self.baseline, *self.models.values()]
        yield self.design, case_place(case), case, genomes
        if self.screening is not None:
            once = self.design.model_copy(update={"trials": 1})
            yield once, case_place(case, _MORRIS), f"{case}, Morris' screening", self.screening.genomes

    def _ranking(self, trials: Sequence[Trial], case: str) -> list[RankedObjective]:
        groups = {name: values for name, values in self._groups(trials, case).items() if values}
        failed = self._failed(trials, case)
        return [
            replace(row, failed=failed[row.objective], case=case)
            for row in ranking(groups, self._deviation(trials, case))
        ]

    def _failed(self, trials: Sequence[Trial], case: str) -> Mapping[str, int]:
        """Trainings of each objective that failed."""
        here = [trial for trial in trials if trial.case == case]
        lost = zip(here, logarithms([trial.entry for trial in here]), strict=True)
        count = Counter(trial.model.partition("=")[0] for trial, each in lost if math.isnan(each))
        return {objective: count[objective] for objective in self.objectives}

    def _groups(self, trials: Sequence[Trial], case: str) -> dict[str, dict[str, list[float]]]:
        """The responses by objective and value; values that are not trained yet are left out."""
        here = [trial for trial in trials if trial.case == case]
        groups: dict[str, dict[str, list[float]]] = {objective: {} for objective in self.objectives}
        for trial, response in zip(here, responses([trial.entry for trial in here]), strict=True):
            objective, _, value = trial.model.partition("=")
            groups[objective].setdefault(value, []).append(response)
        return groups

    def _deviation(self, trials: Sequence[Trial], case: str) -> float:
        """Between trainings of one network that differ in their seeds, pooled over all networks."""
        groups = self._groups(trials, case)
        by_genome = {
            self.models[f"{objective}={value}"]: own
            for objective, values in groups.items()
            for value, own in values.items()
        }
        squares = sum(float(np.var(own)) * len(own) for own in by_genome.values())
        freedom = sum(len(own) - 1 for own in by_genome.values())
        return math.sqrt(squares / freedom) if freedom else math.nan


def _of(trials: Sequence[Trial], case: str, objective: str, value: str) -> list[Trial]:
    return [trial for trial in trials if (trial.case, trial.model) == (case, f"{objective}={value}")]


def _summary(case: str, rows: Sequence[RankedObjective]) -> str:
    listed = ", ".join(f"{each.objective} ({each.effect:.2g} decades; best {each.best})" for each in rows)
    shown = [each.objective for each in rows if each.p_holm <= SIGNIFICANT]
    beyond = f"More than luck (p ≤ {SIGNIFICANT:g} after Holm's correction): {', '.join(shown) or 'none'}."
    return f"What matters in case {case_label(case)}, most important first: {listed}. {beyond}"
