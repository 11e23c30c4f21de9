"""The table of all kinds of studies, with their commands and options; loading it loads no study."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from evopinn.lab.studies.study import Study


@dataclass(frozen=True)
class Options(ABC):
    """The options of a command that only one kind of study has."""

    @abstractmethod
    def entries(self) -> dict[str, Any]:
        """The same as entries of a design; None for what was not given."""


@dataclass(frozen=True)
class SensitivityOptions(Options):
    """Vary layers, neurons, shortcuts and activation one at a time, to see which matter."""

    morris: Annotated[
        int | None, typer.Option(min=0, help="Trajectories of Morris' screening. Default: none.")
    ] = None

    def entries(self) -> dict[str, Any]:
        """Entries of a `SensitivityDesign`."""
        return {"morris": self.morris}


@dataclass(frozen=True)
class ComparisonOptions(Options):
    """Compare the search methods at equal cost, and retrain their networks on every case."""

    methods: Annotated[
        str | None,
        typer.Option(
            help="all, or some of bo-fcnet, bo-fcresnet, random, evolution, evo-dpste, evo-dpste+lm."
        ),
    ] = None
    runs: Annotated[
        int | None, typer.Option(min=1, help="Independent searches per method. Default: set by --scale.")
    ] = None
    budget: Annotated[
        str | None, typer.Option(help='Budget of each search, overriding --scale, e.g. "30000 epochs".')
    ] = None
    space: Annotated[
        str | None,
        typer.Option(
            help='Bounds, e.g. "layers=2-12 neurons=8-64:4"; not for evo-dpste+lm. Default: the paper\'s.'
        ),
    ] = None

    def entries(self) -> dict[str, Any]:
        """Entries of a `ComparisonDesign`."""
        chosen = None if self.methods is None else [] if self.methods == "all" else names_in(self.methods)
        return {"methods": chosen, "searches": self.runs, "budget": self.budget, "space": self.space}


@dataclass(frozen=True)
class ReproductionOptions(Options):
    """Retrain the published models of KG, burgers or lame and set measured beside published errors."""

    models: Annotated[
        str | None,
        typer.Option(help="Some of the 15 published models, e.g. evo-dpste-1,bo-fcnet-1. Default: all."),
    ] = None

    def entries(self) -> dict[str, Any]:
        """Entries of a `ReproductionDesign`."""
        if self.models is None:
            return {"models": None}
        return {"models": [name.removeprefix("paper:") for name in names_in(self.models)]}


@dataclass(frozen=True)
class StudyKind:
    """A kind of study.

    Attributes:
        name: The word that designs have for it.
        command: The command that carries it out; the first of two words is a group of commands.
        options: The options of this command; their docstring is its help.
        load: Gives the class.
        group: Help on the group.
    """

    name: str
    command: str
    options: type[Options]
    load: "Callable[[], type[Study[Any]]]"
    group: str = ""


def _sensitivity() -> "type[Study[Any]]":
    from evopinn.lab.studies.sensitivity.sensitivity_study import SensitivityStudy

    return SensitivityStudy


def _comparison() -> "type[Study[Any]]":
    from evopinn.lab.studies.comparison.comparison_study import ComparisonStudy

    return ComparisonStudy


def _reproduction() -> "type[Study[Any]]":
    from evopinn.lab.studies.reproduction import ReproductionStudy

    return ReproductionStudy


KINDS: Mapping[str, StudyKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            StudyKind("sensitivity", "sensitivity", SensitivityOptions, _sensitivity),
            StudyKind("compare", "compare", ComparisonOptions, _comparison),
            StudyKind(
                "reproduce",
                "reproduce table",
                ReproductionOptions,
                _reproduction,
                group="Reproduce the paper's tables.",
            ),
        )
    }
)
"""By name, in the order of `evopinn --help`."""


def study_of(kind: str, values: Mapping[str, Any], origin: str) -> "Study[Any]":
    """A study from plain data.

    Args:
        kind: One of `KINDS`.
        values: Its design.
        origin: What a message calls the data.
    """
    study = KINDS[kind].load()
    return study(study.design_class.of(values, origin))


def names_in(text: str) -> list[str]:
    """The names in a list with commas.

    Examples:
        >>> names_in("I, III")
        ['I', 'III']
    """
    return [name.strip() for name in text.split(",")]
