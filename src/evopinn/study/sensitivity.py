"""The paper's section 2.2: which choices matter for a problem, each varied alone around a baseline."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from evopinn.errors import SearchError
from evopinn.problem import is_problem_file
from evopinn.problems import find_problem
from evopinn.problems import names as catalogue_names
from evopinn.run.place import is_run
from evopinn.study.design import Sensitivity
from evopinn.study.morris import MorrisRow, Screening, noise_effect
from evopinn.study.parts import Load, Part, case_place, trainings_load, trainings_part
from evopinn.study.plain import plain
from evopinn.study.ranking import Ranked, logarithms, ranking, responses
from evopinn.study.trials import Spread, Trial, fields_of, settled_entries, trials_of

_MORRIS = "morris"


@dataclass(frozen=True)
class Sensed:
    """What one value of an objective came to.

    Attributes:
        objective: `layers`, `neurons`, `shortcuts` or `activation`.
        value: Its name in the study.
        is_baseline: Whether it is the baseline, which each objective has.
        measured: Errors by field; empty where no solution is known.
        loss: Of the same trainings.
        case: The problem that was trained on.
    """

    objective: str
    value: str
    is_baseline: bool
    measured: Mapping[str, Spread]
    loss: Spread
    case: str = ""


class SensitivityStudy:
    """Trains a baseline, and what differs from it in one choice.

    Args:
        asked: What to do.
    """

    def __init__(self, asked: Sensitivity) -> None:
        self._varied = asked.varied()
        self.design = asked.settled()
        for case in self.design.case_names():
            if not is_problem_file(case) and case not in catalogue_names():
                find_problem(case)  # says what there is
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

    def parts(self, directory: Path) -> Iterator[Part]:  # noqa: ARG002 - nothing follows from what was found
        """A run for each case, and one of Morris' screening if that is asked for."""
        for case in self.design.case_names():
            for design, place, title, genomes in self._runs(case):
                yield trainings_part(design, place, title, case, genomes)

    def trials(self, directory: Path) -> list[Trial]:
        """All trainings but those of the screening; the baseline's are there under each of its names."""
        cases = self.design.case_names()
        return [
            trial for case in cases for trial in trials_of(directory / case_place(case), case, self.models)
        ]

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

    def table(self, trials: Sequence[Trial]) -> list[Sensed]:
        """What each value came to, in the order of the objectives."""
        fields = fields_of(trials)
        return [
            Sensed(
                objective,
                value,
                genome == self.baseline,
                {field: Spread.of(trial.error(field) for trial in own) for field in fields},
                Spread.of(trial.entry.loss for trial in own),
                case,
            )
            for case in self.design.case_names()
            for objective, values in self.objectives.items()
            for value, genome in values.items()
            for own in [_of(trials, case, objective, value)]
        ]

    def ranking(self, trials: Sequence[Trial]) -> list[Ranked]:
        """The objectives by what they matter, that which matters most first; case by case."""
        return [row for case in self.design.case_names() for row in self._ranking(trials, case)]

    def morris(self, directory: Path) -> list[MorrisRow] | None:
        """What the screening says of each factor; None if it was not asked for or is not done."""
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

    def data(self, directory: Path) -> dict[str, Any]:
        """What came out, as plain data."""
        trials = self.trials(directory)
        return {
            "study": str(directory),
            "design": plain(self.design.model_dump()),
            "rows": plain(self.table(trials)),
            "ranking": plain(self.ranking(trials)),
            "morris": plain(self.morris(directory)),
        }

    def _runs(self, case: str) -> Iterator[tuple[Sensitivity, str, str, Sequence[str]]]:
        # The baseline comes first, so that it is known as soon as anything is.
        genomes = [self.baseline, *self.models.values()]
        yield self.design, case_place(case), case, genomes
        if self.screening is not None:
            once = self.design.model_copy(update={"trials": 1})
            yield once, case_place(case, _MORRIS), f"{case}, Morris' screening", self.screening.genomes

    def _ranking(self, trials: Sequence[Trial], case: str) -> list[Ranked]:
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
