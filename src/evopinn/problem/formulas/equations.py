"""The equations of a problem in LaTeX; where a function cannot be recorded, its own text instead."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from evopinn.problem.conditions import Boundary, Condition, Data, Initial, Periodic
from evopinn.problem.fields import MultiIndex, multi_index
from evopinn.problem.formulas.numerals import print_name, print_number
from evopinn.problem.formulas.printing import Item, Printer, items_of, print_derivative
from evopinn.problem.formulas.recorded_terms import FieldDerivative, GivenValues, recorded_term
from evopinn.problem.formulas.sets import print_domain
from evopinn.problem.problem import Problem
from evopinn.problem.terms import Term
from evopinn.symbolic import Symbol, evaluated, inputs

INLINE = 60
"""The length from which a right-hand side gets a name."""

LONGEST = 1200
"""The length from which a formula is too long to read."""

_LARGEST = 5000
_SHOWN_LINES = 30
_NAMES = ("f", "g", "h", "q", "r", "s", "w")


@dataclass(frozen=True)
class TermFormula:
    """A term of the loss as a person writes it.

    Attributes:
        name: The term's.
        weight: Factor of its mean squares in the loss.
        count: How many points it has.
        place: Where it holds, in words.
        equations: Its equations in LaTeX; none if the function could not be converted.
        source: In that case the function's source code.
    """

    name: str
    weight: float
    count: int
    place: str
    equations: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True)
class ProblemFormulas:
    """A problem as a person writes it.

    Attributes:
        domain: In LaTeX.
        terms: The equation first, then the conditions.
        definitions: Right-hand sides that are too long for their place, in LaTeX: `f(x, t) = ...`.
        unwritten: Names of right-hand sides that are too long for any place.
    """

    domain: str
    terms: tuple[TermFormula, ...]
    definitions: tuple[str, ...]
    unwritten: tuple[str, ...]


@dataclass
class _Abbreviations:
    """Names for long formulas; equal formulas share one."""

    taken: frozenset[str]
    named: dict[str, str] = field(default_factory=dict[str, str])

    def name(self, text: str, arguments: Sequence[str]) -> str:
        """A name for a text, with its arguments."""
        if text not in self.named:
            free = [each for each in _NAMES if each not in self.taken]
            place = len(self.named)
            letter = free[place] if place < len(free) else f"f_{{{place}}}"
            inside = f"({', '.join(map(print_name, arguments))})" if arguments else ""
            self.named[text] = letter + inside
        return self.named[text]


def problem_formulas(problem: Problem) -> ProblemFormulas:
    """All equations of a problem."""
    short = _Abbreviations(frozenset((*problem.fields, *problem.axes)))
    functions = (problem.residual, *(getattr(each, "function", None) for each in problem.conditions))
    places = ("inside the domain", *(_place(problem, condition) for condition in problem.conditions))
    terms: list[TermFormula] = []
    for term, function, place, condition in zip(
        problem.terms(), functions, places, (None, *problem.conditions), strict=True
    ):
        equations = _equations(problem, term, condition, short)
        source = "" if equations else _source(function)
        terms.append(TermFormula(term.name, term.weight, term.count, place, equations, source))
    definitions = (f"{name} = {text}" for text, name in short.named.items() if len(text) <= LONGEST)
    unwritten = (name for text, name in short.named.items() if len(text) > LONGEST)
    domain = print_domain(problem.domain, problem.axes)
    return ProblemFormulas(domain, tuple(terms), tuple(definitions), tuple(unwritten))


def _equations(
    problem: Problem, term: Term, condition: Condition | None, short: _Abbreviations
) -> tuple[str, ...]:
    symbols = recorded_term(term)
    if symbols is None:
        return ()
    printer = Printer(partial(_leaf, problem, condition))
    try:
        paired = isinstance(condition, Periodic)
        texts = [_equation(each, printer, problem.axes, short, paired) for each in symbols]
    except RecursionError:
        return ()
    return () if any(text is None for text in texts) else tuple(text for text in texts if text)


def _equation(
    symbol: Symbol, printer: Printer, axes: Sequence[str], short: _Abbreviations, paired: bool
) -> str | None:
    """Fields on the left-hand side, given values on the right; None if it is too long.

    Where two sides are compared, `paired`, a difference of two becomes an equation between them.
    """
    items = items_of(symbol)
    left = [(sign, each) for sign, each in items if _has_unknown(each)]
    right = [(-sign, each) for sign, each in items if not _has_unknown(each)]
    if not left or _size(left) > _LARGEST:
        return None
    if paired and not right and [sign for sign, _ in left] == [1, -1]:
        return f"{printer.sum(left[:1])} = {printer.sum(_negated(left[1:]))}"
    if all(sign < 0 for sign, _ in left):
        left, right = _negated(left), _negated(right)
    shown = printer.sum(left)
    if len(shown) > LONGEST:
        return None
    huge = f"{len(short.named)}".ljust(LONGEST + 1)  # it gets a name of its own, and no definition
    given = huge if _size(right) > _LARGEST else printer.sum(right)
    if len(given) > INLINE:
        used = {name for _, each in right for name in _given(each)}
        given = short.name(given, [axis for axis in axes if axis in used])
    return f"{shown} = {given}"


def _negated(items: Sequence[Item]) -> list[Item]:
    return [(-sign, each) for sign, each in items]


def _size(items: Sequence[Item]) -> int:
    """How many operations and leaves a sum has, written out."""
    known: dict[Symbol, int] = {}
    return sum(evaluated(each, lambda _, sizes: 1 + sum(sizes), known) for _, each in items)


def _has_unknown(symbol: Symbol) -> bool:
    return any(isinstance(each.value, FieldDerivative) for each in inputs(symbol))


def _given(symbol: Symbol) -> set[str]:
    return {each.value.name for each in inputs(symbol) if isinstance(each.value, GivenValues)}


def _leaf(problem: Problem, condition: Condition | None, leaf: GivenValues | FieldDerivative) -> str:
    side = _side(problem, condition, leaf.side) if isinstance(condition, Periodic) else ""
    if isinstance(leaf, FieldDerivative):
        return _at(side, _derivative(problem, leaf.name, leaf.index))
    if leaf.name.startswith("measured "):
        name, _, derivative = leaf.name.removeprefix("measured ").partition(".")
        index = multi_index(derivative, problem.axes) if derivative else (0,) * len(problem.axes)
        return rf"{_derivative(problem, name, index)}^{{\mathrm{{data}}}}"
    if leaf.name.startswith("n") and leaf.name[1:] in problem.axes and leaf.name not in problem.axes:
        return f"n_{{{print_name(leaf.name[1:])}}}"
    return _at(side, print_name(leaf.name))


def _derivative(problem: Problem, name: str, index: MultiIndex) -> str:
    letters = [axis for axis, order in zip(problem.axes, index, strict=True) for _ in range(order)]
    return print_derivative(name, letters)


def _at(side: str, symbol: str) -> str:
    return rf"\left. {symbol} \right|_{{{side}}}" if side else symbol


def _side(problem: Problem, condition: Periodic, side: int) -> str:
    """The name of one of two opposite sides."""
    low_high = problem.domain.bounds[problem.axes.index(condition.axis)]
    return rf"{print_name(condition.axis)} = {print_number(float(low_high[side]))}"


def _place(problem: Problem, condition: Condition) -> str:  # noqa: PLR0911 - one for each kind
    match condition:
        case Initial() if problem.domain.time is not None:
            return f"at {problem.axes[-1]} = {problem.domain.time.start:g}"
        case Boundary(on=None):
            return "on the whole boundary"
        case Boundary(on=on) if callable(on):
            return "on a part of the boundary"
        case Boundary(on=on):
            return f"on the boundary: {on if isinstance(on, str) else ', '.join(cast('Sequence[str]', on))}"
        case Periodic(axis=axis):
            return f"between opposite sides in {axis}"
        case Data():
            return "at points of data"
        case _:
            return ""


def _source(function: Callable[..., Any] | None) -> str:
    """A function's source code or, where that is not available, its name and arguments."""
    if function is None:
        return ""
    try:
        lines = textwrap.dedent(inspect.getsource(function)).rstrip().splitlines()
    except (OSError, TypeError, SyntaxError):
        name = getattr(function, "__name__", type(function).__name__)
        return f"{name}{inspect.signature(function)}"
    more = [] if len(lines) <= _SHOWN_LINES else ["..."]
    return "\n".join(lines[:_SHOWN_LINES] + more)
