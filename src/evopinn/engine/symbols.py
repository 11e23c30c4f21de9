"""Symbols: arrays that record what is done with them instead of computing it.

A `Symbol` stands for an array of one value per point and neuron, for a number, or for a constant. Arithmetic
and the functions of torch build new symbols from it, so the closed forms of the operator table, written for
tensors, also write down formulas. Equal expressions are the same symbol: what a formula uses twice is
computed once. The formulas are run by torch operations or compiled to a kernel.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import torch

OPERATIONS = (
    *("add", "sub", "mul", "div", "neg", "abs", "sqrt", "copysign", "maximum", "minimum", "clamp"),
    *(
        "exp",
        "expm1",
        "log1p",
        "sin",
        "cos",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "atan",
        "erf",
        "erfc",
        "sigmoid",
    ),
    *("gt", "lt", "eq", "where"),
)
"""What a symbol may be made by, by the names of torch's functions."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """One value of a formula.

    Attributes:
        operation: One of `OPERATIONS`, or "input", "constant".
        operands: What it is made from.
        name: Of an input, its name.
        number: Of a constant, its value.
        varies: Whether it is an array; otherwise it is one number for all points and neurons.
    """

    operation: str
    operands: tuple["Symbol", ...] = ()
    name: str = ""
    number: float = 0.0
    varies: bool = True

    def __add__(self, other: "Symbol | float") -> "Symbol":
        return add(self, lift(other))

    def __radd__(self, other: float) -> "Symbol":
        return add(lift(other), self)

    def __sub__(self, other: "Symbol | float") -> "Symbol":
        return subtract(self, lift(other))

    def __rsub__(self, other: float) -> "Symbol":
        return subtract(lift(other), self)

    def __mul__(self, other: "Symbol | float") -> "Symbol":
        return multiply(self, lift(other))

    def __rmul__(self, other: float) -> "Symbol":
        return multiply(lift(other), self)

    def __truediv__(self, other: "Symbol | float") -> "Symbol":
        return made("div", self, lift(other))

    def __rtruediv__(self, other: float) -> "Symbol":
        return made("div", lift(other), self)

    def __neg__(self) -> "Symbol":
        return negative(self)

    def __gt__(self, other: "Symbol | float") -> "Symbol":
        return made("gt", self, lift(other))

    def __lt__(self, other: "Symbol | float") -> "Symbol":
        return made("lt", self, lift(other))

    def detach(self) -> "Symbol":
        """Itself: nothing is differentiated automatically here."""
        return self

    @property
    def is_zero(self) -> bool:
        """Whether it is the constant 0."""
        return self.operation == "constant" and self.number == 0

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> "Symbol":
        """What a torch function means for symbols."""
        name = function.__name__
        if name in _LIKE or name == "full_like":
            return constant(_LIKE[name] if name in _LIKE else args[1])
        operands = [lift(each) for each in args]
        if kwargs:
            raise NotImplementedError(f"torch.{name} with {', '.join(kwargs)} in a closed form")
        if name in _WRITTEN_OUT:
            return _WRITTEN_OUT[name](*operands)
        if name not in OPERATIONS:
            raise NotImplementedError(f"torch.{name} in a closed form")
        return made(name, *operands)


_KNOWN: WeakValueDictionary[tuple[Any, ...], Symbol] = WeakValueDictionary()


def made(operation: str, *operands: Symbol) -> Symbol:
    """The symbol of an operation on operands."""
    key = (operation, *(id(operand) for operand in operands))
    known = _KNOWN.get(key)
    if known is None:
        known = Symbol(operation, operands, varies=any(operand.varies for operand in operands))
        _KNOWN[key] = known
    return known


def variable(name: str, varies: bool = True) -> Symbol:
    """An input: an array, or one number for all points and neurons."""
    known = _KNOWN.get(("input", name, varies))
    if known is None:
        known = _KNOWN["input", name, varies] = Symbol("input", name=name, varies=varies)
    return known


def constant(number: float) -> Symbol:
    """A number known in advance."""
    key = ("constant", number, math.copysign(1.0, number))
    known = _KNOWN.get(key)
    if known is None:
        known = _KNOWN[key] = Symbol("constant", number=float(number), varies=False)
    return known


def lift(value: Symbol | float) -> Symbol:
    """A symbol from a symbol or a number."""
    return value if isinstance(value, Symbol) else constant(value)


def _fold(a: Symbol, b: Symbol, function: Callable[[float, float], float]) -> Symbol | None:
    both = a.operation == b.operation == "constant"
    return constant(function(a.number, b.number)) if both else None


def add(a: Symbol, b: Symbol) -> Symbol:
    """A + b."""
    if a.is_zero or b.is_zero:
        return b if a.is_zero else a
    if b.operation == "neg":
        return subtract(a, b.operands[0])
    return _fold(a, b, lambda x, y: x + y) or made("add", a, b)


def subtract(a: Symbol, b: Symbol) -> Symbol:
    """A − b."""
    if a.is_zero or b.is_zero:
        return negative(b) if a.is_zero else a
    if b.operation == "neg":
        return add(a, b.operands[0])
    return _fold(a, b, lambda x, y: x - y) or made("sub", a, b)


def multiply(a: Symbol, b: Symbol) -> Symbol:
    """The product: constants in front, and numbers times numbers before an array is multiplied by them."""
    (number, array), (other_number, other_array) = _parts(a), _parts(b)
    if array is not None and other_array is not None:
        if number.operation != "constant":
            number, array = constant(1.0), a
        if other_number.operation != "constant":
            other_number, other_array = constant(1.0), b
    number = _product_of_numbers(number, other_number)
    arrays = [each for each in (array, other_array) if each is not None]
    if not arrays:
        return number
    product = arrays[0] if len(arrays) == 1 else made("mul", *arrays)
    if number.operation == "constant" and abs(number.number) == 1:
        return product if number.number == 1 else made("neg", product)
    return made("mul", number, product)


def negative(a: Symbol) -> Symbol:
    """−a."""
    return multiply(constant(-1.0), a)


def _parts(a: Symbol) -> tuple[Symbol, Symbol | None]:
    """A symbol as a number times an array, which a number has not."""
    if not a.varies:
        return a, None
    if a.operation == "neg":
        return constant(-1.0), a.operands[0]
    if a.operation == "mul" and not a.operands[0].varies:
        return a.operands[0], a.operands[1]
    return constant(1.0), a


def _product_of_numbers(a: Symbol, b: Symbol) -> Symbol:
    if b.operation == "constant":
        a, b = b, a
    if a.operation == "constant":
        if a.number == 1:
            return b
        if b.operation == "mul" and b.operands[0].operation == "constant":
            return _product_of_numbers(constant(a.number * b.operands[0].number), b.operands[1])
    return _fold(a, b, lambda x, y: x * y) or made("mul", a, b)


_LIKE = {"ones_like": 1.0, "zeros_like": 0.0}
"""Functions of torch that make a constant array."""


def _sign(a: Symbol) -> Symbol:
    return made("where", a > 0, constant(1.0), made("where", a < 0, constant(-1.0), constant(0.0)))


def _square(a: Symbol) -> Symbol:
    return multiply(a, a)


def _reciprocal(a: Symbol) -> Symbol:
    return constant(1.0) / a


def _rsqrt(a: Symbol) -> Symbol:
    return constant(1.0) / made("sqrt", a)


def _relu(a: Symbol) -> Symbol:
    return made("maximum", a, constant(0.0))


_WRITTEN_OUT: Mapping[str, Callable[..., Symbol]] = MappingProxyType(
    {
        "add": add,
        "sub": subtract,
        "mul": multiply,
        "neg": negative,
        "square": _square,
        "reciprocal": _reciprocal,
        "rsqrt": _rsqrt,
        "sign": _sign,
        "relu": _relu,
    }
)
"""Functions of torch that are simplified or written in terms of `OPERATIONS`."""


def torch_function(operation: str) -> Callable[..., torch.Tensor]:
    """The function of torch that computes an operation."""
    return getattr(torch, operation)
