"""The terms of a loss: residuals on sets of points, each with a weight.

    loss(θ) = Σ_terms weight · Σ_components mean_points (residual / unit)²

The residual of the PDE is a term like any condition. A term knows its points and which derivatives it needs
there; an engine supplies these derivatives and gets the residuals back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from evopinn.errors import ProblemError
from evopinn.problem.binding import components
from evopinn.problem.fields import FieldValues, MultiIndex, derivative_name
from evopinn.problem.scales import TermScale

Channel = tuple[int, MultiIndex]
"""A derivative of a field: the field's number and the multi-index."""

SideValues = Callable[[int, MultiIndex], Tensor]
"""Gives, on the points of one side, the derivative of a field, shape (n,)."""

Namespace = Mapping[str, Any]
"""Everything that a user's function may ask for on one side, by name."""


def label_of(name: str) -> str:
    """The name of a term in messages."""
    return "the residual" if name == "residual" else f"the condition {name!r}"


@dataclass(frozen=True, eq=False)
class Side:
    """A set of points on which a term is evaluated.

    Attributes:
        points: Shape (n, d).
        columns: Constants on these points by name, each of shape (n,): coordinates, outward normals,
            measured values.
    """

    points: Tensor
    columns: Mapping[str, Tensor]

    def to(self, dtype: torch.dtype, device: torch.device | str) -> "Side":
        """The same points in another precision or on another device."""
        columns = {name: column.to(device, dtype) for name, column in self.columns.items()}
        return Side(self.points.to(device, dtype), columns)

    def restricted(self, rows: slice) -> "Side":
        """Some of the points."""
        return Side(self.points[rows], {name: column[rows] for name, column in self.columns.items()})


@dataclass(frozen=True, eq=False)
class Term:
    """One term of the loss.

    Attributes:
        name: Its name in tables and messages.
        weight: Factor of its mean squares in the loss.
        sides: Its points: one set, or two that correspond point by point for a periodic condition.
        fields: Names of the problem's fields.
        coordinates: Names of the problem's coordinates.
        function: From one namespace per side to what must vanish.
        channels: Per side, the derivatives that the function asks for; found by probing.
        components: The number of residuals at a point; found by probing.
        pointwise: Whether the residual at a point depends on that point alone; found by probing.
        units: Per component the number that its residual is divided by; empty if by none.
    """

    name: str
    weight: float
    sides: tuple[Side, ...]
    fields: tuple[str, ...]
    coordinates: tuple[str, ...]
    function: Callable[[Sequence[Namespace]], Any]
    channels: tuple[frozenset[Channel], ...] = ()
    components: int = 1
    pointwise: bool = False
    units: tuple[float, ...] = ()

    @property
    def count(self) -> int:
        """The number of points, n."""
        return len(self.sides[0].points)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return label_of(self.name)

    @property
    def derivatives(self) -> tuple[str, ...]:
        """The names of what the function asks for on any side, for instance `u.xx`."""
        asked = {channel for channels in self.channels for channel in channels}
        # By field, lowest order first, and u.xx before u.yy.
        ordered = sorted(asked, key=lambda channel: (channel[0], sum(channel[1]), [-k for k in channel[1]]))
        return tuple(derivative_name(self.fields[field], index, self.coordinates) for field, index in ordered)

    def to(self, dtype: torch.dtype, device: torch.device | str) -> "Term":
        """The same term in another precision or on another device."""
        return replace(self, sides=tuple(side.to(dtype, device) for side in self.sides))

    def restricted(self, rows: slice) -> "Term":
        """The same term on some of its points."""
        return replace(self, sides=tuple(side.restricted(rows) for side in self.sides))

    def scaled(self, scale: TermScale) -> "Term":
        """The same term, balanced."""
        if scale.weight is None:
            return self
        if len(scale.units) not in (0, self.components):
            raise ProblemError(
                f"scale has {len(scale.units)} units for {self.label}; it has {self.components} components."
            )
        return replace(self, weight=scale.weight, units=scale.units)

    def residuals(self, values: Sequence[SideValues]) -> tuple[Tensor, ...]:
        """What must vanish, as a tuple of tensors of shape (n,).

        Args:
            values: Per side, a function that supplies derivatives of fields on its points.
        """
        namespaces = [
            {**side.columns, **self._fields(derivative)}
            for side, derivative in zip(self.sides, values, strict=True)
        ]
        found = components(self.function(namespaces), self.count, self.label)
        return (
            tuple(each / unit for each, unit in zip(found, self.units, strict=True)) if self.units else found
        )

    def _fields(self, derivative: SideValues) -> dict[str, FieldValues]:
        return {
            name: FieldValues(name, self.coordinates, partial(derivative, number))
            for number, name in enumerate(self.fields)
        }
