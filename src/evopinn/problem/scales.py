"""The scales of a problem: affine maps of its coordinates and fields, and the units of its terms.

The network takes coordinates in [-1, 1] and returns fields of order one:

    ξ = (x − shift) / size,    u = shift + size · network(ξ).

A term of the loss divides each component of its residual by the component's unit. It needs no torch.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from evopinn.checks import shown
from evopinn.errors import ProblemError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Field:
    """What is known of a field's values beforehand; what is not given is estimated.

    Attributes:
        scale: The size of its variation: a value is `shift` plus `scale` times a number of order one.
        shift: The value that it varies about; zero if only the scale is given.

    Examples:
        >>> temperature = Field(scale=20, shift=293)
    """

    scale: float | None = None
    shift: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not (_is_finite(self.scale) and self.scale > 0):
            raise ProblemError(f"Field(scale={shown(self.scale)}): give a finite number above 0.")
        if self.shift is not None and not _is_finite(self.shift):
            raise ProblemError(f"Field(shift={shown(self.shift)}): give a finite number.")


@dataclass(frozen=True)
class Affine:
    """The map between a quantity and its scaled counterpart: quantity = shift + size · counterpart."""

    shift: float = 0.0
    size: float = 1.0


@dataclass(frozen=True)
class TermScale:
    """How a term of the loss is balanced.

    Attributes:
        weight: Factor of its mean squares in the loss; None for the one that the problem states.
        units: Per component of its residual the number that it is divided by; empty if by none.
    """

    weight: float | None = None
    units: tuple[float, ...] = ()


@dataclass(frozen=True)
class Scales:
    """The scales of a problem; what is empty changes nothing.

    Attributes:
        coordinates: Per coordinate, the map to [-1, 1].
        fields: Per field, the map from the network's output.
        terms: Per term of the loss, the residual first, how it is balanced.

    Examples:
        >>> Scales(coordinates=(Affine(50.0, 50.0),), fields=(Affine(0.0, 20.0),)).to_json()
        {'coordinates': [[50.0, 50.0]], 'fields': [[0.0, 20.0]], 'terms': []}
    """

    coordinates: tuple[Affine, ...] = ()
    fields: tuple[Affine, ...] = ()
    terms: tuple[TermScale, ...] = ()

    @property
    def sizes(self) -> tuple[float, ...]:
        """The sizes of the coordinates; empty if they enter the network as they are."""
        return tuple(each.size for each in self.coordinates)

    def inputs(self, points: "Tensor") -> "Tensor":
        """What the network receives for points, shape (..., d)."""
        if not self.coordinates:
            return points
        shifts, sizes = _columns(self.coordinates, points)
        return (points - shifts) / sizes

    def outputs(self, values: "Tensor") -> "Tensor":
        """The fields from what the network returns, shape (..., fields)."""
        if not self.fields:
            return values
        shifts, sizes = _columns(self.fields, values)
        return shifts + sizes * values

    def fits(self, coordinates: int, fields: int, terms: int) -> bool:
        """Whether these can be the scales of a problem with so many coordinates, fields and terms."""
        counts = ((self.coordinates, coordinates), (self.fields, fields), (self.terms, terms))
        return all(len(each) in (0, count) for each, count in counts)

    def to_json(self) -> dict[str, Any]:
        """The scales as plain data: `[shift, size]` per map, `[weight, unit, ...]` per balanced term."""
        return {
            "coordinates": [[each.shift, each.size] for each in self.coordinates],
            "fields": [[each.shift, each.size] for each in self.fields],
            "terms": [[] if each.weight is None else [each.weight, *each.units] for each in self.terms],
        }

    @classmethod
    def from_json(cls, data: object) -> "Scales":
        """The scales from plain data.

        Raises:
            ProblemError: The data are not what `to_json` gives.
        """
        table: Mapping[str, object] = cast("dict[str, object]", data) if isinstance(data, dict) else {}
        rows = {name: _rows(table.get(name)) for name in ("coordinates", "fields", "terms")}
        maps = [*(rows["coordinates"] or []), *(rows["fields"] or [])]
        terms = rows["terms"] or []
        if (
            None in rows.values()
            or any(len(row) != 2 or row[1] <= 0 for row in maps)
            or any(row and (row[0] < 0 or min(row[1:], default=1.0) <= 0) for row in terms)
        ):
            raise ProblemError(
                f"the scales are {shown(cast(object, data))}; they need coordinates and fields "
                "as [shift, size] and terms as [weight, unit, ...]."
            )
        return cls(
            tuple(Affine(*row) for row in rows["coordinates"] or []),
            tuple(Affine(*row) for row in rows["fields"] or []),
            tuple(TermScale(row[0], tuple(row[1:])) if row else TermScale() for row in terms),
        )


UNSCALED = Scales()
"""No scales: coordinates, fields and terms as they are."""


def _columns(maps: Sequence[Affine], like: "Tensor") -> "tuple[Tensor, Tensor]":
    return like.new_tensor([each.shift for each in maps]), like.new_tensor([each.size for each in maps])


def _rows(value: object) -> list[list[float]] | None:
    """Rows of finite numbers; None if it is anything else."""
    if not isinstance(value, list):
        return None
    rows: list[list[float]] = []
    for row in cast("list[object]", value):
        if not isinstance(row, list):
            return None
        numbers = cast("list[object]", row)
        if not all(map(_is_finite, numbers)):
            return None
        rows.append([float(cast("float", number)) for number in numbers])
    return rows


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False
