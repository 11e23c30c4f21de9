"""The combinations of derivatives that residuals use.

u_tt − u_xx + u³ needs one channel for u_tt − u_xx, not one for each. A residual is a function that does not
declare its combinations, so it is run once on recorded arrays. As long as derivatives are only added,
subtracted and multiplied by constants, their combination is known exactly; where one goes into anything else,
be it a product with another array, a function or a comparison, that combination is *used*, and so is what the
residual returns. It depends on the derivatives through the combinations used and nothing else, whatever their
values. A residual that branches on values in Python is left as it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from evopinn.engine.channels import LinearCombination
from evopinn.engine.partitions import closure
from evopinn.errors import ProblemError
from evopinn.problem.fields import MultiIndex
from evopinn.problem.terms import Channel, Term
from evopinn.symbolic import RecordedArray, Recording, Symbol

K = TypeVar("K", MultiIndex, Channel)

FieldCombination = dict[Channel, Fraction]
"""A combination of derivatives of fields, with exact coefficients."""


@dataclass(frozen=True)
class CarriedDerivatives:
    """The derivatives that a pass carries singly, and those that it carries in combinations.

    Attributes:
        singles: Multi-indices that are needed by themselves.
        combinations: The combinations.
        pivots: Per combination a multi-index, with coefficient 1, that no other combination has: a residual
            gets the combination's value for it and zero for the other members.
        absent: Those other members, and derivatives that are asked for but make no difference.
    """

    singles: tuple[MultiIndex, ...]
    combinations: tuple[LinearCombination, ...] = ()
    pivots: tuple[MultiIndex, ...] = ()
    absent: frozenset[MultiIndex] = frozenset()


def carried_derivatives(terms: Sequence[Term], side: int) -> CarriedDerivatives:
    """The derivatives of the network that terms on the same points need on one of their sides."""
    value = (0,) * len(terms[0].coordinates)
    asked = {index for term in terms for _, index in term.channels[side]} | {value}
    apart = CarriedDerivatives(tuple(sorted(asked)))
    candidates = _outermost(asked)
    if len(candidates) < 2:
        return apart
    used: list[FieldCombination] = []
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
    return CarriedDerivatives(
        tuple(sorted(asked - set(candidates) | single)),
        tuple(tuple((index, float(row[index])) for index in sorted(row)) for row in several.values()),
        tuple(several),
        frozenset(candidates - set(basis)),
    )


def _outermost(asked: set[MultiIndex]) -> set[MultiIndex]:
    """The derivatives of second and higher order that no other one needs at an activation."""
    return {
        index
        for index in asked
        if sum(index) >= 2 and not any(index in closure([other]) for other in asked if other != index)
    }


def _used_by(term: Term, side: int, candidates: set[MultiIndex]) -> list[FieldCombination] | None:
    """The combinations that a term uses on a side, or None if it branches on values."""
    recording = Recording()
    rows: dict[Symbol, FieldCombination] = {}

    def value(number: int, field: int, index: MultiIndex) -> Tensor:
        points = term.sides[number].points
        phase = torch.arange(len(points), dtype=points.dtype, device=points.device) + 3 * field + sum(index)
        array = recording.input(1 + 0.5 * torch.sin(phase), (number, field, index))
        if number == side and index in candidates:
            rows[array.symbol] = {(field, index): Fraction(1)}
        return array

    try:
        residuals = term.residuals([partial(value, number) for number in range(len(term.sides))])
    except ProblemError:  # it reads values, or cannot handle recorded arrays
        return None
    returned = [residual.symbol for residual in residuals if isinstance(residual, RecordedArray)]
    return _used(recording.calls, returned, rows)


def _used(
    calls: Sequence[Symbol], returned: Sequence[Symbol], rows: dict[Symbol, FieldCombination]
) -> list[FieldCombination]:
    """The combinations that enter anything but a combination, in the order of the calls.

    Args:
        calls: The recorded calls.
        returned: The residuals.
        rows: The combination that each symbol is, if it is one; added to.
    """
    used: list[FieldCombination] = []
    for call in calls:
        parts = [rows.get(operand, {}) for operand in call.operands]
        combined = _combined(call, parts)
        if combined is None:
            used += [part for part in parts if part]
        rows[call] = combined or {}
    return used + [rows[symbol] for symbol in returned if rows.get(symbol)]


def _combined(call: Symbol, parts: Sequence[FieldCombination]) -> FieldCombination | None:  # noqa: PLR0911 - one for each kind
    """The combination that results from a call on combinations, if one does."""
    match call.operation, call.operands, parts:
        case "neg", _, [row]:
            return _times(row, Fraction(-1))
        case "add", _, [first, second]:
            return _sum(first, second)
        case "sub", _, [first, second]:
            return _sum(first, _times(second, Fraction(-1)))
        case "mul", [factor, _], [_, row] if _is_finite(factor):
            return _times(row, Fraction(factor.value))
        case "mul", [_, factor], [row, _] if _is_finite(factor):
            return _times(row, Fraction(factor.value))
        case "div", [_, divisor], [row, _] if _is_finite(divisor) and divisor.value:
            return _times(row, 1 / Fraction(divisor.value))
        case _:
            return None


def _is_finite(symbol: Symbol) -> bool:
    return symbol.is_constant() and math.isfinite(symbol.value)


def _by_field(row: FieldCombination) -> list[dict[MultiIndex, Fraction]]:
    """The parts of a combination: layers carry derivatives of the network, the same for all fields."""
    fields = sorted({field for field, _ in row})
    return [{index: c for (number, index), c in row.items() if number == field} for field in fields]


def _times(row: Mapping[K, Fraction], factor: Fraction) -> dict[K, Fraction]:
    return {index: factor * c for index, c in row.items() if factor}


def _sum(first: Mapping[K, Fraction], second: Mapping[K, Fraction]) -> dict[K, Fraction]:
    total = {
        index: first.get(index, Fraction(0)) + second.get(index, Fraction(0)) for index in {**first, **second}
    }
    return {index: c for index, c in total.items() if c}


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
