"""Symbols, which record what is done with them, their vocabularies, and walks over the graph.

Arithmetic, the functions of torch and NumPy's ufuncs make new symbols of symbols. Equal expressions are the
same symbol, so that a formula computes each of them once. Anything that the vocabulary lacks, or that needs
numbers (`if x > 0`, an index), raises an error: better no formula than a wrong one.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from evopinn.symbolic.arithmetic import Arithmetic

T = TypeVar("T")

_SYNONYMS = {
    **{"subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "truediv": "div"},
    **{"negative": "neg", "power": "pow", "float_power": "pow", "absolute": "abs", "fabs": "abs"},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "clone": "positive"},
    **{"special_expit": "sigmoid", "special_expm1": "expm1", "special_log1p": "log1p"},
}
"""Other names of torch's functions: torch's own, NumPy's and Python's."""

_REVERSED = {"rsub": "sub", "rdiv": "div", "rtruediv": "div", "rpow": "pow", "radd": "add", "rmul": "mul"}
"""Python's operators with their operands the other way round."""

_FILLED = {"zeros_like": 0.0, "ones_like": 1.0}
"""Functions of torch that make a constant array."""


@dataclass(frozen=True, eq=False, repr=False)
class Symbol(Arithmetic["Symbol"]):
    """One value of a formula.

    Attributes:
        vocabulary: The operations that it can take part in.
        operation: The operation that makes it, by torch's name, or "constant" or "input".
        operands: The operands of this operation.
        value: The number of a constant; the identity of an input.
        varies: Whether it is an array; otherwise it is one number for all points.
    """

    vocabulary: "Vocabulary"
    operation: str
    operands: tuple["Symbol", ...] = ()
    value: Any = None
    varies: bool = True

    def is_constant(self, number: float | None = None) -> bool:
        """Whether it is a constant and, if a number is given, that number."""
        return self.operation == "constant" and (number is None or self.value == number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a protocol that a library looks for
            raise AttributeError(name)
        return self.vocabulary.attribute(self, name)

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> "Symbol":
        """Record a function of torch."""
        if kwargs:
            raise NotImplementedError(f"torch.{function.__name__} with {', '.join(kwargs)} in a formula")
        vocabulary = next(each.vocabulary for each in args if isinstance(each, Symbol))
        return vocabulary.recorded(function.__name__, args)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        """Record one of NumPy's ufuncs."""
        usual = method == "__call__" and not options
        return self.vocabulary.recorded(ufunc.__name__, operands) if usual else NotImplemented

    def _applied(self, operation: str, *operands: Any) -> "Symbol":
        return self.vocabulary.apply(operation, *operands)

    def __eq__(self, other: object) -> bool:
        raise TypeError("equality with a formula has no truth value")

    __hash__ = object.__hash__  # dictionaries compare identity first, and no two symbols have one hash

    def __bool__(self) -> bool:
        raise TypeError("a formula has no truth value")


Rule = Callable[[Symbol], Symbol] | Callable[[Symbol, Symbol], Symbol]
"""Makes a symbol from an operation's operands: a simpler one, or one written in other operations."""


class Vocabulary:
    """The operations that can be recorded, and their simplification.

    Args:
        operations: Per operation, by torch's name, how many operands it has.
        rules: Operations that are simplified or written in terms of others as they are recorded.
        attributes: From the value of an input and a name to the value of the input that goes by this name
            there, such as a field's derivative; None if there is none.
    """

    def __init__(
        self,
        operations: Mapping[str, int],
        rules: Mapping[str, Rule] = MappingProxyType({}),
        attributes: Callable[[Any, str], Hashable] = lambda _value, _name: None,
    ) -> None:
        self._operations = operations
        self._rules = rules
        self._attributes = attributes
        self._known: WeakValueDictionary[tuple[Any, ...], Symbol] = WeakValueDictionary()

    def constant(self, number: float) -> Symbol:
        """A number known in advance; the two zeros are different ones."""
        return self._once("constant", (), float(number), varies=False, key=math.copysign(1.0, number))

    def input(self, value: Hashable, varies: bool = True) -> Symbol:
        """An argument of the formula: an array, or one number for all points."""
        return self._once("input", (), value, varies)

    def made(self, operation: str, *operands: Symbol) -> Symbol:
        """The symbol of an operation as it stands."""
        return self._once(operation, operands, None, any(operand.varies for operand in operands))

    def apply(self, operation: str, *operands: Any) -> Symbol:
        """The symbol of an operation on symbols and numbers, by the rules."""
        symbols = [self.lifted(operand) for operand in operands]
        if operation == "positive":
            return symbols[0]
        if operation in self._rules:
            return self._rules[operation](*symbols)
        if self._operations.get(operation) != len(symbols):
            raise NotImplementedError(f"{operation} of {len(symbols)} in a formula")
        return self.made(operation, *symbols)

    def recorded(self, name: str, operands: Sequence[Any]) -> Symbol:
        """The symbol of a function, by the name that torch, NumPy or Python has for it."""
        plain = name.strip("_")
        if plain in _REVERSED:
            plain, operands = _REVERSED[plain], operands[::-1]
        if plain in _FILLED:
            return self.constant(_FILLED[plain])
        if plain == "full_like":
            return self.lifted(operands[1])
        return self.apply(_SYNONYMS.get(plain, plain), *operands)

    def lifted(self, value: Any) -> Symbol:
        """A symbol from a symbol or a number; an array of several numbers is refused."""
        if isinstance(value, Symbol):
            return value
        if getattr(value, "ndim", None) == 0:  # a scalar of NumPy's, or a tensor of one number
            value = value.item()
        if isinstance(value, Real):
            return self.constant(float(value))
        raise TypeError(f"a {type(value).__name__} in a formula")

    def attribute(self, symbol: Symbol, name: str) -> Any:
        """The attribute of a symbol by a name: another input, or a method of a tensor."""
        other = self._attributes(symbol.value, name)
        if other is not None:
            return self.input(other)
        operation = _SYNONYMS.get(name, name)
        if operation not in {*self._operations, *self._rules, "positive"}:
            raise AttributeError(f"a formula has no {name}")
        return partial(self.apply, operation, symbol)

    def _once(
        self, operation: str, operands: tuple[Symbol, ...], value: Any, varies: bool, key: Hashable = None
    ) -> Symbol:
        whole = (operation, *map(id, operands), value, varies, key)
        known = self._known.get(whole)
        if known is None:
            known = self._known[whole] = Symbol(self, operation, operands, value, varies)
        return known


def whole_power(base: Symbol, exponent: Symbol) -> Symbol:
    """A power with a whole positive exponent as a product: the rule of vocabularies that have no others."""
    if not exponent.is_constant() or exponent.value < 1 or not float(exponent.value).is_integer():
        raise NotImplementedError("a power that is not a product in a formula")
    product = base
    for _ in range(int(exponent.value) - 1):
        product = product * base
    return product


def evaluated(symbol: Symbol, rule: Callable[[Symbol, list[T]], T], known: dict[Symbol, T]) -> T:
    """The result of applying a rule to a symbol, from its inputs up.

    Args:
        symbol: The symbol.
        rule: Makes it of a symbol and of what it made of the operands; constants and inputs have none.
        known: The results so far; added to.
    """
    if symbol not in known:
        operands = [evaluated(operand, rule, known) for operand in symbol.operands]
        known[symbol] = rule(symbol, operands)
    return known[symbol]


def in_order(symbols: Iterable[Symbol], known: Set[Symbol] = frozenset()) -> list[Symbol]:
    """The operations that symbols are made by, operands first; `known` and what is below is left out."""
    done: dict[Symbol, None] = {}

    def visit(symbol: Symbol) -> None:
        if symbol in done or not symbol.operands or symbol in known:
            return
        for operand in symbol.operands:
            visit(operand)
        done[symbol] = None

    for symbol in symbols:
        visit(symbol)
    return list(done)


def inputs(symbol: Symbol) -> set[Symbol]:
    """The inputs that a symbol depends on."""
    seen, waiting = {symbol}, [symbol]
    while waiting:
        new = set(waiting.pop().operands) - seen
        seen |= new
        waiting += new
    return {each for each in seen if each.operation == "input"}
