"""The terms of a problem as expression graphs, recorded by running their functions on symbols.

A recording counts only if it computes the same as the function.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from evopinn.problem.fields import MultiIndex, multi_index
from evopinn.problem.terms import Term
from evopinn.symbolic import Symbol, Vocabulary, evaluated

_POINTS = 200
_TRIED = (1.0, -0.6, 7.0)


@dataclass(frozen=True)
class GivenValues:
    """Values given on the points: a coordinate, a component of the normal, measured values.

    Attributes:
        name: Its name.
        side: The side that it belongs to, from 0.
    """

    name: str
    side: int = 0


@dataclass(frozen=True)
class FieldDerivative:
    """A field, or a derivative of one.

    Attributes:
        name: The field's name.
        index: The multi-index.
        side: The side that it belongs to, from 0.
        coordinates: The coordinates by which a field can be differentiated.
    """

    name: str
    index: MultiIndex
    side: int = 0
    coordinates: tuple[str, ...] = ()


FUNCTIONS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "atan2", "maximum", "minimum"), 2),
    **dict.fromkeys(("neg", "abs", "sqrt", "rsqrt", "square", "reciprocal", "sign"), 1),
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "log2", "log10", "sigmoid", "erf", "erfc", "relu"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 1),
    **dict.fromkeys(("lt", "le", "gt", "ge"), 2),
    "where": 3,
}
"""The operations that are recorded, by the names of torch's functions, with their numbers of operands."""


def _derivative(value: Any, name: str) -> FieldDerivative | None:
    """The derivative of a field by its name."""
    if not isinstance(value, FieldDerivative) or not value.coordinates:
        return None
    return FieldDerivative(value.name, multi_index(name, value.coordinates), value.side)


VOCABULARY = Vocabulary(FUNCTIONS, attributes=_derivative)
"""The vocabulary of residuals."""


def recorded_term(term: Term) -> tuple[Symbol, ...] | None:
    """The residuals of a term as symbols; None if they cannot be recorded faithfully."""
    try:
        value = term.function([_namespace(term, side) for side in range(len(term.sides))])
        listed = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]
        symbols = tuple(map(VOCABULARY.lifted, listed))
        faithful = all(_agrees(term, symbols, size) for size in _TRIED)
    except (Exception, SystemExit):  # noqa: BLE001 - a user's function, called with what it was not written for
        return None
    return symbols if faithful else None


def computed(
    symbol: Symbol, leaf: Callable[[GivenValues | FieldDerivative], Tensor], known: dict[Symbol, Tensor]
) -> Tensor:
    """The value of a recorded symbol.

    Args:
        symbol: The symbol.
        leaf: Gives the values of what is unknown or given.
        known: The values computed before; added to.
    """

    def rule(each: Symbol, operands: list[Tensor]) -> Tensor:
        if each.is_constant():
            return torch.tensor(each.value, dtype=torch.float64)
        return leaf(each.value) if each.operation == "input" else getattr(torch, each.operation)(*operands)

    return evaluated(symbol, rule, known)


def _namespace(term: Term, side: int) -> Mapping[str, Symbol]:
    zero = (0,) * len(term.coordinates)
    return {
        **{name: VOCABULARY.input(GivenValues(name, side)) for name in term.sides[side].columns},
        **{
            name: VOCABULARY.input(FieldDerivative(name, zero, side, term.coordinates))
            for name in term.fields
        },
    }


def _agrees(term: Term, symbols: Sequence[Symbol], size: float) -> bool:
    """Whether the symbols compute what the function does, for made-up fields."""
    few = replace(term, units=()).restricted(slice(None, None, max(1, term.count // _POINTS)))

    def made_up(side: int, number: int, index: MultiIndex) -> Tensor:
        phase = torch.arange(few.count, dtype=torch.float64) + 3 * number + 0.7 * side
        powers = sum(order * 0.3**place for place, order in enumerate(index))
        return size * (1 + 0.5 * torch.sin(phase + powers))

    def leaf(value: GivenValues | FieldDerivative) -> Tensor:
        if isinstance(value, GivenValues):
            return few.sides[value.side].columns[value.name]
        return made_up(value.side, term.fields.index(value.name), value.index)

    expected = few.residuals([partial(made_up, side) for side in range(len(term.sides))])
    known: dict[Symbol, Tensor] = {}
    written = [computed(each, leaf, known).expand(few.count) for each in symbols]
    return len(expected) == len(written) and all(
        torch.allclose(ours, theirs, rtol=1e-9, atol=1e-12 * _scale(theirs), equal_nan=True)
        for ours, theirs in zip(written, expected, strict=True)
    )


def _scale(values: Tensor) -> float:
    largest = float(values.nan_to_num(0.0, 0.0, 0.0).abs().max())
    return largest if math.isfinite(largest) else 1.0
