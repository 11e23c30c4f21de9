"""The terms of a loss: what must vanish, where, and with which weight.

    loss(θ) = Σ_terms weight · Σ_components mean_points residual²

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
from evopinn.problem.fields import Field, MultiIndex, derivative_name

Channel = tuple[int, MultiIndex]
"""A derivative of a field: the field's number and the multi-index."""

SideValues = Callable[[int, MultiIndex], Tensor]
"""Gives, on the points of one side, the derivative of a field, shape (n,)."""

Namespace = Mapping[str, Any]
"""Everything that a user's function may ask for on one side, by name."""


PROBE_SIZES = (1.0, -1.0, 0.01, -0.01, 100.0, -100.0)
"""Magnitudes of the made-up values on which a term is tried."""


def label_of(name: str) -> str:
    """How messages call the term of a name."""
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


@dataclass(frozen=True, eq=False)
class Term:
    """One term of the loss.

    Attributes:
        name: How tables and messages call it.
        weight: Factor of its mean squares in the loss.
        sides: Its points: one set, or two that correspond point by point for a periodic condition.
        fields: Names of the problem's fields.
        coordinates: Names of the problem's coordinates.
        function: From one namespace per side to what must vanish.
        channels: Per side, the derivatives that the function asks for; found by `traced`.
    """

    name: str
    weight: float
    sides: tuple[Side, ...]
    fields: tuple[str, ...]
    coordinates: tuple[str, ...]
    function: Callable[[Sequence[Namespace]], Any]
    channels: tuple[frozenset[Channel], ...] = ()

    @property
    def count(self) -> int:
        """The number of points, n."""
        return len(self.sides[0].points)

    @property
    def label(self) -> str:
        """How messages call it."""
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

    def residuals(self, values: Sequence[SideValues]) -> tuple[Tensor, ...]:
        """What must vanish, as a tuple of tensors of shape (n,).

        Args:
            values: Per side, a function that supplies derivatives of fields on its points.
        """
        namespaces = [
            {**side.columns, **self._fields(derivative)}
            for side, derivative in zip(self.sides, values, strict=True)
        ]
        return components(self.function(namespaces), self.count, self.label)

    def _fields(self, derivative: SideValues) -> dict[str, Field]:
        return {
            name: Field(name, self.coordinates, partial(derivative, number))
            for number, name in enumerate(self.fields)
        }

    def traced(self) -> "Term":
        """The same term, checked, and with the derivatives noted that it asks for.

        The function is run on made-up smooth values of several magnitudes and either sign. A residual that is
        not finite at a point under all of them owes that to a coefficient or source, not to the fields.
        """
        asked: list[set[Channel]] = [set() for _ in self.sides]

        def probe(size: float, side: int, field: int, index: MultiIndex) -> Tensor:
            asked[side].add((field, index))
            points = self.sides[side].points
            phase = torch.arange(len(points), dtype=points.dtype) + 3 * field + sum(index)
            return (size * (1 + 0.5 * torch.sin(phase))).requires_grad_()

        always_broken = torch.ones(self.count, dtype=torch.bool)
        for size in PROBE_SIZES:
            values = [partial(probe, size, side) for side in range(len(self.sides))]
            residuals = self.residuals(values)
            if any(asked) and not all(residual.requires_grad for residual in residuals):
                raise ProblemError(
                    f"{self.label} has a component that no field can change (or that was detached); "
                    "each must depend on a field by torch functions."
                )
            finite = [torch.isfinite(residual) for residual in residuals]
            always_broken &= ~torch.stack(finite).all(dim=0)
        return self._with_channels(asked, always_broken)

    def _with_channels(self, asked: Sequence[set[Channel]], broken: Tensor) -> "Term":
        if not any(asked):
            raise ProblemError(f"{self.label} uses no field; there are {', '.join(self.fields)}.")
        if broken.any():
            point = self.sides[0].points[int(torch.nonzero(broken)[0])].tolist()
            place = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.coordinates, point, strict=True))
            raise ProblemError(
                f"{self.label} is not finite at {int(broken.sum())} of {self.count} points, "
                f"the first at {place}: its source or coefficients must be finite on all points."
            )
        return replace(self, channels=tuple(frozenset(channels) for channels in asked))
