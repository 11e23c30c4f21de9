"""The operators an activation function is made of: one table, one row an operator.

The library is the 23 unary and 6 binary operators of Table 1 of Zhang and Yang. Rows with `library=False` are
what common activation functions need besides; they are never drawn at random nor counted.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome import derivatives as forms

MAX_ORDER = 5
"""The highest order of derivative that the closed forms give."""


class Binding(IntEnum):
    """How tightly a piece of notation holds together; a looser one inside a tighter one needs parentheses."""

    SUM = 0
    PRODUCT = 1
    POWER = 2
    ATOM = 3


@dataclass(frozen=True)
class Notation:
    """How an operator is written.

    Attributes:
        template: The text with `#1` and `#2` in the place of the operands.
        binding: How tightly the whole holds together.
        operands: How tightly each operand must, so as to need no parentheses.
    """

    template: str
    binding: Binding
    operands: tuple[Binding, ...]

    @property
    def is_call(self) -> bool:
        """Whether this is the plain form `name(operand, ...)`, which is never ambiguous."""
        return self.binding is Binding.ATOM

    @property
    def repeats(self) -> bool:
        """Whether an operand occurs twice, so that nesting would double the text."""
        return self.template.count("#1") > 1


@dataclass(frozen=True)
class UnaryOperator:
    """An operator y = f(x).

    Attributes:
        name: The name in function form, e.g. `exp_plus_one`.
        text: How it is written in a genome's text.
        latex: How it is written in LaTeX.
        function: f on tensors of any shape, dtype and device; differentiable to any order by nested autograd.
        series: A generator of f(x), f'(x), f''(x), ...; see `derivatives`.
        smooth: Mask of where f is defined and all its derivatives are continuous.
        library: Whether the search draws it.
        nested_latex: The LaTeX for operands other than x, where `latex` would repeat a long operand.
    """

    arity: ClassVar[int] = 1

    name: str
    text: Notation
    latex: Notation
    function: Callable[[Tensor], Tensor]
    series: Callable[[Tensor], Iterator[Tensor]]
    smooth: Callable[[Tensor], Tensor]
    library: bool = True
    nested_latex: Notation | None = None

    def derivatives(self, x: Tensor, order: int) -> tuple[Tensor, ...]:
        """(f(x), f'(x), ..., f⁽ⁿ⁾(x)) for n = `order`, each of x's shape, in closed form.

        They may share memory with each other and with x, so treat them as read-only.

        Examples:
            >>> OPERATORS["sin"].derivatives(torch.zeros(1), 2)
            (tensor([0.]), tensor([1.]), tensor([-0.]))
        """
        _check_order(self.name, order)
        return tuple(islice(self.series(x), order + 1))


@dataclass(frozen=True)
class BinaryOperator:
    """An operator y = f(x1, x2).

    Attributes are those of `UnaryOperator`, with partial derivatives in the place of derivatives.
    """

    arity: ClassVar[int] = 2

    name: str
    text: Notation
    latex: Notation
    function: Callable[[Tensor, Tensor], Tensor]
    terms: Callable[[Tensor, Tensor, int], Iterator[forms.Partial]]
    smooth: Callable[[Tensor, Tensor], Tensor]
    library: bool = True

    def partials(self, x1: Tensor, x2: Tensor, order: int) -> dict[tuple[int, int], Tensor]:
        """All ∂^(i+j) f / ∂x1^i ∂x2^j with i + j ≤ `order`, keyed by (i, j), in closed form.

        The inputs are broadcast to one shape, which each result has. Results may share memory: read-only.
        """
        _check_order(self.name, order)
        first, second = _broadcast(x1, x2)
        known = dict(self.terms(first, second, order))
        zero = forms.constant(known[0, 0], 0.0)
        return {(i, j): known.get((i, j), zero) for i in range(order + 1) for j in range(order + 1 - i)}


Operator = UnaryOperator | BinaryOperator


def _check_order(name: str, order: int) -> None:
    if not 0 <= order <= MAX_ORDER:
        raise GenomeError(f"derivatives of {name} are known for orders 0 to {MAX_ORDER}, not {order}.")


def _broadcast(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    shape = np.broadcast_shapes(tuple(x1.shape), tuple(x2.shape))
    return x1.expand(shape), x2.expand(shape)


def _everywhere(x: Tensor) -> Tensor:
    return torch.ones_like(x, dtype=torch.bool)


def _except_zero(x: Tensor) -> Tensor:
    return x != 0


def _everywhere_2(x1: Tensor, x2: Tensor) -> Tensor:
    return _everywhere(_broadcast(x1, x2)[0])


def _except_zero_divisor(x1: Tensor, x2: Tensor) -> Tensor:
    return _broadcast(x1, x2)[1] != 0


def _except_ties(x1: Tensor, x2: Tensor) -> Tensor:
    return x1 != x2


def _call(head: str, arity: int = 1) -> Notation:
    operands = ", ".join(f"#{k + 1}" for k in range(arity))
    return Notation(f"{head}({operands})", Binding.ATOM, (Binding.SUM,) * arity)


def _sum(template: str, *operands: Binding) -> Notation:
    return Notation(template, Binding.SUM, operands)


def _product(template: str, *operands: Binding) -> Notation:
    return Notation(template, Binding.PRODUCT, operands)


def _power(template: str, *operands: Binding) -> Notation:
    return Notation(template, Binding.POWER, operands)


def _named(
    name: str,
    function: Callable[[Tensor], Tensor],
    series: Callable[[Tensor], Iterator[Tensor]],
    latex: str = "",
    smooth: Callable[[Tensor], Tensor] = _everywhere,
    library: bool = True,
) -> UnaryOperator:
    """A row whose text is a plain call of its name."""
    latex = latex or rf"\operatorname{{{name}}}"
    return UnaryOperator(name, _call(name), _call(latex), function, series, smooth, library)


def _unary_rows() -> tuple[UnaryOperator, ...]:
    loose, product, power, atom = Binding.SUM, Binding.PRODUCT, Binding.POWER, Binding.ATOM
    row, named, smooth = UnaryOperator, _named, _everywhere
    return (
        # The identity is written as the bare x where it is a leaf; elsewhere it needs its name.
        row("id", _call("id"), _call(r"\operatorname{id}"), forms.identity, forms.identity_series, smooth),
        row("neg", _sum("-#1", product), _sum("-#1", product), torch.neg, forms.neg_series, smooth),
        row(
            "inv",
            _product("1/#1", power),
            _power(r"\frac{1}{#1}", loose),
            torch.reciprocal,
            forms.inv_series,
            _except_zero,
        ),
        row(
            "square", _power("#1**2", atom), _power("#1^{2}", atom), torch.square, forms.square_series, smooth
        ),
        row("exp", _call("exp"), _power("e^{#1}", loose), torch.exp, forms.exp_series, smooth),
        row(
            "exp_plus_one",
            _sum("exp(#1)+1", loose),
            _sum("e^{#1} + 1", loose),
            forms.exp_plus_one,
            forms.exp_plus_one_series,
            smooth,
        ),
        row(
            "exp_neg_plus_one",
            _sum("exp(-#1)+1", product),
            _sum("e^{-#1} + 1", product),
            forms.exp_neg_plus_one,
            forms.exp_neg_plus_one_series,
            smooth,
        ),
        row(
            "exp_minus_one",
            _sum("exp(#1)-1", loose),
            _sum("e^{#1} - 1", loose),
            torch.expm1,
            forms.exp_minus_one_series,
            smooth,
        ),
        row(
            "exp_sum",
            _sum("exp(#1)+exp(-#1)", product),
            _sum("e^{#1} + e^{-#1}", product),
            forms.exp_sum,
            forms.exp_sum_series,
            smooth,
            nested_latex=_product(r"2 \cosh(#1)", loose),
        ),
        row(
            "exp_difference",
            _sum("exp(#1)-exp(-#1)", product),
            _sum("e^{#1} - e^{-#1}", product),
            forms.exp_difference,
            forms.exp_difference_series,
            smooth,
            nested_latex=_product(r"2 \sinh(#1)", loose),
        ),
        named("sin", torch.sin, forms.sin_series, r"\sin"),
        named("sinh", torch.sinh, forms.sinh_series, r"\sinh"),
        named("asinh", torch.asinh, forms.asinh_series),
        named("cos", torch.cos, forms.cos_series, r"\cos"),
        named("cosh", torch.cosh, forms.cosh_series, r"\cosh"),
        named("tanh", torch.tanh, forms.tanh_series, r"\tanh"),
        named("atan", torch.atan, forms.atan_series),
        named("erf", torch.erf, forms.erf_series),
        named("erfc", torch.erfc, forms.erfc_series),
        named("sigmoid", torch.sigmoid, forms.sigmoid_series),
        named("softsign", forms.softsign, forms.softsign_series, smooth=_except_zero),
        named("swish", forms.swish, forms.swish_series),
        named("softplus", forms.softplus, forms.softplus_series),
        named("recu", forms.recu, forms.recu_series, r"\operatorname{ReCU}", _except_zero, library=False),
    )


def _binary_rows() -> tuple[BinaryOperator, ...]:
    loose, product, power = Binding.SUM, Binding.PRODUCT, Binding.POWER
    row, smooth = BinaryOperator, _everywhere_2
    plus, minus = _sum("#1+#2", loose, product), _sum("#1-#2", loose, product)
    plus_latex, minus_latex = _sum("#1 + #2", loose, product), _sum("#1 - #2", loose, product)
    times, over = _product("#1*#2", product, power), _product("#1/#2", product, power)
    times_latex = _product(r"#1 \cdot #2", product, power)
    fraction = _power(r"\frac{#1}{#2}", loose, loose)
    return (
        row("add", plus, plus_latex, torch.add, forms.add_partials, smooth),
        row("sub", minus, minus_latex, torch.sub, forms.sub_partials, smooth),
        row("mul", times, times_latex, torch.mul, forms.mul_partials, smooth),
        row("div", over, fraction, torch.div, forms.div_partials, _except_zero_divisor),
        row("max", _call("max", 2), _call(r"\max", 2), torch.maximum, forms.max_partials, _except_ties),
        row("min", _call("min", 2), _call(r"\min", 2), torch.minimum, forms.min_partials, _except_ties),
    )


UNARY: Mapping[str, UnaryOperator] = MappingProxyType({row.name: row for row in _unary_rows()})
BINARY: Mapping[str, BinaryOperator] = MappingProxyType({row.name: row for row in _binary_rows()})
OPERATORS: Mapping[str, Operator] = MappingProxyType({**UNARY, **BINARY})


def operator(name: str) -> Operator:
    """The operator of a name; `UnknownNameError`, with the nearest names, if there is none."""
    try:
        return OPERATORS[name]
    except KeyError:
        raise UnknownNameError("operator", name, OPERATORS) from None
