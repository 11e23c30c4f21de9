"""The interface of a workplan: the amount of work of a search, as a table of its configuration."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

MOST_TRAININGS = 10**7
"""Of a generation: more would not fit into memory."""


@dataclass(frozen=True)
class Workplan(ABC):
    """The amount of work of a search.

    Its fields are a table of the configuration: numbers, texts, tuples of these.

    Attributes:
        table: The name of that table.
        wanted: The table in words, for messages.
    """

    table: ClassVar[str]
    wanted: ClassVar[str]

    @property
    @abstractmethod
    def longest(self) -> int:
        """The epochs of the longest trainings."""

    @property
    def generations(self) -> int:
        """The number of generations that are planned one by one; 0 without any."""
        return 0

    def with_genomes(self, read: Callable[[str], str]) -> Self:
        """The same workplan, with `read` applied to each genome that a user wrote, if it has any."""
        del read
        return self

    def entry(self) -> dict[str, Any]:
        """The table under its name, as plain data."""
        values = {row.name: getattr(self, row.name) for row in fields(self)}
        return {self.table: {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}}  # pyright: ignore[reportUnknownArgumentType]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The workplan of such a table, checked."""
        return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in table.items()})  # pyright: ignore[reportUnknownArgumentType]
