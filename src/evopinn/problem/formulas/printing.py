"""Expression graphs in LaTeX.

Sums get no needless brackets, products have their number in front, quotients are fractions.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evopinn.problem.formulas.numerals import number_parts, print_name, print_number, with_index
from evopinn.problem.formulas.recorded_terms import VOCABULARY, FieldDerivative, GivenValues
from evopinn.symbolic import Symbol

Item = tuple[int, Symbol]
"""A part of a sum: its sign, and what is added or subtracted."""

Leaf = Callable[[GivenValues | FieldDerivative], str]
"""Prints what is unknown or given."""

_NAMED = {
    **{name: rf"\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "log": r"\ln", "log2": r"\log_{2}"},
    **{"log10": r"\log_{10}", "erf": r"\operatorname{erf}", "erfc": r"\operatorname{erfc}"},
    **{"asinh": r"\operatorname{arsinh}", "acosh": r"\operatorname{arcosh}"},
    **{"atanh": r"\operatorname{artanh}", "sign": r"\operatorname{sgn}"},
    **{"maximum": r"\max", "minimum": r"\min", "atan2": r"\operatorname{atan2}"},
}
_SQUARED = frozenset({"sin", "cos", "tan", "sinh", "cosh", "tanh"})
_RELATIONS = {"lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge"}
# What is written in terms of others.
_REWRITTEN: Mapping[str, Callable[[Symbol], Symbol]] = {
    "square": lambda x: x**2,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / x.sqrt(),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "expm1": lambda x: x.exp() - 1,
    "log1p": lambda x: (1 + x).log(),
    "relu": lambda x: VOCABULARY.constant(0.0).maximum(x),
}
_LONG_EXPONENT = 24


@dataclass(frozen=True)
class _Fraction:
    """A fraction: a number, and factors above and below the line."""

    coefficient: float
    above: tuple[Symbol, ...]
    below: tuple[Symbol, ...]


def written_out(symbol: Symbol) -> Symbol:
    """The same symbol, with an outermost operation that LaTeX lacks written in terms of others."""
    while symbol.operation in _REWRITTEN:
        symbol = _REWRITTEN[symbol.operation](*symbol.operands)
    return symbol


def items_of(symbol: Symbol, sign: int = 1) -> list[Item]:  # noqa: PLR0911 - one for each kind
    """The parts of a sum, in order; anything else is a single part. Zeros are left out."""
    symbol = written_out(symbol)
    match symbol.operation:
        case "add" | "sub":
            first, second = symbol.operands
            return items_of(first, sign) + items_of(second, sign if symbol.operation == "add" else -sign)
        case "neg":
            return items_of(symbol.operands[0], -sign)
        case "constant" if symbol.value == 0:
            return []
        case "mul" | "div":
            coefficient, divisor, above, below = _factors(symbol)
            if coefficient == 0 and divisor:
                return []
            if abs(coefficient) == divisor == 1 and len(above) == 1 and not below:  # 1·(a + b)
                return items_of(above[0], sign if coefficient > 0 else -sign)
            return [(sign, symbol)]
        case _:
            return [(sign, symbol)]


class Printer:
    """Prints expressions.

    Args:
        leaf: Prints what is unknown or given.
    """

    def __init__(self, leaf: Leaf) -> None:
        self._leaf = leaf

    def sum(self, items: Sequence[Item]) -> str:
        """A sum of parts with their signs; 0 if there is none."""
        text = ""
        for sign, symbol in items:
            product = self._fraction_of(symbol)
            negative = (sign < 0) != (math.copysign(1.0, product.coefficient) < 0)
            part = self._fraction(product)
            text += (" - " if negative else " + ") + part if text else ("-" if negative else "") + part
        return text or "0"

    def _fraction_of(self, symbol: Symbol) -> _Fraction:
        coefficient, divisor, above, below = _factors(symbol)
        if divisor != 1:
            quotient = coefficient / divisor if divisor else math.nan
            if quotient.is_integer() or not _is_plain(divisor):
                coefficient = quotient
            else:
                if divisor < 0:
                    coefficient, divisor = -coefficient, -divisor
                below = (VOCABULARY.constant(divisor), *below)
        return _Fraction(coefficient, above, below)

    def _fraction(self, fraction: _Fraction) -> str:
        """A fraction without its sign."""
        size = abs(fraction.coefficient)
        alone = bool(fraction.below) and size == 1 and len(fraction.above) == 1
        above = self._factors(fraction.above, alone)
        if fraction.below:
            numeral, divisor = number_parts(size)
            below = self._factors(fraction.below, alone=len(fraction.below) == 1 and not divisor)
            numeral = "" if numeral == "1" and above else numeral
            return rf"\frac{{{_joined(numeral, above)}}}{{{_joined(divisor, below)}}}"
        return _joined("" if size == 1 and above else print_number(size), above)

    def _factors(self, factors: Sequence[Symbol], alone: bool) -> str:
        """Factors beside one another; equal ones as a power."""
        texts: list[tuple[str, int]] = []
        for each in factors:
            text = self._lone(each) if alone else self._atom(each)
            if texts and texts[-1][0] == text and each.operation == "input":
                texts[-1] = (text, texts[-1][1] + 1)
            else:
                texts.append((text, 1))
        words = [text if times == 1 else f"{text}^{{{times}}}" for text, times in texts]
        joined = ""
        for word in words:
            joined = _joined(joined, word)
        return joined

    def _lone(self, symbol: Symbol) -> str:
        """A factor with nothing beside it, which needs no brackets."""
        items = items_of(symbol)
        return self.sum(items) if len(items) != 1 or items[0][0] < 0 else self._atom(items[0][1])

    def text(self, symbol: Symbol) -> str:
        """A symbol by itself."""
        return self.sum(items_of(symbol))

    def _atom(self, symbol: Symbol) -> str:  # noqa: PLR0911 - one for each kind
        """A factor, in brackets if it is a sum."""
        symbol = written_out(symbol)
        match symbol.operation:
            case "constant":
                text = print_number(symbol.value)
                return bracketed(text) if text.startswith("-") else text
            case "input":
                return self._leaf(symbol.value)
            case "add" | "sub" | "neg" | "mul" | "div":
                return bracketed(self.text(symbol))
            case "pow":
                return self._power(*symbol.operands)
            case "sqrt":
                return rf"\sqrt{{{self.text(symbol.operands[0])}}}"
            case "abs":
                return rf"\left| {self.text(symbol.operands[0])} \right|"
            case "exp":
                exponent = self.text(symbol.operands[0])
                short = len(exponent) <= _LONG_EXPONENT and r"\frac" not in exponent
                return f"e^{{{exponent}}}" if short else rf"\exp{bracketed(exponent)}"
            case "where":
                return self._cases(*symbol.operands)
            case operation if operation in _RELATIONS:
                return rf"\left[ {self._relation(symbol)} \right]"  # 1 where it holds, else 0
            case operation:
                arguments = ", ".join(map(self.text, symbol.operands))
                return f"{_NAMED[operation]}{bracketed(arguments)}"

    def _power(self, base: Symbol, exponent: Symbol) -> str:
        base = written_out(base)
        if exponent.is_constant(0.5):
            return rf"\sqrt{{{self.text(base)}}}"
        power = self.text(exponent)
        if base.operation in _SQUARED and power.isdigit():
            return f"{_NAMED[base.operation]}^{{{power}}}{bracketed(self.text(base.operands[0]))}"
        simple = base.operation == "input"
        simple = simple or (base.is_constant() and base.value >= 0 and _is_plain(base.value))
        text = self.text(base)
        return f"{text if simple else bracketed(text)}^{{{power}}}"

    def _relation(self, symbol: Symbol) -> str:
        first, second = map(self.text, symbol.operands)
        return f"{first} {_RELATIONS[symbol.operation]} {second}"

    def _cases(self, condition: Symbol, yes: Symbol, no: Symbol) -> str:
        relation = self._relation(condition) if condition.operation in _RELATIONS else self.text(condition)
        texts = (self.text(yes), relation, self.text(no))
        return (
            rf"\begin{{cases}} {texts[0]} & \text{{if }} {texts[1]} \\ "
            rf"{texts[2]} & \text{{otherwise}} \end{{cases}}"
        )


def print_derivative(name: str, letters: Sequence[str]) -> str:
    r"""A field, or a derivative of it by coordinates.

    Examples:
        >>> print_derivative("u", "xx"), print_derivative("u_1", "t")
        ('u_{xx}', 'u_{1,\\,t}')
    """
    symbol = print_name(name)
    if not letters:
        return symbol
    spaced = "" if all(len(each) == 1 for each in letters) else r" "
    below = spaced.join(map(print_name, letters))
    return with_index(symbol, below)


def bracketed(text: str) -> str:
    """A text in round brackets, tall ones around tall text."""
    high = any(word in text for word in (r"\frac", r"\begin", r"\sqrt"))
    return rf"\left({text}\right)" if high else f"({text})"


def _factors(
    symbol: Symbol,
) -> tuple[float, float, tuple[Symbol, ...], tuple[Symbol, ...]]:
    """A product as the numbers above and below the line, and the other factors above and below it."""
    symbol = written_out(symbol)
    match symbol.operation:
        case "constant":
            return symbol.value, 1.0, (), ()
        case "neg":
            coefficient, divisor, above, below = _factors(symbol.operands[0])
            return -coefficient, divisor, above, below
        case "mul" | "div":
            first, second = map(_factors, symbol.operands)
            if symbol.operation == "div":
                second = (second[1], second[0], second[3], second[2])
            return first[0] * second[0], first[1] * second[1], first[2] + second[2], first[3] + second[3]
        case "pow" if _is_whole(symbol.operands[1]) and symbol.operands[1].value < 0:
            base, exponent = symbol.operands
            power = -exponent.value
            return 1.0, 1.0, (), (base if power == 1 else base**power,)
        case _:
            return 1.0, 1.0, (symbol,), ()


def _is_whole(symbol: Symbol) -> bool:
    return symbol.is_constant() and symbol.value.is_integer()


def _is_plain(value: float) -> bool:
    """Whether a person would write a number as a denominator."""
    text = print_number(value)
    return r"\frac" not in text and r"\cdot" not in text and "." not in text


def _joined(first: str, second: str) -> str:
    """Two factors beside one another; a dot keeps numbers apart."""
    if not first or not second:
        return first or second
    return rf"{first} \cdot {second}" if second[0].isdigit() else f"{first} {second}"
