"""The values of fields that conditions and data state outright."""

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from evopinn.errors import ProblemError
from evopinn.problem.fields import MultiIndex
from evopinn.problem.made_up_fields import SmoothFields, root_mean_square
from evopinn.problem.scales import Affine
from evopinn.problem.terms import Term

NEGLIGIBLE = 1e-8
"""What is smaller than this, as part of the same quantity elsewhere, is rounding."""

_ROBIN = 0.1
"""A condition on value and flux tells the value if that has at least this part in it."""


def known_values(terms: Sequence[Term], field: int, boxes: tuple[Affine, ...]) -> tuple[float, float]:
    """The lowest and the highest value of a field that conditions state; inf and -inf if none does."""
    low, high = math.inf, -math.inf
    for term in terms:
        for values in stated_values(term, field, boxes):
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    return low, high


def stated_values(term: Term, field: int, boxes: tuple[Affine, ...]) -> Iterator[Tensor]:
    """Per component r = A·u + r₀ of a condition that states the values of a field, these: -r₀/A."""
    if len(term.sides) != 1 or not term.pointwise or all(number != field for number, _ in term.channels[0]):
        return
    zero = (0,) * len(boxes)
    leaves = {
        channel: torch.zeros(term.count, dtype=torch.float64).requires_grad_()
        for channel in sorted({*term.channels[0], (field, zero)})
    }

    def value(number: int, index: MultiIndex) -> Tensor:
        return leaves[number, index]

    try:
        residuals = term.residuals([value])
    except ProblemError:  # it asks for more at these values, or cannot take them
        return
    slopes = [
        torch.autograd.grad(each.sum(), list(leaves.values()), retain_graph=True, materialize_grads=True)
        for each in residuals
    ]
    smooth = SmoothFields(boxes, 0)
    for component, (residual, parts) in enumerate(zip(residuals, slopes, strict=True)):
        slope = dict(zip(leaves, parts, strict=True))
        own = slope.pop((field, zero))
        used = own.abs() > NEGLIGIBLE * own.abs().max()
        others = sum(
            (part * smooth(term.sides[0].points, *channel) for channel, part in slope.items()),
            torch.zeros_like(own),
        )
        foreign = any(number != field and bool(part.any()) for (number, _), part in slope.items())
        if foreign or not used.any() or root_mean_square([own]) < _ROBIN * root_mean_square([others]):
            continue
        values = torch.where(used, -residual.detach() / own, 0.0)
        if values[used].isfinite().all() and _vanishes(term, component, leaves, (field, zero), values, used):
            yield values[used]


def _vanishes(
    term: Term,
    component: int,
    leaves: Mapping[tuple[int, MultiIndex], Tensor],
    channel: tuple[int, MultiIndex],
    values: Tensor,
    used: Tensor,
) -> bool:
    """Whether a component is zero at the values found: it is not if it bends."""
    at_values = {key: values if key == channel else torch.zeros_like(values) for key in leaves}
    before = term.residuals([lambda number, index: leaves[number, index].detach()])[component]
    behind = term.residuals([lambda number, index: at_values[number, index]])[component]
    return bool((behind.abs() <= 1e-6 * before.abs().max())[used].all())
