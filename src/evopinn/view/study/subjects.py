"""What is shown: studies that have been carried out, and what that of sensitivity says."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from evopinn.study.design import Design
from evopinn.study.trials import Spread, Trial


class Subject(Protocol):
    """A study that has been carried out."""

    @property
    def design(self) -> Design:
        """What was asked, settled."""
        ...

    def trials(self, directory: Path) -> Sequence[Trial]:
        """All trainings of its models."""
        ...


class SensedRow(Protocol):
    """How a value of an objective came out."""

    @property
    def objective(self) -> str:
        """What is varied."""
        ...

    @property
    def value(self) -> str:
        """Its value."""
        ...

    @property
    def is_baseline(self) -> bool:
        """Whether it is the baseline's."""
        ...

    @property
    def measured(self) -> Mapping[str, Spread]:
        """Errors by field."""
        ...

    @property
    def loss(self) -> Spread:
        """Of the same trainings."""
        ...

    @property
    def case(self) -> str:
        """The problem that was trained on."""
        ...


class RankedRow(Protocol):
    """What an objective matters."""

    @property
    def objective(self) -> str:
        """Which."""
        ...

    @property
    def effect(self) -> float:
        """The spread of the mean decimal logarithm of the error over its values."""
        ...

    @property
    def best(self) -> str:
        """The value with the least error."""
        ...

    @property
    def worst(self) -> str:
        """The value with the greatest."""
        ...

    @property
    def share(self) -> float:
        """Of the sum of all effects."""
        ...

    @property
    def noise(self) -> float:
        """What the effect would be by the luck of trainings alone."""
        ...

    @property
    def p_holm(self) -> float:
        """Of a test that all values are alike, corrected for the number of objectives."""
        ...

    @property
    def case(self) -> str:
        """The problem that was trained on."""
        ...


class MorrisRow(Protocol):
    """Morris' indices of a factor."""

    @property
    def factor(self) -> str:
        """Which."""
        ...

    @property
    def mu_star(self) -> float:
        """The mean of its elementary effects' sizes."""
        ...

    @property
    def sigma(self) -> float:
        """The deviation of its elementary effects."""
        ...

    @property
    def confidence(self) -> float:
        """Half the width of the interval of 95 % around the first."""
        ...

    @property
    def noise(self) -> float:
        """What the first would be by the luck of trainings alone."""
        ...

    @property
    def case(self) -> str:
        """The problem that was trained on."""
        ...


class SensitivitySubject(Protocol):
    """A study of sensitivity."""

    @property
    def design(self) -> Design:
        """What was asked."""
        ...

    @property
    def objectives(self) -> Mapping[str, Mapping[str, str]]:
        """Genomes by objective and value."""
        ...

    def trials(self, directory: Path) -> Sequence[Trial]:
        """All trainings; a model is called `objective=value`."""
        ...

    def table(self, trials: Sequence[Trial]) -> Sequence[SensedRow]:
        """How each value came out."""
        ...

    def ranking(self, trials: Sequence[Trial]) -> Sequence[RankedRow]:
        """What each objective matters, most first."""
        ...

    def morris(self, directory: Path) -> Sequence[MorrisRow] | None:
        """Morris' indices, if they were asked for."""
        ...
