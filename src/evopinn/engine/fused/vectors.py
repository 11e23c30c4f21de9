"""Vectors of a kernel: floating-point numbers, integers or truth values, one per lane of a register.

They only have operators; an `Emitter` writes what these ask for.
"""

import sys
from collections.abc import Mapping
from ctypes import c_double, c_float
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

import torch
from llvmlite import ir

if TYPE_CHECKING:
    from evopinn.engine.fused.emitter import Emitter

DType: TypeAlias = Literal["float64", "float32"]


@dataclass(frozen=True)
class FloatFormat:
    """A floating-point format and the number of its lanes in 512 bits."""

    name: DType
    width: int
    fraction: int
    lanes: int
    scalar: ir.Type
    number: type[c_double] | type[c_float]

    @property
    def bias(self) -> int:
        """The number added to an exponent to store it."""
        return (1 << (self.width - self.fraction - 2)) - 1

    @property
    def one(self) -> int:
        """The bits of 1.0."""
        return self.bias << self.fraction

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.width - 1)

    @property
    def magic(self) -> float:
        """A number whose last place is one: adding it rounds a small number to the nearest integer."""
        return 1.5 * 2.0**self.fraction

    def rounded(self, value: float) -> float:
        """The nearest number of the format."""
        return self.number(value).value

    def bits_of(self, value: float) -> int:
        """The bits of a number."""
        return int.from_bytes(bytes(self.number(value)), sys.byteorder)


FORMATS: Final[Mapping[DType, FloatFormat]] = {
    "float64": FloatFormat("float64", 64, 52, 8, ir.DoubleType(), c_double),
    "float32": FloatFormat("float32", 32, 23, 16, ir.FloatType(), c_float),
}


DTYPES: Final[Mapping[torch.dtype, DType]] = {torch.float64: "float64", torch.float32: "float32"}
"""Precisions that kernels are written for."""


@dataclass(frozen=True, eq=False)
class Value:
    """A value of the function being written, and the emitter that wrote it."""

    emitter: "Emitter"
    value: ir.Value
    number: int


Lanes = TypeVar("Lanes", bound=Value)


class Vector(Value):
    """One floating-point number per lane."""

    def __add__(self, other: "Vector | float") -> "Vector":
        return self.emitter.binary("fadd", self, self.emitter.vector(other))

    def __sub__(self, other: "Vector | float") -> "Vector":
        return self.emitter.binary("fsub", self, self.emitter.vector(other))

    def __mul__(self, other: "Vector | float") -> "Vector":
        return self.emitter.binary("fmul", self, self.emitter.vector(other))

    def __truediv__(self, other: "Vector | float") -> "Vector":
        return self.emitter.binary("fdiv", self, self.emitter.vector(other))

    def __radd__(self, other: float) -> "Vector":
        return self.emitter.constant(other) + self

    def __rsub__(self, other: float) -> "Vector":
        return self.emitter.constant(other) - self

    def __rmul__(self, other: float) -> "Vector":
        return self.emitter.constant(other) * self

    def __rtruediv__(self, other: float) -> "Vector":
        return self.emitter.constant(other) / self

    def __neg__(self) -> "Vector":
        return self.emitter.negative(self)

    def __gt__(self, other: "Vector | float") -> "Mask":
        return self.emitter.compare(">", self, self.emitter.vector(other))

    def __lt__(self, other: "Vector | float") -> "Mask":
        return self.emitter.compare("<", self, self.emitter.vector(other))

    def __ge__(self, other: "Vector | float") -> "Mask":
        return self.emitter.compare(">=", self, self.emitter.vector(other))

    def __le__(self, other: "Vector | float") -> "Mask":
        return self.emitter.compare("<=", self, self.emitter.vector(other))

    @property
    def bits(self) -> "Bits":
        """The same bits as integers."""
        return self.emitter.as_bits(self)


class Bits(Value):
    """One unsigned integer per lane, as wide as the floating-point numbers; it wraps around."""

    def _with(self, operation: str, other: "Bits | int") -> "Bits":
        return self.emitter.binary(operation, self, self.emitter.integers(other))

    def __add__(self, other: "Bits | int") -> "Bits":
        return self._with("add", other)

    def __sub__(self, other: "Bits | int") -> "Bits":
        return self._with("sub", other)

    def __rsub__(self, other: int) -> "Bits":
        return self.emitter.integers(other) - self

    def __and__(self, other: "Bits | int") -> "Bits":
        return self._with("and", other)

    def __or__(self, other: "Bits | int") -> "Bits":
        return self._with("or", other)

    def __xor__(self, other: "Bits | int") -> "Bits":
        return self._with("xor", other)

    def __lshift__(self, other: int) -> "Bits":
        return self._with("shl", other)

    def __rshift__(self, other: int) -> "Bits":
        return self._with("lshr", other)

    def has(self, bit: int) -> "Mask":
        """Where any of the given bits is set."""
        return self.emitter.nonzero(self & bit)

    @property
    def vector(self) -> Vector:
        """The same bits as floating-point numbers."""
        return self.emitter.as_vector(self)


class Mask(Value):
    """One truth value per lane."""

    def __and__(self, other: "Mask") -> "Mask":
        return self.emitter.binary("and", self, other)

    def __or__(self, other: "Mask") -> "Mask":
        return self.emitter.binary("or", self, other)
