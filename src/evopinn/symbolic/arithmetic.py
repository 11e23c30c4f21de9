"""Python's operators for objects that stand for arrays, by the names of torch's functions."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Arithmetic(ABC, Generic[T]):
    """An object with the operators of a tensor, all of which call one method."""

    __slots__ = ()

    @abstractmethod
    def _applied(self, operation: str, *operands: Any) -> T:
        """The result of one of torch's functions, by its name."""

    def __add__(self, other: Any) -> T:
        return self._applied("add", self, other)

    def __radd__(self, other: Any) -> T:
        return self._applied("add", other, self)

    def __sub__(self, other: Any) -> T:
        return self._applied("sub", self, other)

    def __rsub__(self, other: Any) -> T:
        return self._applied("sub", other, self)

    def __mul__(self, other: Any) -> T:
        return self._applied("mul", self, other)

    def __rmul__(self, other: Any) -> T:
        return self._applied("mul", other, self)

    def __truediv__(self, other: Any) -> T:
        return self._applied("div", self, other)

    def __rtruediv__(self, other: Any) -> T:
        return self._applied("div", other, self)

    def __pow__(self, other: Any) -> T:
        return self._applied("pow", self, other)

    def __rpow__(self, other: Any) -> T:
        return self._applied("pow", other, self)

    def __neg__(self) -> T:
        return self._applied("neg", self)

    def __pos__(self) -> T:
        return self._applied("positive", self)

    def __abs__(self) -> T:
        return self._applied("abs", self)

    def __lt__(self, other: Any) -> T:
        return self._applied("lt", self, other)

    def __le__(self, other: Any) -> T:
        return self._applied("le", self, other)

    def __gt__(self, other: Any) -> T:
        return self._applied("gt", self, other)

    def __ge__(self, other: Any) -> T:
        return self._applied("ge", self, other)
