"""Derivatives that a residual uses only in fixed combinations.

u_tt − u_xx + u³ needs one channel for u_tt − u_xx, not one for each. A residual is a function, and nobody
says which combinations it uses; so it is run once on arrays that keep account. As long as derivatives are
only added, subtracted and multiplied by constants, their combination is noted exactly; where one goes into
anything else, be it a product with another array, a function or a comparison, that combination is *used*, and
so is what the residual returns. It depends on the derivatives through the combinations used and nothing else,
whatever their values. A residual that decides by its values, in Python, how to go on is left as it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from evopinn.engine.channels import Combination
from evopinn.engine.partitions import closure
from evopinn.errors import ProblemError
from evopinn.problem.fields import MultiIndex
from evopinn.problem.terms import Channel, Term

K = TypeVar("K", MultiIndex, Channel)

Row = dict[Channel, Fraction]
"""A combination of derivatives of fields, with exact coefficients."""


@dataclass(frozen=True)
class Combining:
    """Which derivatives are carried singly and which in combinations.

    Attributes:
        singles: Multi-indices that are needed by themselves.
        combinations: The combinations.
        pivots: Per combination a multi-index, with coefficient 1, that no other combination has: a residual
            gets the combination's value for it and zero for the other members.
        absent: Those other members, and what is asked for but makes no difference.
    """

    singles: tuple[MultiIndex, ...]
    combinations: tuple[Combination, ...] = ()
    pivots: tuple[MultiIndex, ...] = ()
    absent: frozenset[MultiIndex] = frozenset()


def combining(terms: Sequence[Term], side: int) -> Combining:
    """What terms on the same points need of the network's derivatives on one of their sides."""
    value = (0,) * len(terms[0].coordinates)
    asked = {index for term in terms for _, index in term.channels[side]} | {value}
    apart = Combining(tuple(sorted(asked)))
    candidates = _outermost(asked)
    if len(candidates) < 2:
        return apart
    used: list[Row] = []
    for term in terms:
        found = _used_by(term, side, candidates)
        if found is None:
            return apart
        used += found
    basis = _echelon([part for row in used for part in _by_field(row)])
    if len(basis) == len(candidates):
        return apart
    several = {pivot: row for pivot, row in basis.items() if len(row) > 1}
    single = {pivot for pivot, row in basis.items() if len(row) == 1}
    return Combining(
        tuple(sorted(asked - set(candidates) | single)),
        tuple(tuple((index, float(row[index])) for index in sorted(row)) for row in several.values()),
        tuple(several),
        frozenset(candidates - set(basis)),
    )


def _outermost(asked: set[MultiIndex]) -> set[MultiIndex]:
    """Of second and higher order, and not needed for another's derivative through an activation."""
    return {
        index
        for index in asked
        if sum(index) >= 2 and not any(index in closure([other]) for other in asked if other != index)
    }


class Account(Tensor):
    """Values of fields, or what became of them, with the combination of derivatives that they are.

    Attributes:
        row: The combination; empty for anything that is none.
        used: Where combinations are noted that go into something else.
    """

    row: Row
    used: list[Row]

    @classmethod
    def of(cls, values: Tensor, row: Row, used: list[Row]) -> "Account":
        """Values with their account."""
        account = values.as_subclass(cls)
        account.row, account.used = row, used
        return account

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The function's result, with the combination that it is, if it is one."""
        options = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in _LOOKING:
            raise ProblemError("decides by its values how to go on")
        accounts = [each for each in _flat((*args, *options.values())) if isinstance(each, Account)]
        row = _linear(name, args, options)
        if row is None:
            for account in accounts:
                _note(account)
        result: Any = cast(Any, super()).__torch_function__(func, types, args, options)
        return _accounted(result, row or {}, accounts[0].used) if accounts else result


_LOOKING = frozenset(
    {
        "__bool__",
        "__float__",
        "__int__",
        "__index__",
        "__array__",
        "item",
        "tolist",
        "numpy",
        "equal",
        "allclose",
    }
)
"""Ways to look at values."""


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(cast(Sequence[Any], value))
        else:
            yield value


def _note(account: Account) -> None:
    if account.row:
        account.used.append(account.row)


