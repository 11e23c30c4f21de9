"""Arithmetic with a function and its derivatives.

A `Series` is (f(z), f'(z), f''(z), ...) as symbols, up to some order. Products follow Leibniz' rule,
compositions that of Faà di Bruno. `None` is a derivative that is zero everywhere, so that the
identity and other short operators cost nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from types import MappingProxyType

from evopinn.engine.partitions import chain_rule
from evopinn.engine.simplification import constant, made
from evopinn.symbolic import Symbol

Series = tuple[Symbol | None, ...]


def sum_of_products(terms: Iterable[tuple[float, Sequence[Symbol | None]]]) -> Symbol | None:
    """Σ coefficient · Π factors; a term with a factor `None` vanishes, and so does a sum without terms."""
    total: Symbol | None = None
    for coefficient, factors in terms:
        product: Symbol | None = constant(coefficient)
        for factor in factors:
            product = None if product is None or factor is None else product * factor
        if product is not None:
            total = product if total is None else total + product
    return total


def multiply(a: Series, b: Series, order: int) -> Series:
    """The product's series by Leibniz' rule."""
    return tuple(
        sum_of_products((comb(k, i), (at(a, i), at(b, k - i))) for i in range(k + 1))
        for k in range(order + 1)
    )


def divide(a: Series, b: Series, order: int) -> Series:
    """The quotient's series: q·b = a, solved order by order."""
    denominator = b[0]
    assert denominator is not None, "a denominator is not zero everywhere"
    quotient: list[Symbol | None] = []
    for k in range(order + 1):
        lower = [(-comb(k, i), (quotient[i], at(b, k - i))) for i in range(k)]
        numerator = sum_of_products([(1, (at(a, k),)), *lower])
        quotient.append(None if numerator is None else numerator / denominator)
    return tuple(quotient)


def compose(outer: Series, inner: Series, order: int) -> Series:
    """The series of f(g(z)), from the derivatives of f at g(z) and the series of g."""
    higher = (
        sum_of_products(
            (term.coefficient, (at(outer, term.order), *(at(inner, block[0]) for block in term.blocks)))
            for term in chain_rule((k,))
        )
        for k in range(1, order + 1)
    )
    return (outer[0], *higher)


def scale(factor: Symbol, a: Series) -> Series:
    """The series times a number."""
    return tuple(None if each is None else factor * each for each in a)


def negate(a: Series) -> Series:
    """The series of −f."""
    return tuple(None if each is None else -each for each in a)


def add(a: Series, b: Series, order: int) -> Series:
    """The sum's series."""
    return tuple(sum_of_products([(1, (at(a, k),)), (1, (at(b, k),))]) for k in range(order + 1))


def larger(a: Series, b: Series, x: Series, y: Series, order: int) -> Series:
    """The series x where a > b, y where a < b, and their mean at a tie, as torch shares out a gradient.

    The other operand is left out rather than multiplied by zero: it may be infinite. Where a or b is not a
    number, neither is the result.
    """
    first, second = a[0], b[0]
    assert first is not None, "an operand is not zero everywhere"
    assert second is not None, "an operand is not zero everywhere"

    def choose(one: Symbol | None, other: Symbol | None) -> Symbol | None:
        if one is other:
            return one
        one, other = (constant(0.0) if each is None else each for each in (one, other))
        tie = made("where", made("eq", first, second), 0.5 * (one + other), first + second)
        return made("where", first > second, one, made("where", first < second, other, tie))

    return tuple(choose(at(x, k), at(y, k)) for k in range(order + 1))


def at(a: Series, order: int) -> Symbol | None:
    """The derivative of an order; those past the end of a series are zero."""
    return a[order] if order < len(a) else None


def without_zeros(values: Sequence[Symbol]) -> Series:
    """A series from derivatives some of which may be the constant zero."""
    return tuple(None if value.is_constant(0) else value for value in values)


def _pull_quotient(bar: Series, _a: Series, b: Series, value: Series, order: int) -> tuple[Series, Series]:
    numerator = divide(bar, b, order)
    return numerator, negate(multiply(numerator, value, order))


def _pull_larger(a: Series, b: Series, bar: Series, order: int) -> tuple[Series, Series]:
    none: Series = (None,) * (order + 1)
    return larger(a, b, bar, none, order), larger(a, b, none, bar, order)


@dataclass(frozen=True)
class SeriesRule:
    """The rules of an operation on two values for series.

    Attributes:
        series: The result's series from those of the operands, up to an order.
        pullback: From the series of ∂f/∂(result), of both operands and of the result to those of
            ∂f/∂(operand).
    """

    series: Callable[[Series, Series, int], Series]
    pullback: Callable[[Series, Series, Series, Series, int], tuple[Series, Series]]


RULES: Mapping[str, SeriesRule] = MappingProxyType(
    {
        "add": SeriesRule(add, lambda bar, _a, _b, _value, _order: (bar, bar)),
        "sub": SeriesRule(
            lambda a, b, order: add(a, negate(b), order),
            lambda bar, _a, _b, _value, _order: (bar, negate(bar)),
        ),
        "mul": SeriesRule(
            multiply,
            lambda bar, a, b, _value, order: (multiply(bar, b, order), multiply(bar, a, order)),
        ),
        "div": SeriesRule(divide, _pull_quotient),
        "maximum": SeriesRule(
            lambda a, b, order: larger(a, b, a, b, order),
            lambda bar, a, b, _value, order: _pull_larger(a, b, bar, order),
        ),
        "minimum": SeriesRule(
            lambda a, b, order: larger(b, a, a, b, order),
            lambda bar, a, b, _value, order: _pull_larger(b, a, bar, order),
        ),
    }
)
"""The operations that binary operators are made of, by torch's names."""
