"""An activation's derivatives with respect to its argument and its parameters, as formulas.

The activation is recorded as a graph of unary operators, which have closed forms, and of the few operations
that binary operators are made of, which have rules. Its series comes by going through the graph; those of its
derivatives with respect to its parameters by going back, with series instead of numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import torch
from torch import Tensor

from evopinn.engine.series import RULES, Series, add, compose, multiply, scale, without_zeros
from evopinn.engine.simplification import constant
from evopinn.genome import BINARY, Activation
from evopinn.genome.derivatives import UNARY_FORMS
from evopinn.symbolic import Symbol, Vocabulary, evaluated, in_order, whole_power

_VOCABULARY = Vocabulary(
    {**dict.fromkeys(UNARY_FORMS, 1), **dict.fromkeys(RULES, 2)},
    {
        "reciprocal": lambda x: _VOCABULARY.made("inv", x),
        "expm1": lambda x: _VOCABULARY.made("exp_minus_one", x),
        "pow": whole_power,
    },
)
"""The vocabulary of activations: each unary operator is one operation, by its own name."""

_OPERATORS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **{name: partial(_VOCABULARY.apply, name) for name in UNARY_FORMS},
        **{name: partial(row.function, torch) for name, row in BINARY.items()},
    }
)


class ActivationSeries:
    """The series of an activation f and, by going back, those of its derivatives by its parameters.

    Args:
        activation: f.
        z: The argument.
        parameters: As many numbers as f has parameters.
        order: The highest derivative.

    Attributes:
        value: (f(z), f'(z), ...).
    """

    def __init__(self, activation: Activation, z: Symbol, parameters: Sequence[Symbol], order: int) -> None:
        argument = _VOCABULARY.input("x")
        self._order = order
        self._parameters = [_VOCABULARY.input(k, varies=False) for k in range(len(parameters))]
        self._root: Symbol = activation.computed(argument, self._parameters, _OPERATORS)
        self._outer: dict[Symbol, Series] = {}
        self._series: dict[Symbol, Series] = {argument: (z, constant(1.0))}
        self._series |= {p: (number,) for p, number in zip(self._parameters, parameters, strict=True)}
        self.value = evaluated(self._root, self._forward, self._series)

    def by_parameter(self, order: int) -> list[Series]:
        """Per parameter p the series of ∂f/∂p, up to an order below that of f's."""
        depends: dict[Symbol, bool] = dict.fromkeys(self._parameters, True)
        evaluated(self._root, lambda _, operands: any(operands), depends)
        bars: dict[Symbol, Series] = {self._root: (constant(1.0),)}
        for symbol in reversed(in_order([self._root])):
            if not depends[symbol]:
                continue
            for operand, bar in zip(symbol.operands, self._back(symbol, bars[symbol], order), strict=True):
                if depends[operand]:
                    bars[operand] = add(bars[operand], bar, order) if operand in bars else bar
        return [bars[parameter] for parameter in self._parameters]

    def _forward(self, symbol: Symbol, operands: list[Series]) -> Series:
        """The series of an operation's result."""
        if symbol.is_constant():
            return without_zeros([constant(symbol.value)])
        form = UNARY_FORMS.get(symbol.operation)
        if form is not None:
            argument = constant(0.0) if operands[0][0] is None else operands[0][0]
            # The table's closed forms, run on a symbol instead of a tensor.
            values = form.derivatives(cast(Tensor, argument), self._order)
            self._outer[symbol] = without_zeros(cast("tuple[Symbol, ...]", values))
            return compose(self._outer[symbol], operands[0], self._order)
        factor = _number_in_front(symbol, operands)
        if factor is not None:
            return scale(factor, operands[1])
        return RULES[symbol.operation].series(operands[0], operands[1], self._order)

    def _back(self, symbol: Symbol, bar: Series, order: int) -> tuple[Series, ...]:
        """From ∂f/∂(result) to ∂f/∂(operand): each is a function of z itself."""
        operands = [self._series[operand] for operand in symbol.operands]
        if symbol in self._outer:
            slope = compose(self._outer[symbol][1:], operands[0], order)
            return (multiply(bar, slope, order),)
        factor = _number_in_front(symbol, operands)
        if factor is not None:
            return multiply(bar, operands[1], order), scale(factor, bar)
        first, second = operands
        return RULES[symbol.operation].pullback(bar, first, second, self._series[symbol], order)


def _number_in_front(symbol: Symbol, operands: Sequence[Series]) -> Symbol | None:
    """A parameter or constant that multiplies the rest."""
    return operands[0][0] if symbol.operation == "mul" and not symbol.operands[0].varies else None
