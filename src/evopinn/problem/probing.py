"""Probes of a term before a training: its soundness, and the derivatives that it asks for.

Its function runs on made-up smooth values of several magnitudes and either sign.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from evopinn.errors import ProblemError
from evopinn.problem.fields import MultiIndex
from evopinn.problem.terms import Channel, Term

PROBE_SIZES = (1.0, -1.0, 0.01, -0.01, 100.0, -100.0)
"""Magnitudes of the made-up values."""


def probed(term: Term) -> Term:
    """The same term, checked, with the derivatives that it asks for."""
    asked: list[set[Channel]] = [set() for _ in term.sides]
    before = [{name: column.clone() for name, column in side.columns.items()} for side in term.sides]
    always_broken = torch.ones(term.count, dtype=torch.bool)
    components = 0
    for size in PROBE_SIZES:
        residuals = _probe(term, size, asked)
        components = len(residuals)
        if not any(asked):
            raise ProblemError(f"{term.label} uses no field; it must use one of {', '.join(term.fields)}.")
        if not all(residual.requires_grad for residual in residuals):
            raise ProblemError(
                f"{term.label} has a component that depends on no field or was detached; "
                "each must depend on a field by torch functions."
            )
        always_broken &= ~torch.stack([torch.isfinite(residual) for residual in residuals]).all(dim=0)
    for side, columns in zip(term.sides, before, strict=True):
        for name, column in columns.items():
            if not torch.equal(side.columns[name], column):
                raise ProblemError(
                    f"{term.label} changes its argument {name} in place; compute a new tensor instead."
                )
    _require_finite(term, always_broken)
    channels = tuple(frozenset(channels) for channels in asked)
    return replace(term, channels=channels, components=components, pointwise=_is_pointwise(term))


def _probe(
    term: Term, size: float, asked: Sequence[set[Channel]], altered: Tensor | None = None
) -> tuple[Tensor, ...]:
    """The residuals for made-up values; what they ask for is added to `asked`, per side.

    Args:
        term: The term.
        size: Magnitude and sign of the values.
        asked: Per side, what was asked for.
        altered: Points at which the values differ.
    """

    def probe(side: int, field: int, index: MultiIndex) -> Tensor:
        asked[side].add((field, index))
        points = term.sides[side].points
        phase = torch.arange(len(points), dtype=points.dtype) + 3 * field + sum(index)
        values = size * (1 + 0.5 * torch.sin(phase))
        if altered is not None:
            values = torch.where(altered, 1.25 * values, values)
        return values.requires_grad_()

    return term.residuals([partial(probe, side) for side in range(len(term.sides))])


def _is_pointwise(term: Term) -> bool:
    """Whether the residual at a point depends on that point alone, so that blocks give the same.

    Altering values at some points must not alter residuals at others, and fewer points must not either.
    """
    unnoted: list[set[Channel]] = [set() for _ in term.sides]
    half = slice(0, max(1, term.count // 2))
    generator = torch.Generator().manual_seed(0)
    for size in PROBE_SIZES:
        whole = _probe(term, size, unnoted)
        part = _probe(term.restricted(half), size, unnoted)
        altered = torch.rand(term.count, generator=generator) < 0.5
        other = _probe(term, size, unnoted, altered)
        if not _same([each[half] for each in whole], part):
            return False
        if not _same([each[~altered] for each in whole], [each[~altered] for each in other]):
            return False
    return True


def _same(first: Sequence[Tensor], second: Sequence[Tensor]) -> bool:
    return all(torch.allclose(a, b, rtol=1e-9, equal_nan=True) for a, b in zip(first, second, strict=True))


def _require_finite(term: Term, broken: Tensor) -> None:
    """Refuse a residual that no values make finite: a coefficient or source is to blame, not the fields."""
    if not broken.any():
        return
    point = term.sides[0].points[int(torch.nonzero(broken)[0])].numpy()
    place = ", ".join(f"{name} = {value:.6g}" for name, value in zip(term.coordinates, point, strict=True))
    raise ProblemError(
        f"{term.label} is not finite at {int(broken.sum())} of {term.count} points, "
        f"the first at {place}: its source or coefficients must be finite on all points."
    )
