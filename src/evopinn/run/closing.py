"""Being closed at the end of a `with` block, for whatever holds something open."""

from abc import ABC, abstractmethod
from typing import Self, final


class Closing(ABC):
    """Something that is closed when its block is left, however it is left."""

    @abstractmethod
    def close(self) -> None:
        """Free what is held."""

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(self, *_: object) -> None:
        self.close()
