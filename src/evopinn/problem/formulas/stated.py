"""The equations of a problem in LaTeX, found by recording what its functions do.

What was recorded is compared with what the function computes before it is believed. Where a function cannot
be recorded, its own text is shown.
"""

import inspect
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from evopinn.problem.conditions import Boundary, Condition, Data, Initial, Periodic
from evopinn.problem.fields import MultiIndex, multi_index
from evopinn.problem.formulas.expression import Expression, evaluated, lifted
from evopinn.problem.formulas.numerals import print_name, print_number
from evopinn.problem.formulas.places import print_domain
from evopinn.problem.formulas.printing import Item, Printer, items_of, print_derivative
from evopinn.problem.problem import Problem
from evopinn.problem.terms import Term

INLINE = 60
"""How long a right-hand side may be before it gets a name."""

LONGEST = 1200
"""How long a formula may be before nobody would read it."""

_LARGEST = 5000
_SHOWN_LINES = 30
_POINTS = 200
_TRIED = (1.0, -0.6, 7.0)
_NAMES = ("f", "g", "h", "q", "r", "s", "w")


@dataclass(frozen=True)
class TermFormula:
    """A term of the loss as a person writes it.

    Attributes:
        name: The term's.
        weight: Factor of its mean squares in the loss.
        count: How many points it has.
        place: Where it holds, in words.
        equations: What must hold, in LaTeX; none if the function could not be written so.
        source: Then the function's own text.
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
    """Names for what is long; the same for the same text."""

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


def recorded_term(term: Term) -> tuple[Expression, ...] | None:
    """What must vanish in a term, as expressions; None if it cannot be recorded, or not faithfully."""
    try:
        value = term.function([_namespace(term, side) for side in range(len(term.sides))])
        listed = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]
        expressions = tuple(lifted(each) for each in listed)
        faithful = all(_agrees(term, expressions, size) for size in _TRIED)
    except (Exception, SystemExit):  # noqa: BLE001 - a user's function, called with what it was not written for
        return None
    return expressions if faithful else None


def _namespace(term: Term, side: int) -> Mapping[str, Expression]:
    known = {name: Expression("given", name=name, side=side) for name in term.sides[side].columns}
    zero = (0,) * len(term.coordinates)
    return known | {
        name: Expression("unknown", name=name, index=zero, side=side, coordinates=term.coordinates)
        for name in term.fields
    }


def _agrees(term: Term, expressions: Sequence[Expression], size: float) -> bool:
    """Whether the expressions compute what the function does, for made-up fields."""
    few = term.restricted(slice(None, None, max(1, term.count // _POINTS)))

    def made_up(side: int, number: int, index: MultiIndex) -> Tensor:
        phase = torch.arange(few.count, dtype=torch.float64) + 3 * number + 0.7 * side
        powers = sum(order * 0.3**place for place, order in enumerate(index))
        return size * (1 + 0.5 * torch.sin(phase + powers))

    def leaf(expression: Expression) -> Tensor:
        if expression.operation == "given":
            return few.sides[expression.side].columns[expression.name]
        return made_up(expression.side, term.fields.index(expression.name), expression.index)

    computed = few.residuals([partial(made_up, side) for side in range(len(term.sides))])
    known: dict[int, Tensor] = {}
    written = [evaluated(each, leaf, known).expand(few.count) for each in expressions]
    return len(computed) == len(written) and all(
        torch.allclose(ours, theirs, rtol=1e-9, atol=1e-12 * _scale(theirs), equal_nan=True)
        for ours, theirs in zip(written, computed, strict=True)
    )


def _scale(values: Tensor) -> float:
    largest = float(values.nan_to_num(0.0, 0.0, 0.0).abs().max())
    return largest if math.isfinite(largest) else 1.0


def _equations(
    problem: Problem, term: Term, condition: Condition | None, short: _Abbreviations
) -> tuple[str, ...]:
    expressions = recorded_term(term)
    if expressions is None:
        return ()
    printer = Printer(partial(_leaf, problem, condition))
    try:
        paired = isinstance(condition, Periodic)
        texts = [_equation(each, printer, problem.axes, short, paired) for each in expressions]
    except RecursionError:
        return ()
    return () if any(text is None for text in texts) else tuple(text for text in texts if text)


def _equation(
    expression: Expression, printer: Printer, axes: Sequence[str], short: _Abbreviations, paired: bool
) -> str | None:
    """Fields on the left-hand side, what is given on the right; None if it is too long.

    Where two sides are compared, `paired`, a difference of two becomes an equation between them.
    """
    items = items_of(expression)
    left = [(sign, each) for sign, each in items if each.has_unknown]
    right = [(-sign, each) for sign, each in items if not each.has_unknown]
    if not left or sum(each.size for _, each in left) > _LARGEST:
        return None
    if paired and not right and [sign for sign, _ in left] == [1, -1]:
        return f"{printer.sum(left[:1])} = {printer.sum(_negated(left[1:]))}"
    if all(sign < 0 for sign, _ in left):
        left, right = _negated(left), _negated(right)
    shown = printer.sum(left)
    if len(shown) > LONGEST:
        return None
    if sum(each.size for _, each in right) > _LARGEST:
        given = f"{len(short.named)}".ljust(LONGEST + 1)  # it gets a name of its own, and no definition
    else:
        given = printer.sum(right)
    if len(given) > INLINE:
        used = {name for _, each in right for name in _given(each)}
        given = short.name(given, [axis for axis in axes if axis in used])
    return f"{shown} = {given}"


def _negated(items: Sequence[Item]) -> list[Item]:
    return [(-sign, each) for sign, each in items]


def _given(expression: Expression) -> set[str]:
    names: set[str] = set()
    seen: set[int] = set()
    waiting = [expression]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            waiting += each.operands
            names |= {each.name} if each.operation == "given" else set()
    return names


def _leaf(problem: Problem, condition: Condition | None, leaf: Expression) -> str:
    side = _side(problem, condition, leaf.side) if isinstance(condition, Periodic) else ""
    if leaf.operation == "unknown":
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
    """Which of two opposite sides is meant."""
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
    """A function's own text; if that cannot be had, its name and arguments."""
    if function is None:
        return ""
    try:
        lines = textwrap.dedent(inspect.getsource(function)).rstrip().splitlines()
    except (OSError, TypeError, SyntaxError):
        name = getattr(function, "__name__", type(function).__name__)
        return f"{name}{inspect.signature(function)}"
    more = [] if len(lines) <= _SHOWN_LINES else ["..."]
    return "\n".join(lines[:_SHOWN_LINES] + more)
