"""Arithmetic with a function's derivatives.

A `Series` is (f(z), f'(z), f''(z), ...) on an array of points z, up to some order. Products follow Leibniz'
rule, compositions that of Faà di Bruno. `None` stands for a derivative that is zero everywhere, so that the
identity and other short operators cost nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import comb
from types import MappingProxyType

import torch
from torch import Tensor

from evopinn.engine.partitions import chain_rule

Series = tuple[Tensor | None, ...]


def sum_of_products(terms: Iterable[tuple[float, Sequence[Tensor | None]]]) -> Tensor | None:
    """Σ coefficient · Π factors, with as few temporaries as possible; the result may be one of the factors.

    A term with a factor `None` vanishes, and so does a sum without terms.
    """
    # A term with several factors comes first: its product is a fresh array, which the others are added to.
    present = sorted(
        ((c, f) for c, f in terms if all(x is not None for x in f)), key=lambda term: -len(term[1])
    )
    total: Tensor | None = None
    fresh = False
    for coefficient, factors in present:
        *others, last = [factor for factor in factors if factor is not None]
        if total is None:
            total = _product(others, last, coefficient)
            fresh = bool(others) or coefficient != 1
        elif not fresh or total.dim() < max(factor.dim() for factor in (*others, last)):
            total = total + _product(others, last, coefficient)
            fresh = True
        elif others:
            total.addcmul_(_product(others[:-1], others[-1], 1.0), last, value=coefficient)
        else:
            total.add_(last, alpha=coefficient)
    return total


def _product(others: Sequence[Tensor], last: Tensor, coefficient: float) -> Tensor:
    product = last
    for factor in others:
        product = factor * product
    return product if coefficient == 1 else product * coefficient


def multiply(a: Series, b: Series, order: int) -> Series:
    """The product's series by Leibniz' rule."""
    return tuple(
        sum_of_products((comb(k, i), (at(a, i), at(b, k - i))) for i in range(k + 1))
        for k in range(order + 1)
    )


def divide(a: Series, b: Series, order: int) -> Series:
    """The quotient's series: q·b = a, solved order by order."""
    denominator = b[0]
    assert denominator is not None, "a denominator is an array"
    quotient: list[Tensor | None] = []
    for k in range(order + 1):
        lower = [(-comb(k, i), (quotient[i], at(b, k - i))) for i in range(k)]
        numerator = sum_of_products([*lower, (1, (at(a, k),))])
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


def scale(factor: Tensor, a: Series) -> Series:
    """The series times a number."""
    return tuple(None if each is None else factor * each for each in a)


def negate(a: Series) -> Series:
    """The series of −f."""
    return tuple(None if each is None else -each for each in a)


def add(a: Series, b: Series, order: int) -> Series:
    """The sum's series."""
    return tuple(sum_of_products([(1, (at(a, k),)), (1, (at(b, k),))]) for k in range(order + 1))


def blend(share: Tensor, a: Series, b: Series, order: int) -> Series:
    """share·a + (1 − share)·b, for a share that is 1, 0 or, at a tie, one half.

    What is not chosen is left out rather than multiplied by zero: it may be infinite.
    """
    zero = torch.zeros((), dtype=share.dtype, device=share.device)

    def choose(one: Tensor | None, other: Tensor | None) -> Tensor | None:
        if one is None and other is None:
            return None
        first, second = (zero if x is None else x for x in (one, other))
        return torch.where(share == 1, first, torch.where(share == 0, second, 0.5 * (first + second)))

    return tuple(choose(at(a, k), at(b, k)) for k in range(order + 1))


def _first_is_larger(a: Series, b: Series) -> Tensor:
    """1 where a > b, 0 where a < b, one half at a tie: as torch shares out the gradient of a maximum."""
    assert a[0] is not None, "a value is an array"
    assert b[0] is not None, "a value is an array"
    half = 0.5 * (a[0] == b[0]).to(a[0].dtype)
    return (a[0] > b[0]).to(a[0].dtype) + half


def at(a: Series, order: int) -> Tensor | None:
    """The derivative of an order; those past the end of a series are zero."""
    return a[order] if order < len(a) else None


BinaryRule = Callable[[Series, Series, int], Series]
Pullback = Callable[[Series, Series, Series, Series, int], tuple[Series, Series]]

RULES: Mapping[str, BinaryRule] = MappingProxyType(
    {
        "add": add,
        "sub": lambda a, b, order: add(a, negate(b), order),
        "mul": multiply,
        "div": divide,
        "max": lambda a, b, order: blend(_first_is_larger(a, b), a, b, order),
        "min": lambda a, b, order: blend(_first_is_larger(b, a), a, b, order),
    }
)
"""The series of a binary operator from those of its operands."""


def _pull_quotient(bar: Series, _a: Series, b: Series, value: Series, order: int) -> tuple[Series, Series]:
    numerator = divide(bar, b, order)
    return numerator, negate(multiply(numerator, value, order))


def _pull_choice(share: Tensor, bar: Series, order: int) -> tuple[Series, Series]:
    none: Series = (None,) * (order + 1)
    return blend(share, bar, none, order), blend(share, none, bar, order)


PULLBACKS: Mapping[str, Pullback] = MappingProxyType(
    {
        "add": lambda bar, _a, _b, _value, _order: (bar, bar),
        "sub": lambda bar, _a, _b, _value, _order: (bar, negate(bar)),
        "mul": lambda bar, a, b, _value, order: (multiply(bar, b, order), multiply(bar, a, order)),
        "div": _pull_quotient,
        "max": lambda bar, a, b, _value, order: _pull_choice(_first_is_larger(a, b), bar, order),
        "min": lambda bar, a, b, _value, order: _pull_choice(_first_is_larger(b, a), bar, order),
    }
)
"""From the series of ∂f/∂(operator's value) to those of ∂f/∂(its operands)."""
