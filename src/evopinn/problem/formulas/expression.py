"""Expressions: what stands for an array and records what is done with it, instead of computing it.

A residual is called with expressions in the place of fields and coordinates. Arithmetic, the functions of
torch and NumPy's ufuncs make new expressions of them. What needs numbers, such as `if x > 0`, an index, or a
function that has no row in `FUNCTIONS`, raises: better no formula than a wrong one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evopinn.problem.fields import MultiIndex, multi_index

FUNCTIONS: Mapping[str, int] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "atan2", "maximum", "minimum"), 2),
    **dict.fromkeys(("neg", "positive", "abs", "sqrt", "rsqrt", "square", "reciprocal", "sign"), 1),
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "log2", "log10", "sigmoid", "erf", "erfc", "relu"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 1),
    **dict.fromkeys(("lt", "le", "gt", "ge"), 2),
    "where": 3,
}
"""What is recorded: the names of torch's functions, with how many operands each has."""

_ALIASES = {
    **{"subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "truediv": "div"},
    **{"negative": "neg", "power": "pow", "float_power": "pow", "absolute": "abs", "fabs": "abs"},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "clone": "positive"},
    **{"special_expit": "sigmoid", "special_expm1": "expm1", "special_log1p": "log1p"},
}
_REVERSED = {"rsub": "sub", "rdiv": "div", "rtruediv": "div", "rpow": "pow", "radd": "add", "rmul": "mul"}
_CONSTANT = {"zeros_like": 0.0, "ones_like": 1.0}


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """One value of a formula, for all points.

    Attributes:
        operation: One of `FUNCTIONS`, or "number", "unknown" (a field or a derivative of one), "given" (a
            coordinate, a part of the normal, measured values).
        operands: What it is made from.
        number: Of a number, its value.
        name: Of what is unknown or given, its name.
        index: Of a derivative, its multi-index.
        side: Of what is unknown or given, the side that it belongs to, from 0.
        coordinates: Of a field, what it can be differentiated by.
        size: How many operations and leaves it has, written out.
        has_unknown: Whether a field occurs in it.
    """

    operation: str
    operands: tuple["Expression", ...] = ()
    number: float = 0.0
    name: str = ""
    index: MultiIndex = ()
    side: int = 0
    coordinates: tuple[str, ...] = ()
    size: int = field(init=False)
    has_unknown: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(each.size for each in self.operands))
        unknown = self.operation == "unknown" or any(each.has_unknown for each in self.operands)
        object.__setattr__(self, "has_unknown", unknown)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a protocol that somebody probes for
            raise AttributeError(name)
        if self.coordinates:
            index = multi_index(name, self.coordinates)
            return Expression("unknown", name=self.name, index=index, side=self.side)
        if _ALIASES.get(name, name) in FUNCTIONS:  # the methods of a tensor
            return partial(_recorded_method, name, self)
        raise AttributeError(f"a formula has no {name}")

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> "Expression":
        """Record a function of torch."""
        if kwargs:
            raise TypeError(f"torch.{function.__name__} with {', '.join(kwargs)} in a formula")
        return recorded(function.__name__, args)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Record one of NumPy's ufuncs."""
        return NotImplemented if method != "__call__" or kwargs else recorded(ufunc.__name__, inputs)

    def __add__(self, other: Any) -> "Expression":
        return recorded("add", (self, other))

    def __radd__(self, other: Any) -> "Expression":
        return recorded("add", (other, self))

    def __sub__(self, other: Any) -> "Expression":
        return recorded("sub", (self, other))

    def __rsub__(self, other: Any) -> "Expression":
        return recorded("sub", (other, self))

    def __mul__(self, other: Any) -> "Expression":
        return recorded("mul", (self, other))

    def __rmul__(self, other: Any) -> "Expression":
        return recorded("mul", (other, self))

    def __truediv__(self, other: Any) -> "Expression":
        return recorded("div", (self, other))

    def __rtruediv__(self, other: Any) -> "Expression":
        return recorded("div", (other, self))

    def __pow__(self, other: Any) -> "Expression":
        return recorded("pow", (self, other))

    def __rpow__(self, other: Any) -> "Expression":
        return recorded("pow", (other, self))

    def __neg__(self) -> "Expression":
        return recorded("neg", (self,))

    def __pos__(self) -> "Expression":
        return self

    def __abs__(self) -> "Expression":
        return recorded("abs", (self,))

    def __lt__(self, other: Any) -> "Expression":
        return recorded("lt", (self, other))

    def __le__(self, other: Any) -> "Expression":
        return recorded("le", (self, other))

    def __gt__(self, other: Any) -> "Expression":
        return recorded("gt", (self, other))

    def __ge__(self, other: Any) -> "Expression":
        return recorded("ge", (self, other))

    def __eq__(self, other: object) -> bool:
        raise TypeError("equality with a formula has no truth value")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a formula has no truth value")


def number(value: float) -> Expression:
    """A constant."""
    return Expression("number", number=float(value))


def recorded(name: str, operands: Sequence[Any]) -> Expression:
    """The expression of a function, by the name that torch, NumPy or Python has for it."""
    plain = name.strip("_")
    if plain in _REVERSED:
        plain, operands = _REVERSED[plain], operands[::-1]
    plain = _ALIASES.get(plain, plain)
    if plain in _CONSTANT:
        return number(_CONSTANT[plain])
    if plain == "full_like":
        return lifted(operands[1])
    if FUNCTIONS.get(plain) != len(operands):
        raise TypeError(f"{name} in a formula")
    return Expression(plain, tuple(map(lifted, operands)))


def _recorded_method(name: str, *operands: Any) -> Expression:
    return recorded(name, operands)


def lifted(value: Any) -> Expression:
    """An expression from an expression or a number; an array of several numbers is refused."""
    if isinstance(value, Expression):
        return value
    if getattr(value, "ndim", None) == 0:  # a scalar of NumPy's, or a tensor of one number
        value = value.item()
    if isinstance(value, Real):
        return number(float(value))
    raise TypeError(f"a {type(value).__name__} in a formula")


def evaluated(
    expression: Expression, leaf: Callable[[Expression], Tensor], known: dict[int, Tensor] | None = None
) -> Tensor:
    """The value of an expression.

    Args:
        expression: The expression.
        leaf: Gives the values of what is unknown or given.
        known: What was computed before, by identity.
    """
    known = {} if known is None else known
    if id(expression) not in known:
        if expression.operation == "number":
            value = torch.tensor(expression.number, dtype=torch.float64)
        elif expression.operation in ("unknown", "given"):
            value = leaf(expression)
        else:
            function: Callable[..., Tensor] = getattr(torch, expression.operation)
            value = function(*(evaluated(each, leaf, known) for each in expression.operands))
        known[id(expression)] = value
    return known[id(expression)]
