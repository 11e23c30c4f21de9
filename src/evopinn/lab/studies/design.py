"""Designs of studies: files that a person can read, change and run again.

Whatever a design leaves open follows from the paper and the scale; `settled` fills it in.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import tomli_w
from pydantic import Field

from evopinn.catalogue import names as catalogue_names
from evopinn.checks import MAX_COUNT, MAX_SEED
from evopinn.errors import SearchError, UnknownNameError
from evopinn.problem import absolute_spec, is_problem_file
from evopinn.run.config import WorkersTable
from evopinn.search import Schedule
from evopinn.store.toml_tables import Strict, validated

PAPER_EPOCHS: Mapping[str, int] = {"klein-gordon": 50_000, "burgers": 8_000, "lame": 5_000}
"""Epochs for which the paper trains the models that its searches discovered."""

OTHER_EPOCHS, PAPER_TRIALS, PAPER_SEARCHES = 5_000, 10, 3

ALIASES: Mapping[str, str] = {"kg": "klein-gordon"}
"""Short names of problems."""

EPOCHS, POPULATIONS, AXES, REPEATS = 0.5, 0.35, 0.075, 0.25
"""Exponents: with a scale s, trainings have s^0.5 of the paper's epochs, a generation has s^0.35 as many of
them, each axis s^0.075 as many points, and everything is repeated s^0.25 times as often. On two axes a
generation thus costs s times as much as the paper's; final evaluations stay as many as they are."""

LEAST_POPULATION, LEAST_EPOCHS, LEAST_TRIALS = 4, 10, 2


@dataclass(frozen=True)
class Scale:
    """A share of the paper's effort.

    Attributes:
        value: s; 1 is the paper's full schedule.

    Examples:
        >>> Scale(0.01).epochs(5000), Scale(0.01).trials(10), round(Scale(0.01).coarseness, 3)
        (500, 3, 1.413)
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a number that is no share."""
        if not 0 < self.value <= 1:
            raise SearchError(f"the scale is {self.value:g}; give a number above 0 and up to 1, the paper's.")

    @property
    def coarseness(self) -> float:
        """Factor by which each axis has fewer points."""
        return self.value**-AXES

    def epochs(self, number: int) -> int:
        """Epochs of a training."""
        return min(number, max(LEAST_EPOCHS, round(number * self.value**EPOCHS)))

    def population(self, number: int) -> int:
        """Individuals of a generation, an even number."""
        scaled = 2 * round(number * self.value**POPULATIONS / 2)
        most = number - number % 2 or number
        return number if self.value == 1 else min(most, max(LEAST_POPULATION, scaled))

    def trials(self, number: int) -> int:
        """Trainings of a model, each from another seed."""
        return min(number, max(LEAST_TRIALS, round(number * self.value**REPEATS)))

    def searches(self, number: int) -> int:
        """Independent searches by a method."""
        return max(1, round(number * self.value**REPEATS))

    def schedule(self, schedule: Schedule) -> Schedule:
        """A schedule of evolution."""
        return Schedule(
            tuple(map(self.population, schedule.populations)), tuple(map(self.epochs, schedule.epochs))
        )

    def describe(self) -> str:
        """The effects in a sentence."""
        if self.value == 1:
            return "scale 1: the paper's schedules, points and numbers of trials."
        s = self.value
        return (
            f"scale {s:g}: {s**EPOCHS:.3g} of the paper's epochs, {s**POPULATIONS:.3g} of its individuals, "
            f"{s**AXES:.3g} of its points along each axis, {s**REPEATS:.3g} of its repetitions."
        )


class Design(Strict):
    """A design, as all kinds of studies have it.

    Attributes:
        kind: Which kind.
        problem: A name in the catalogue, or a file.
        scale: See `Scale`.
        seed: The seed of each model's first training, and of the first search.
        cases: Names of the problem's cases on which models are trained; all by default.
        trials: Number of trainings of each model on each case.
        epochs: Epochs of each of these.
        coarseness: Factor by which each axis has fewer points.
        optimizer: The optimiser; the paper's by default.
        engine: How derivatives are computed.
        workers: Where networks are trained; this does not affect the results.
    """

    unasked: ClassVar[frozenset[str]] = frozenset({"kind"})

    kind: str
    problem: str
    scale: float = Field(default=1.0, gt=0, le=1)
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    cases: list[str] | None = None
    trials: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    epochs: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    coarseness: float | None = Field(default=None, ge=1, le=MAX_COUNT)
    optimizer: str = "lbfgs"
    engine: str = "auto"
    workers: WorkersTable = WorkersTable()

    @classmethod
    def of(cls, values: Mapping[str, Any], origin: str = "the study") -> Self:
        """A design from plain data; a mistake in it is reported in a sentence."""
        kind = cls.model_fields["kind"].default
        if values.get("kind", kind) != kind:
            raise SearchError(f"{origin} describes the study {values['kind']!r}; this command does {kind!r}.")
        given = {name: value for name, value in values.items() if value is not None}
        if isinstance(problem := given.get("problem"), str):
            base, colon, case = problem.partition(":")
            short = ALIASES.get(base.lower(), base) + colon + case
            given["problem"] = absolute_spec(short)
        return validated(cls, given, origin)

    @property
    def family(self) -> str:
        """The problem without its case."""
        return self.problem if is_problem_file(self.problem) else self.problem.partition(":")[0].lower()

    def scaled(self) -> Scale:
        """The effects of the scale."""
        return Scale(self.scale)

    def settled(self) -> Self:
        """The same design with everything filled in that follows from the paper and the scale."""
        scale = self.scaled()
        return self.model_copy(
            update={
                "cases": list(self.case_names()),
                "trials": self.trials or scale.trials(PAPER_TRIALS),
                "epochs": self.epochs or scale.epochs(PAPER_EPOCHS.get(self.family, OTHER_EPOCHS)),
                "coarseness": self.coarseness or scale.coarseness,
            }
        )

    def case_names(self) -> tuple[str, ...]:
        """The cases by their full names; the problem itself if it has none."""
        known = [name for name in catalogue_names() if name.partition(":")[0] == self.family]
        if not known:
            known = [self.problem]
        if not self.cases:
            return tuple(known)
        by_name = {name.rpartition(":")[2]: name for name in known} | {name: name for name in known}
        chosen = [case if case in by_name else case.upper() for case in self.cases]
        for case in chosen:
            if case not in by_name:
                hint = f"There are {', '.join(known)}."
                raise UnknownNameError(f"case of {self.family}", case, by_name, hint)
        return tuple(dict.fromkeys(by_name[case] for case in chosen))

    def digest(self) -> str:
        """A hash of everything that affects the results."""
        asked = self.settled().model_dump(mode="json", exclude={"workers"})
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:8]

    def name(self) -> str:
        """A name for the study; the same study always gets the same name."""
        return f"{self.kind}-{Path(self.family).stem}-{self.digest()}"

    def toml(self) -> str:
        """The design as a file."""
        return _HEADER + tomli_w.dumps(self.model_dump(mode="json", exclude_none=True))


_HEADER = """\
# The design of a study. The command that made it carries it out again with `--config FILE`.
# In a study's directory, this file is a record: do not edit it.
"""
