"""The base of all studies: runs, forecast, trainings, tables and page."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

from evopinn.lab.studies.design import Design
from evopinn.lab.studies.page_parts import PagePart
from evopinn.lab.studies.trials import Trial, trials_of
from evopinn.problem import is_problem_file
from evopinn.run.config import Config
from evopinn.search import GENOME_LIST, Roster, Workplan
from evopinn.view.tables import Table

_LOOKS = 25
"""How often errors are measured in a training: enough for the figure of its course."""

D = TypeVar("D", bound=Design)


@dataclass(frozen=True)
class StudyRun:
    """A run of a study.

    Attributes:
        name: Its directory, below that of the study.
        title: A title for people.
        config: Its configuration.
    """

    name: str
    title: str
    config: Config


@dataclass(frozen=True)
class Load:
    """The work of a run, known before it is known which networks it will train.

    Attributes:
        title: A title for people.
        problem: The problem, whose points decide how long an epoch takes.
        optimizer: The optimiser.
        trainings: Number of trainings.
        epochs: Epochs of all of them together.
        genomes: The networks, as far as they are known.
        space: Bounds of the networks, if only these are known.
        mean_cost: Cost of an epoch, in epochs of typical genomes of the space.
    """

    title: str
    problem: str
    optimizer: str
    trainings: int
    epochs: int
    genomes: tuple[str, ...] = ()
    space: str = ""
    mean_cost: float = 1.0


class Study(ABC, Generic[D]):
    """A study of some kind. A row of `KINDS` gives it a command.

    Attributes:
        design_class: The class of its design.
        title: The title of its page, a format of `problem`.
        question: The question that it answers.
        design: Its design, settled.
    """

    design_class: ClassVar[type[Design]]
    title: ClassVar[str]
    question: ClassVar[str]
    design: D

    @abstractmethod
    def __init__(self, asked: D) -> None:
        """Settle the design; refuse one that makes no sense."""

    @abstractmethod
    def loads(self) -> Sequence[Load]:
        """The work, in the order in which it is done."""

    @abstractmethod
    def runs(self, directory: Path) -> Iterable[StudyRun]:
        """The runs, in order; each is finished before the next is asked for, and may decide what follows."""

    @abstractmethod
    def trials(self, directory: Path) -> list[Trial]:
        """The trainings from which the results are made."""

    def recorded(self, directory: Path) -> list[Trial]:
        """All trainings, for `trainings.csv`."""
        return self.trials(directory)

    @abstractmethod
    def results(self, directory: Path) -> dict[str, Any]:
        """The results as plain data."""

    @abstractmethod
    def tables(self, directory: Path) -> list[Table]:
        """The results as tables."""

    @abstractmethod
    def page(self, directory: Path) -> tuple[Sequence[str], Sequence[PagePart]]:
        """The results in sentences, and the parts of the page."""

    def data(self, directory: Path) -> dict[str, Any]:
        """Design and results as plain data."""
        asked = {"study": str(directory), "design": plain_data(self.design.model_dump())}
        return asked | self.results(directory)


def case_place(case: str, what: str = "") -> str:
    """The directory of the trainings on a case, named after the case or the file that defines it."""
    stem = Path(case).stem if is_problem_file(case) else case
    return f"trainings/{stem}{'-' * bool(what)}{what}".replace(":", "-")


def trials_by_case(design: Design, directory: Path, models: Mapping[str, str]) -> list[Trial]:
    """The trainings of models, given as genomes by name, on all cases of a study."""
    cases = design.case_names()
    return [trial for case in cases for trial in trials_of(directory / case_place(case), case, models)]


def trainings_run(
    design: Design, name: str, title: str, problem: str, genomes: Iterable[str], optimizer: str = ""
) -> StudyRun:
    """Trainings of some genomes from scratch; a genome that is given twice is trained once.

    Args:
        design: The study's, settled.
        name: Of the run.
        title: Of the run.
        problem: The problem's full name.
        genomes: As text.
        optimizer: The optimiser, if it is another than that of the study.
    """
    assert design.epochs is not None
    roster = Roster(tuple(dict.fromkeys(genomes)), design.epochs)
    settings = {"evaluations": design.trials}
    return StudyRun(
        name,
        title,
        _config(design, problem, GENOME_LIST.name, roster.entry(), design.seed, optimizer, settings),
    )


def search_run(
    design: Design,
    name: str,
    title: str,
    method: str,
    workplan: Workplan,
    seed: int,
    optimizer: str,
    space: str,
) -> StudyRun:
    """A search by a method."""
    amount = {"space": space, **workplan.entry()}
    return StudyRun(name, title, _config(design, design.problem, method, amount, seed, optimizer))


def trainings_load(design: Design, title: str, problem: str, genomes: Iterable[str]) -> Load:
    """The work of `trainings_run`."""
    assert design.epochs is not None
    assert design.trials is not None
    known = tuple(dict.fromkeys(genomes))
    trainings = len(known) * design.trials
    return Load(title, problem, design.optimizer, trainings, trainings * design.epochs, known)


def plain_data(value: object) -> Any:
    """A value as dictionaries, lists and numbers for JSON; numbers that are not finite are null.

    Examples:
        >>> plain_data({"error": float("nan"), "cases": ("I", "II")})
        {'error': None, 'cases': ['I', 'II']}
    """
    match value:
        case float():
            return value if math.isfinite(value) else None
        case str() | int() | None:
            return value
        case Mapping():
            entries = cast("Mapping[object, object]", value)
            return {str(name): plain_data(each) for name, each in entries.items()}
        case Sequence():
            return [plain_data(each) for each in cast("Sequence[object]", value)]
        case _:
            if is_dataclass(value):
                return {each.name: plain_data(getattr(value, each.name)) for each in fields(value)}
            return str(value)


def _config(
    design: Design,
    problem: str,
    method: str,
    amount: Mapping[str, Any],
    seed: int,
    optimizer: str,
    settings: Mapping[str, Any] | None = None,
) -> Config:
    training: dict[str, Any] = {
        "optimizer": optimizer or design.optimizer,
        "engine": design.engine,
        "coarseness": float(design.coarseness or 1),
    }
    if method == GENOME_LIST.name:
        training["errors_every"] = max(1, (design.epochs or 1) // _LOOKS)
    return Config.of(
        {
            "problem": problem,
            "method": method,
            "seed": seed,
            **amount,
            "settings": dict(settings or {}),
            "training": training,
            "workers": design.workers.model_dump(exclude_none=True),
        }
    )
