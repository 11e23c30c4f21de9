"""What a study is to do, as a file that a person can read, change and run again.

What is not said follows from the paper and the scale; `settled` says all of it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, cast

import tomli_w
from pydantic import BeforeValidator, Field

from evopinn.checks import MOST, MOST_SEED
from evopinn.errors import SearchError, UnknownNameError
from evopinn.problem import absolute_spec, is_problem_file
from evopinn.problems import names as catalogue_names
from evopinn.run.config import ScheduleTable, WorkersTable, read_config
from evopinn.run.strict import Strict, validated
from evopinn.study.objectives import Varied
from evopinn.study.scale import Scale

PAPER_EPOCHS: Mapping[str, int] = {"klein-gordon": 50_000, "burgers": 8_000, "lame": 5_000}
"""For which the paper trains the models that were discovered."""

OTHER_EPOCHS, PAPER_TRIALS, PAPER_SEARCHES = 5_000, 10, 3

ALIASES: Mapping[str, str] = {"kg": "klein-gordon"}
"""Short names of problems."""


class Design(Strict):
    """What all studies have.

    Attributes:
        kind: Which study.
        problem: A name of the catalogue, or a file.
        scale: See `Scale`.
        seed: Of the first training of each model, and of the first search.
        cases: Names of the problem's cases on which models are trained; all by default.
        trials: Trainings of each model on each case.
        epochs: Of each of them.
        coarseness: Factor by which each axis has fewer points.
        optimizer: That trains; the paper's by default.
        engine: How derivatives are computed.
        workers: Where it is trained; changes nothing in what is found.
    """

    unasked: ClassVar[frozenset[str]] = frozenset({"kind"})

    kind: str
    problem: str
    scale: float = Field(default=1.0, gt=0, le=1)
    seed: int = Field(default=0, ge=0, le=MOST_SEED)
    cases: list[str] | None = None
    trials: int | None = Field(default=None, ge=1, le=MOST)
    epochs: int | None = Field(default=None, ge=1, le=MOST)
    coarseness: float | None = Field(default=None, ge=1, le=MOST)
    optimizer: str = "lbfgs"
    engine: str = "auto"
    workers: WorkersTable = WorkersTable()

    @classmethod
    def of(cls, values: Mapping[str, Any], origin: str = "the study") -> Self:
        """A design from plain data; what is wrong with it is told in a sentence."""
        kind = cls.model_fields["kind"].default
        if values.get("kind", kind) != kind:
            raise SearchError(f"{origin} describes the study {values['kind']!r}; this command does {kind!r}.")
        given = {name: value for name, value in values.items() if value is not None}
        if isinstance(problem := given.get("problem"), str):
            base, colon, case = problem.partition(":")
            short = ALIASES.get(base.lower(), base) + colon + case
            given["problem"] = absolute_spec(short) if is_problem_file(short) else short
        return validated(cls, given, origin)

    @property
    def family(self) -> str:
        """The problem without its case."""
        return self.problem if is_problem_file(self.problem) else self.problem.partition(":")[0].lower()

    def scaled(self) -> Scale:
        """The scale as what it does."""
        return Scale(self.scale)

    def settled(self) -> Self:
        """The same with everything said that follows from the paper and the scale."""
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
        """Stands for all that decides what comes out."""
        asked = self.settled().model_dump(mode="json", exclude={"workers"})
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:8]

    def name(self) -> str:
        """The same name for the same study."""
        return f"{self.kind}-{Path(self.family).stem}-{self.digest()}"

    def toml(self) -> str:
        """The design as a file."""
        return _HEADER + tomli_w.dumps(self.model_dump(mode="json", exclude_none=True))


class Comparison(Design):
    """The paper's section 4: methods compared at equal cost.

    Attributes:
        methods: By name; `evo-dpste+lm` is evolution with DPSTE that trains by Levenberg-Marquardt.
        searches: Independent ones by each method, with the seeds `seed`, `seed` + 1, ...
        budget: Epochs of a search by `evo-dpste`, in place of the paper's schedule.
        schedule: Or its populations and epochs.
        space: Bounds of the networks, but for `evo-dpste+lm`.
    """

    kind: str = "compare"
    methods: list[str] | None = None
    searches: int | None = Field(default=None, ge=1, le=MOST)
    budget: str | None = None
    schedule: ScheduleTable | None = None
    space: str = ""

    def settled(self) -> Self:
        """The same with everything said that follows from the paper and the scale."""
        searches = self.searches or self.scaled().searches(PAPER_SEARCHES)
        return super().settled().model_copy(update={"searches": searches})


def _by_name(value: object) -> object:
    """A list of names as a table in which each stands for itself."""
    return {name: name for name in cast("list[Any]", value)} if isinstance(value, list) else value


class Sensitivity(Design):
    """The paper's section 2.2: what each choice matters, all others being as in a baseline.

    The values of the baseline belong to those that are tried, whether they are given or not; an empty list
    leaves a choice as it is in the baseline. It is one case that models are trained on: that of the problem's
    name, or else the first.

    Attributes:
        baseline: Layers, neurons, shortcuts and activation, as a genome.
        layers: Numbers of layers that are tried, with shortcuts that span as many as those of the baseline.
        neurons: Numbers of neurons.
        shortcuts: Patterns of shortcuts for the layers of the baseline, by name.
        activations: Expressions by name; or names of common ones.
        morris: Trajectories of Morris' screening, in which all choices vary together; none by default.
    """

    kind: str = "sensitivity"
    baseline: str | None = None
    layers: list[int] | None = None
    neurons: list[int] | None = None
    shortcuts: dict[str, str] | None = None
    activations: Annotated[dict[str, str] | None, BeforeValidator(_by_name)] = None
    morris: int = Field(default=0, ge=0, le=1000)

    def varied(self) -> Varied:
        """What is varied, checked."""
        return Varied.of(self.baseline, self.layers, self.neurons, self.shortcuts, self.activations)

    def settled(self) -> Self:
        """The same with everything said that follows from the paper and the scale."""
        return super().settled().model_copy(update=self.varied().entries())

    def case_names(self) -> tuple[str, ...]:
        """The cases by their full names: one, unless others are given."""
        names = super().case_names()
        if self.cases or is_problem_file(self.problem):
            return names
        case = self.problem.partition(":")[2]
        return (f"{self.family}:{case.upper()}",) if case else names[:1]


class Reproduction(Design):
    """The paper's tables of discovered models: published models, trained again.

    Attributes:
        models: By name, such as `evo-dpste-1`; all 15 of the problem by default.
    """

    kind: str = "reproduce"
    models: list[str] | None = None


def read_design(path: Path) -> dict[str, Any]:
    """The plain data of a study's file."""
    return read_config(path)


_HEADER = """\
# What a study does; the command that it is called by does it again with `--config FILE`.
# In the directory of a study this is a record.
"""
