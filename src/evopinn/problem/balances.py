"""Terms as balances: the size at which a field is as large as the rest of an equation."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from scipy.optimize import brentq  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]
from torch import Tensor

from evopinn.problem.fields import MultiIndex
from evopinn.problem.made_up_fields import Trial, each_side, root_mean_square
from evopinn.problem.scales import Affine
from evopinn.problem.stated_values import NEGLIGIBLE

_STEPS = range(0, 121, 3)
_STARTS = (0.0, 40.0, 80.0)
"""Logarithms of sizes; at the first ones the part of a field may be lost in the rounding of the rest."""


@dataclass(frozen=True, eq=False)
class Balance:
    """A term as a balance between one field and everything else.

    Attributes:
        trials: The term on made-up fields.
    """

    trials: Sequence[Trial]

    def size(self, field: int, known: Sequence[Affine | None]) -> float:
        """The largest size at which a field balances the rest of a component; 0 if there is no such size.

        Where other fields can balance what the field's own shift does, no variation of the field need do so:
        it only must not be larger.

        Args:
            field: The number of the field.
            known: Per field its map, or None to take it for zero; of the field itself, with size 0.
        """
        rest = self._residuals(known)
        if not rest:
            return 0.0
        needed, most = 0.0, math.inf
        for component in range(len(rest[0])):
            size = self._balanced(component, field, known, [each[component] for each in rest])
            if size and self._is_for_others(component, field, known, rest):
                most = min(most, size)
            else:
                needed = max(needed, size)
        return min(needed, most)

    def size_in(self, component: int, field: int, known: Sequence[Affine | None]) -> float:
        """The size at which a field balances the rest of one component; 0 if there is no such size."""
        rest = self._residuals(known)
        return self._balanced(component, field, known, [each[component] for each in rest]) if rest else 0.0

    def parts(
        self, maps: Sequence[Affine | None], without: Sequence[Affine | None] | None = None
    ) -> list[float]:
        """Per component its root mean square, or that of the difference from the one with other maps."""
        found, base = self._residuals(maps), self._residuals(without) if without else []
        if not found or (without and not base):
            return [0.0] * self.trials[0].term.components
        columns = zip(*found, strict=True)
        if not base:
            return [root_mean_square(column) for column in columns]
        pairs = zip(columns, zip(*base, strict=True), strict=True)
        return [root_mean_square([one - other for one, other in zip(*pair, strict=True)]) for pair in pairs]

    def _residuals(self, maps: Sequence[Affine | None]) -> list[list[Tensor]]:
        """The residuals of each trial; none if they cannot be had."""
        found = [trial.residuals(maps) for trial in self.trials]
        return found if all(found) else []

    def _is_for_others(
        self, component: int, field: int, known: Sequence[Affine | None], rest: Sequence[Sequence[Tensor]]
    ) -> bool:
        """Whether other fields take part in a component, and the shift of this one does."""
        own = known[field]
        if own is None or not own.shift or self._fields[component] <= {field}:
            return False
        others = self._residuals([*known[:field], None, *known[field + 1 :]])
        pairs = [(one[component], other[component]) for one, other in zip(rest, others, strict=False)]
        return root_mean_square([one - other for one, other in pairs]) > NEGLIGIBLE * root_mean_square(
            [one for one, _ in pairs]
        )

    @cached_property
    def _fields(self) -> list[set[int]]:
        """Per component the numbers of the fields that it depends on."""
        trial = self.trials[0]
        leaves: dict[tuple[int, int, MultiIndex], Tensor] = {}

        def value(side: int, field: int, index: MultiIndex) -> Tensor:
            key = (side, field, index)
            if key not in leaves:
                leaves[key] = trial.smooth(trial.term.sides[side].points, field, index).requires_grad_()
            return leaves[key]

        residuals = trial.term.residuals(each_side(trial.term, value))
        slopes = (
            torch.autograd.grad(each.sum(), list(leaves.values()), retain_graph=True, materialize_grads=True)
            for each in residuals
        )
        return [
            {field for (_, field, _), part in zip(leaves, parts, strict=True) if bool((part != 0).any())}
            for parts in slopes
        ]

    def _balanced(
        self, component: int, field: int, known: Sequence[Affine | None], rest: Sequence[Tensor]
    ) -> float:
        """The size at which a field's part in a component is as large as the rest; 0 if there is none."""
        target = root_mean_square(rest)
        own = known[field]
        if not target or own is None:
            return 0.0

        def excess(exponent: float) -> float:
            """The logarithm of the field's part over the rest, by that of the field's size."""
            maps = [*known[:field], Affine(own.shift, math.exp(exponent)), *known[field + 1 :]]
            residuals = [trial.residuals(maps) for trial in self.trials]
            if not all(residuals):
                return math.inf
            parts = [each[component] - other for each, other in zip(residuals, rest, strict=True)]
            if not all(bool(part.isfinite().all()) for part in parts):
                return math.inf
            part = root_mean_square(parts)
            return math.log(part / target) if part else -math.inf

        return _root(excess)


def _root(excess: Callable[[float], float]) -> float:
    """The exponential of the zero of an increasing function; 0 if it has none."""
    starts = ((x, excess(x)) for x in _STARTS)
    start, first = next(((x, y) for x, y in starts if y > -math.inf), (0.0, -math.inf))
    if first == -math.inf:
        return 0.0
    second = excess(start - first) if math.isfinite(first) else math.inf
    if abs(second) < 1e-6:  # the residual is linear in the field, and the rest is rounding
        return math.exp(start - first - second)
    low = next((x for x in _STEPS if excess(-x) < 0), None)
    high = next((x for x in _STEPS if excess(x) > 0), None)
    if low is None or high is None:
        return 0.0

    def bounded(x: float) -> float:
        return max(-1e3, min(1e3, excess(x)))

    return math.exp(cast("float", brentq(bounded, -low, high, xtol=1e-13)))