def _accounted(result: Any, row: Row, used: list[Row]) -> Any:
    """The results of a function that are arrays, with their account."""
    if isinstance(result, Tensor):
        return Account.of(result, row, used)
    if isinstance(result, list | tuple):
        parts = [_accounted(each, {}, used) for each in cast(Sequence[Any], result)]
        return parts if isinstance(result, list) else tuple(parts)
    return result


def _linear(name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Row | None:
    """The combination that a function makes of combinations, if it does."""
    rule = _LINEAR.get(name.strip("_"))
    if rule is None or options or not 1 <= len(args) <= 2:
        return None
    return rule(args[0], args[1] if len(args) == 2 else None)


def _difference(first: Any, second: Any) -> Row:
    return _sum(_row(first), _times(_row(second), Fraction(-1)))


def _product(first: Any, second: Any) -> Row | None:
    for number, other in ((first, second), (second, first)):
        if isinstance(number, int | float):
            return _times(_row(other), Fraction(number))
    return None


def _quotient(first: Any, second: Any) -> Row | None:
    return _times(_row(first), 1 / Fraction(second)) if isinstance(second, int | float) and second else None


def _negative(first: Any, _second: Any) -> Row:
    return _times(_row(first), Fraction(-1))


def _total(first: Any, second: Any) -> Row:
    return _sum(_row(first), _row(second))


_LINEAR: Mapping[str, Callable[[Any, Any], Row | None]] = {
    "neg": _negative,
    "add": _total,
    "radd": _total,
    "sub": _difference,
    "rsub": lambda first, second: _difference(second, first),
    "mul": _product,
    "rmul": _product,
    "div": _quotient,
    "truediv": _quotient,
    "true_divide": _quotient,
}
"""Functions that make combinations of combinations, by their names without underscores."""


def _by_field(row: Row) -> list[dict[MultiIndex, Fraction]]:
    """The parts of a combination: layers carry derivatives of the network, the same for all fields."""
    fields = sorted({field for field, _ in row})
    return [{index: c for (number, index), c in row.items() if number == field} for field in fields]


def _row(value: Any) -> Row:
    return value.row if isinstance(value, Account) else {}


def _times(row: Mapping[K, Fraction], factor: Fraction) -> dict[K, Fraction]:
    return {index: factor * c for index, c in row.items() if factor}


def _sum(first: Mapping[K, Fraction], second: Mapping[K, Fraction]) -> dict[K, Fraction]:
    total = {
        index: first.get(index, Fraction(0)) + second.get(index, Fraction(0)) for index in {**first, **second}
    }
    return {index: c for index, c in total.items() if c}


def _used_by(term: Term, side: int, candidates: set[MultiIndex]) -> list[Row] | None:
    """The combinations that a term uses on a side, or None if it decides by values."""
    used: list[Row] = []

    def value(number: int, field: int, index: MultiIndex) -> Tensor:
        points = term.sides[number].points
        phase = torch.arange(len(points), dtype=points.dtype, device=points.device) + 3 * field + sum(index)
        row: Row = {(field, index): Fraction(1)} if number == side and index in candidates else {}
        return Account.of(1 + 0.5 * torch.sin(phase), row, used)

    try:
        residuals = term.residuals([partial(value, number) for number in range(len(term.sides))])
    except ProblemError:  # it looks at values, or cannot do with arrays that keep account
        return None
    for residual in residuals:
        if isinstance(residual, Account):
            _note(residual)
    return used


def _echelon(rows: Sequence[Mapping[MultiIndex, Fraction]]) -> dict[MultiIndex, dict[MultiIndex, Fraction]]:
    """A basis of the rows' span, each with a pivot of coefficient 1 that the others lack; exact."""
    basis: dict[MultiIndex, dict[MultiIndex, Fraction]] = {}
    for row in rows:
        rest = dict(row)
        for pivot, known in basis.items():
            if pivot in rest:
                rest = _sum(rest, _times(known, -rest[pivot]))
        if not rest:
            continue
        # The largest coefficient, so that none is larger than 1.
        chosen = max(sorted(rest), key=lambda index: abs(rest[index]))
        new = _times(rest, 1 / rest[chosen])
        for pivot, known in basis.items():
            if chosen in known:
                basis[pivot] = _sum(known, _times(new, -known[chosen]))
        basis[chosen] = new
    return basis
