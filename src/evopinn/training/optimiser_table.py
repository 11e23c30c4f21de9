"""The table of optimisers, and chains of them as text. Nothing here needs torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evopinn.checks import shown
from evopinn.errors import TrainingError
from evopinn.training.settings import lookup

if TYPE_CHECKING:
    from evopinn.training.optimiser import Continuable


class Needs(StrEnum):
    """The information that an optimiser needs about the loss."""

    GRADIENT = "gradient"
    LEAST_SQUARES = "least-squares"


@dataclass(frozen=True)
class OptimiserKind:
    """A row of the table: the name, class and properties of an optimiser.

    Attributes:
        name: The name that a user writes.
        location: Module of this package and class, `module.Class`; the class has the row as `kind`.
        spends_by_cost: Whether its steps count by their cost, so that a number of epochs limits a
            training by itself; otherwise a step is an epoch.
        needs: The information that it needs of the loss.
    """

    name: str
    location: str
    spends_by_cost: bool = False
    needs: Needs = Needs.GRADIENT

    def load(self) -> "type[Continuable[Any]]":
        """The optimiser's class."""
        module, _, name = self.location.partition(".")
        return getattr(import_module(f"evopinn.training.{module}"), name)

    @property
    def takes_rate(self) -> bool:
        """Whether it has a learning rate."""
        return "rate" in signature(self.load()).parameters

    def make(self, rate: float | None = None) -> "Continuable[Any]":
        """The optimiser with its usual settings, and with another learning rate if it has one."""
        settings = {} if rate is None or not self.takes_rate else {"rate": rate}
        return self.load()(**settings)


OPTIMISERS: Mapping[str, OptimiserKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            OptimiserKind("lbfgs", "lbfgs.LBFGS"),
            OptimiserKind("adam", "adam.Adam"),
            OptimiserKind("lm", "levenberg.LM", spends_by_cost=True, needs=Needs.LEAST_SQUARES),
        )
    }
)
"""The optimisers that have a name."""

CHAIN = OptimiserKind("a chain", "chain.Chain", spends_by_cost=True, needs=Needs.LEAST_SQUARES)
"""The row of all chains, in which first-order steps count by their cost too."""


@dataclass(frozen=True)
class NamedStage:
    """A stage of a chain of optimisers in text form.

    Attributes:
        kind: Its optimiser.
        epochs: Its number of epochs; without one, it ends when it has converged.
    """

    kind: OptimiserKind
    epochs: int | None = None


@dataclass(frozen=True)
class NamedChain:
    """A chain of optimisers in text form."""

    stages: tuple[NamedStage, ...]

    spends_by_cost = CHAIN.spends_by_cost


def parse_optimiser(text: str) -> OptimiserKind | NamedChain:
    """The optimiser of a name, or a chain of them, such as "adam:500+lm"."""
    if "+" in text or ":" in text:
        return NamedChain(tuple(map(_named_stage, text.split("+"))))
    return lookup("optimizer", text, OPTIMISERS)


def _named_stage(text: str) -> NamedStage:
    name, colon, epochs = text.strip().partition(":")
    kind = lookup("optimizer", name, OPTIMISERS)
    if not colon:
        return NamedStage(kind)
    if not (epochs.isascii() and epochs.isdigit() and len(epochs) < 16 and int(epochs)):
        raise TrainingError(
            f"optimizer has the stage {shown(text)}; write a name and a number of epochs such as adam:500."
        )
    return NamedStage(kind, int(epochs))


def spends_by_cost(optimizer: str) -> bool:
    """Whether the steps of an optimiser count by their cost, as in all chains."""
    return parse_optimiser(optimizer).spends_by_cost
