"""Derivatives that a residual uses only in fixed combinations.

u_tt − u_xx + u³ needs one channel for u_tt − u_xx, not one for each. What a residual is, nobody tells: it is
a function. So its gradient with respect to the derivatives is looked at, at all points and for made-up values
of several magnitudes and either sign. If all the gradients lie in a space of fewer dimensions than there are
derivatives, the residual depends on as many combinations only; that is then tried on values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from evopinn.engine.channels import Combination
from evopinn.engine.partitions import closure
from evopinn.problem.fields import MultiIndex
from evopinn.problem.terms import Term

MAGNITUDES = (1.0, 1.0, 1e-3, 1e3)
"""Sizes of the made-up values; both signs occur in each."""

TOLERANCE = 1e-12
"""Directions that differ by less are the same."""


@dataclass(frozen=True)
class Combining:
    """Which derivatives are carried singly and which in combinations.

    Attributes:
        singles: Multi-indices that are needed by themselves.
        combinations: The combinations.
        pivots: Per combination a multi-index, with coefficient 1, that no other combination has: a residual
            gets the combination's value for it and zero for the other members.
    """

    singles: tuple[MultiIndex, ...]
    combinations: tuple[Combination, ...] = ()
    pivots: tuple[MultiIndex, ...] = ()


def combining(terms: Sequence[Term], side: int) -> Combining:
    """What terms on the same points need of the network's derivatives on one of their sides."""
    asked = {index for term in terms for _, index in term.channels[side]}
    candidates = _outermost(asked)
    if len(candidates) < 2 or not all(term.pointwise for term in terms):
        return Combining(tuple(sorted(asked)))
    rows = torch.cat([_gradients(term, side, candidates) for term in terms])
    basis = _echelon(rows, len(candidates))
    if basis is None or len(basis) == len(candidates):
        return Combining(tuple(sorted(asked)))
    pivots = [int(torch.nonzero(row == 1)[0]) for row in basis]
    combinations: list[Combination] = []
    for row in basis.unbind():
        members = zip(candidates, (float(c) for c in row.unbind()), strict=True)
        combinations.append(tuple((index, c) for index, c in members if c))
    found = Combining(
        tuple(sorted(asked - set(candidates))),
        tuple(combinations),
        tuple(candidates[pivot] for pivot in pivots),
    )
    # A combination of one is a single derivative.
    same = all(_depends_only_on(term, side, found) for term in terms)
    return _with_singles(found) if same else Combining(tuple(sorted(asked)))


def represented(values: Mapping[MultiIndex, Tensor], found: Combining) -> dict[MultiIndex, Tensor]:
    """Other values with the same combinations: each pivot has its combination's, the other members zero."""
    result = dict(values)
    for combination, pivot in zip(found.combinations, found.pivots, strict=True):
        total = sum(c * values[index] for index, c in combination)
        for index, _ in combination:
            result[index] = torch.zeros_like(values[index])
        assert isinstance(total, Tensor), "a combination has members"
        result[pivot] = total
    return result


def _outermost(asked: set[MultiIndex]) -> list[MultiIndex]:
    """Of second and higher order, and not needed for another's derivative through an activation."""
    return sorted(
        index
        for index in asked
        if sum(index) >= 2 and not any(index in closure([other]) for other in asked if other != index)
    )


def _probes(term: Term, magnitude: float) -> list[dict[tuple[int, MultiIndex], Tensor]]:
    """Made-up values per side; the generator is seeded, so that a problem always has the same plan."""
    generator = torch.Generator().manual_seed(7)
    probes: list[dict[tuple[int, MultiIndex], Tensor]] = []
    for side, asked in zip(term.sides, term.channels, strict=True):
        like = side.points
        probes.append(
            {
                channel: (magnitude * torch.randn(len(like), generator=generator, dtype=torch.float64))
                .to(like)
                .requires_grad_()
                for channel in sorted(asked)
            }
        )
    return probes


def _residuals(term: Term, probes: Sequence[Mapping[tuple[int, MultiIndex], Tensor]]) -> tuple[Tensor, ...]:
    def value(side: int, field: int, index: MultiIndex) -> Tensor:
        return probes[side][field, index]

    return term.residuals([partial(value, side) for side in range(len(term.sides))])


def _gradients(term: Term, side: int, candidates: Sequence[MultiIndex]) -> Tensor:
    """Gradients of the residuals with respect to the candidates, one row a point, field and component."""
    rows: list[Tensor] = []
    for magnitude in MAGNITUDES:
        probes = _probes(term, magnitude)
        for residual in _residuals(term, probes):
            leaves = list(probes[side].values())
            slopes = torch.autograd.grad(residual.sum(), leaves, retain_graph=True, materialize_grads=True)
            by_channel = dict(zip(probes[side], slopes, strict=True))
            for field in range(len(term.fields)):
                zero = torch.zeros_like(residual)
                columns = [by_channel.get((field, index), zero) for index in candidates]
                rows.append(torch.stack(columns, dim=1).detach())
    return torch.cat(rows)


def _echelon(rows: Tensor, columns: int) -> Tensor | None:
    """A reduced basis of the rows' space, or None where a row is not finite."""
    rows = rows[rows.abs().amax(dim=1) > 0].double().cpu()
    if not torch.isfinite(rows).all():
        return None
    rest = rows / rows.abs().amax(dim=1, keepdim=True)
    basis = rest.new_zeros((0, columns))
    while len(rest) and rest.abs().max() > TOLERANCE:
        number, column = divmod(int(rest.abs().argmax()), columns)
        row = rest[number] / rest[number, column]
        row[column] = 1.0
        basis = basis - basis[:, column : column + 1] * row
        rest = rest - rest[:, column : column + 1] * row
        basis = torch.cat([basis, row[None]])
        basis[basis.abs() < TOLERANCE] = 0
    return basis


def _depends_only_on(term: Term, side: int, found: Combining) -> bool:
    """Whether the residuals stay the same when values are replaced by others with the same combinations."""
    for magnitude in MAGNITUDES:
        probes = _probes(term, magnitude)
        before = _residuals(term, probes)
        replaced = dict(probes[side])
        for field in range(len(term.fields)):
            own = {index: value for (number, index), value in probes[side].items() if number == field}
            zero = torch.zeros_like(term.sides[side].points[:, 0])
            members = {index: zero for each in found.combinations for index, _ in each}
            for index, value in represented({**members, **own}, found).items():
                replaced[field, index] = value
        after = _residuals(term, [replaced if k == side else p for k, p in enumerate(probes)])
        for a, b in zip(before, after, strict=True):
            scale = a.abs().max() + magnitude
            if not bool(((a - b).abs() <= 1e-9 * scale).all()):
                return False
    return True


def _with_singles(found: Combining) -> Combining:
    """The same, with combinations of one member among the singles."""
    pairs = list(zip(found.combinations, found.pivots, strict=True))
    single = tuple(pivot for combination, pivot in pairs if len(combination) == 1)
    several = [(combination, pivot) for combination, pivot in pairs if len(combination) > 1]
    return Combining(
        tuple(sorted({*found.singles, *single})), tuple(c for c, _ in several), tuple(p for _, p in several)
    )
