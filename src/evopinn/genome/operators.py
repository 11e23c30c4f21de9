"""The operators of activation functions, one row of a table for each.

The library is the 23 unary and 6 binary operators of Table 1 of Zhang and Yang. Rows with `library=False` are
those that common activation functions need in addition; they are never drawn at random nor counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar

from evopinn.errors import UnknownNameError


class Binding(IntEnum):
    """The precedence of a piece of notation; a looser one inside a tighter one needs parentheses."""

    SUM = 0
    PRODUCT = 1
    POWER = 2
    ATOM = 3


@dataclass(frozen=True)
class Notation:
    """The notation of an operator.

    Attributes:
        template: The text with `#1` and `#2` instead of the operands.
        binding: The precedence of the whole.
        operands: The precedence from which each operand needs no parentheses.
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
class Operator:
    """An operator, unary or binary, and how it is written.

    Attributes:
        arity: The number of its operands.
        name: The name in function form, e.g. `exp_plus_one`.
        text: Its notation in a genome's text.
        latex: Its notation in LaTeX.
        library: Whether the search draws it.
        nested_latex: The LaTeX for operands other than x, where `latex` would repeat a long operand.
    """

    arity: ClassVar[int]
    name: str
    text: Notation
    latex: Notation
    library: bool = True
    nested_latex: Notation | None = None


BinaryFunction = Callable[[Any, Any, Any], Any]
"""From a library of functions, torch or one with the same names, and two operands to the value."""


@dataclass(frozen=True)
class UnaryOperator(Operator):
    """An operator y = f(x); `derivatives` has the closed forms of f and of its derivatives."""

    arity = 1


@dataclass(frozen=True)
class BinaryOperator(Operator):
    """An operator y = f(x1, x2) with what it computes, from which all else follows.

    Attributes:
        function: f by arithmetic, `maximum`, `minimum` and functions that are unary operators too, such as
            `lambda torch, x, y: x * torch.sin(y)`.
    """

    arity = 2
    function: BinaryFunction = field(kw_only=True)


def _call(head: str, arity: int = 1) -> Notation:
    operands = ", ".join(f"#{k + 1}" for k in range(arity))
    return Notation(f"{head}({operands})", Binding.ATOM, (Binding.SUM,) * arity)


def _sum(template: str, *operands: Binding) -> Notation:
    return Notation(template, Binding.SUM, operands)


def _product(template: str, *operands: Binding) -> Notation:
    return Notation(template, Binding.PRODUCT, operands)


def _power(template: str, *operands: Binding) -> Notation:
    return Notation(template, Binding.POWER, operands)


def _named(name: str, latex: str = "", library: bool = True) -> UnaryOperator:
    """A row whose text is a plain call of its name."""
    return UnaryOperator(name, _call(name), _call(latex or rf"\operatorname{{{name}}}"), library)


def named_binary(name: str, latex: str, function: BinaryFunction, library: bool = True) -> BinaryOperator:
    """A row whose text and LaTeX are plain calls."""
    return BinaryOperator(name, _call(name, 2), _call(latex, 2), library, function=function)


def _unary_rows() -> tuple[UnaryOperator, ...]:
    loose, product, power, atom = Binding.SUM, Binding.PRODUCT, Binding.POWER, Binding.ATOM
    row, named = UnaryOperator, _named
    return (
        # The identity is written as the bare x where it is a leaf; elsewhere it needs its name.
        named("id"),
        row("neg", _sum("-#1", product), _sum("-#1", product)),
        row("inv", _product("1/#1", power), _power(r"\frac{1}{#1}", loose)),
        row("square", _power("#1**2", atom), _power("#1^{2}", atom)),
        row("exp", _call("exp"), _power("e^{#1}", loose)),
        row("exp_plus_one", _sum("exp(#1)+1", loose), _sum("e^{#1} + 1", loose)),
        row("exp_neg_plus_one", _sum("exp(-#1)+1", product), _sum("e^{-#1} + 1", product)),
        row("exp_minus_one", _sum("exp(#1)-1", loose), _sum("e^{#1} - 1", loose)),
        row(
            "exp_sum",
            _sum("exp(#1)+exp(-#1)", product),
            _sum("e^{#1} + e^{-#1}", product),
            nested_latex=_product(r"2 \cosh(#1)", loose),
        ),
        row(
            "exp_difference",
            _sum("exp(#1)-exp(-#1)", product),
            _sum("e^{#1} - e^{-#1}", product),
            nested_latex=_product(r"2 \sinh(#1)", loose),
        ),
        named("sin", r"\sin"),
        named("sinh", r"\sinh"),
        named("asinh"),
        named("cos", r"\cos"),
        named("cosh", r"\cosh"),
        named("tanh", r"\tanh"),
        named("atan"),
        named("erf"),
        named("erfc"),
        named("sigmoid"),
        named("softsign"),
        named("swish"),
        named("softplus"),
        named("recu", r"\operatorname{ReCU}", library=False),
    )


def _binary_rows() -> tuple[BinaryOperator, ...]:
    loose, product, power = Binding.SUM, Binding.PRODUCT, Binding.POWER
    row, named = BinaryOperator, named_binary
    return (
        row(
            "add",
            _sum("#1+#2", loose, product),
            _sum("#1 + #2", loose, product),
            function=lambda _, x, y: x + y,
        ),
        row(
            "sub",
            _sum("#1-#2", loose, product),
            _sum("#1 - #2", loose, product),
            function=lambda _, x, y: x - y,
        ),
        row(
            "mul",
            _product("#1*#2", product, power),
            _product(r"#1 \cdot #2", product, power),
            function=lambda _, x, y: x * y,
        ),
        row(
            "div",
            _product("#1/#2", product, power),
            _power(r"\frac{#1}{#2}", loose, loose),
            function=lambda _, x, y: x / y,
        ),
        named("max", r"\max", lambda torch, x, y: torch.maximum(x, y)),
        named("min", r"\min", lambda torch, x, y: torch.minimum(x, y)),
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
