"""Made-up smooth fields, on which the terms of a problem are tried before there is a network."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from torch import Tensor

from evopinn.errors import ProblemError
from evopinn.problem.fields import MultiIndex
from evopinn.problem.scales import Affine, Scales
from evopinn.problem.terms import SideValues, Term

_DRAWS = 4
_WAVES = 8
_SEED = 21


@dataclass(frozen=True, eq=False)
class SmoothFields:
    """Made-up fields of size one: sums of sines that make up to one wave along each side of the domain.

    Attributes:
        boxes: The maps of the coordinates.
        draw: The number of the draw.
    """

    boxes: tuple[Affine, ...]
    draw: int

    def __call__(self, points: Tensor, field: int, index: MultiIndex) -> Tensor:
        """A derivative of a field with respect to the coordinates, shape (n,)."""
        rng = np.random.default_rng([_SEED, self.draw, field])
        waves = torch.as_tensor(rng.uniform(-math.pi, math.pi, (_WAVES, len(self.boxes))))
        phases = torch.as_tensor(rng.uniform(0, 2 * math.pi, _WAVES))
        sizes = torch.as_tensor([box.size for box in self.boxes], dtype=torch.float64)
        orders = torch.as_tensor(index, dtype=torch.float64)
        slopes = (waves / sizes).pow(orders).prod(dim=1)
        angles = Scales(self.boxes).inputs(points) @ waves.T + phases + sum(index) * math.pi / 2
        return torch.sin(angles) @ slopes / math.sqrt(_WAVES)


@dataclass(frozen=True, eq=False)
class Trial:
    """A term on one draw of made-up fields.

    Attributes:
        term: The term.
        smooth: The fields.
    """

    term: Term
    smooth: SmoothFields

    @cached_property
    def _derivatives(self) -> dict[tuple[int, int, MultiIndex], Tensor]:
        return {
            (side, field, index): self.smooth(each.points, field, index)
            for side, (each, asked) in enumerate(zip(self.term.sides, self.term.channels, strict=True))
            for field, index in asked
        }

    def residuals(self, maps: Sequence[Affine | None], near_shifts: bool = False) -> list[Tensor]:
        """The residuals where fields have these sizes and the others are zero; none if they cannot be had.

        Args:
            maps: Per field its shift and size.
            near_shifts: Whether the values of a field whose shift exceeds its size stay within half of the
                shift around it, on its side of zero.
        """

        def value(side: int, field: int, index: MultiIndex) -> Tensor:
            size = maps[field]
            derivative = self._derivatives.get((side, field, index))
            if derivative is None:  # asked for only at some values of the fields
                derivative = self.smooth(self.term.sides[side].points, field, index)
            if size is None:
                return torch.zeros_like(derivative)
            if any(index):
                return size.size * derivative
            deviation = size.size * derivative
            if near_shifts and abs(size.shift) >= size.size:
                deviation = deviation.clamp(-abs(size.shift) / 2, abs(size.shift) / 2)
            return deviation + size.shift

        try:
            return [each.detach() for each in self.term.residuals(each_side(self.term, value))]
        except ProblemError:  # a field of zero may be what it divides by
            return []


def trials_of(term: Term, boxes: tuple[Affine, ...]) -> list[Trial]:
    """A term on each draw."""
    return [Trial(term, SmoothFields(boxes, draw)) for draw in range(_DRAWS)]


def each_side(term: Term, value: Callable[[int, int, MultiIndex], Tensor]) -> list[SideValues]:
    """What supplies the derivatives of fields on each side of a term."""
    return [partial(value, side) for side in range(len(term.sides))]


def root_mean_square(values: Sequence[Tensor]) -> float:
    """The root mean square of the finite ones among some numbers, without overflow; 0 if there are none."""
    joined = torch.cat([*values])
    joined = joined[torch.isfinite(joined)]
    largest = float(joined.abs().max()) if len(joined) else 0.0
    return largest * float((joined / largest).square().mean().sqrt()) if largest else 0.0
