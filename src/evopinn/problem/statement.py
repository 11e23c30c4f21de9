"""The translation of a user's statement into the terms of the loss, each condition with its points."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from evopinn.checks import shown
from evopinn.errors import ProblemError
from evopinn.problem.arrays import Floats, finite_array
from evopinn.problem.binding import BoundFunction, UserFunction, guarded
from evopinn.problem.conditions import Boundary, Condition, Data, Initial, Periodic
from evopinn.problem.domains import Domain, SpaceTime
from evopinn.problem.fields import MAX_ORDER, multi_index
from evopinn.problem.points import Points
from evopinn.problem.terms import Namespace, Side, Term, label_of


@dataclass(frozen=True)
class Statement:
    """Turns a residual and conditions into terms.

    Attributes:
        domain: Where the PDE holds.
        points: The numbers of points and their placement.
        fields: Names of the unknown functions.
        coordinates: Names of the coordinates, in the order of the domain's axes.
    """

    domain: Domain
    points: Points
    fields: tuple[str, ...]
    coordinates: tuple[str, ...]

    def terms(self, residual: UserFunction, conditions: Iterable[Condition]) -> tuple[Term, ...]:
        """The term of the residual, then one per condition."""
        terms = [self._term("residual", 1.0, residual, self.points.interior_points(self.domain))]
        builders: dict[type[Condition], Callable[[Any], Term]] = {
            Initial: self._initial,
            Boundary: self._boundary,
            Periodic: self._periodic,
            Data: self._data,
        }
        for condition in conditions:
            if type(condition) not in builders:
                raise ProblemError(
                    f"a condition is a {type(condition).__name__}; "
                    f"give {', '.join(kind.__name__ for kind in builders)}."
                )
            terms.append(builders[type(condition)](condition))
        return _numbered(terms)

    def _term(
        self, name: str, weight: float, function: UserFunction, points: Floats, normals: Floats | None = None
    ) -> Term:
        """A term on one set of points."""
        side = self._side(points, normals)
        known = dict.fromkeys(self.fields, "field") | dict.fromkeys(self.coordinates, "coordinate")
        known |= {column: "normal" for column in side.columns if column not in known}
        bound = BoundFunction.of(function, label_of(name), known)
        return self._build(name, weight, (side,), lambda sides: bound(sides[0]))

    def _build(
        self,
        name: str,
        weight: float,
        sides: tuple[Side, ...],
        function: Callable[[Sequence[Namespace]], Any],
    ) -> Term:
        return Term(name, weight, sides, self.fields, self.coordinates, function)

    def _side(self, points: Floats, normals: Floats | None = None) -> Side:
        tensor = torch.as_tensor(points)
        columns = dict(zip(self.coordinates, tensor.unbind(dim=1), strict=True))
        if normals is not None:
            parts = torch.as_tensor(normals).unbind(dim=1)
            axes = self.coordinates[: len(parts)]
            columns = {f"n{axis}": part for axis, part in zip(axes, parts, strict=True)} | columns
        return Side(tensor, columns)

    def _initial(self, condition: Initial) -> Term:
        if not isinstance(self.domain, SpaceTime):
            raise ProblemError("an Initial condition needs time; multiply the domain by Time(start, end).")
        points = self.points.initial_points(self.domain)
        return self._term(condition.name or "initial", _weight(condition), condition.function, points)

    def _boundary(self, condition: Boundary) -> Term:
        on = condition.on
        if callable(on):
            place, name = self._predicate(on), "boundary (predicate)"
        elif on is None:
            place, name = None, "boundary"
        else:
            place = _part_names(on)
            name = f"boundary ({', '.join(place)})"
        found = self.points.part_points(self.domain, place)
        name = condition.name or name
        return self._term(name, _weight(condition), condition.function, found.points, found.normals)

    def _predicate(self, predicate: Callable[..., Any]) -> Callable[..., Any]:
        """A predicate that asks for coordinates by name, converted to take them by position."""
        bound = BoundFunction.of(predicate, "the predicate", dict.fromkeys(self.coordinates, "coordinate"))
        return lambda *columns: bound(dict(zip(self.coordinates, columns, strict=True)))

    def _periodic(self, condition: Periodic) -> Term:
        if condition.axis not in self.coordinates:
            raise ProblemError(
                f"Periodic({condition.axis!r}) names no coordinate; "
                f"the coordinates are {', '.join(self.coordinates)}."
            )
        axis = self.domain.coordinates[self.coordinates.index(condition.axis)]
        sides = tuple(self._side(points) for points in self.points.periodic_points(self.domain, axis))
        name = condition.name or f"periodic {condition.axis}"
        function = condition.function or self._equal_to_order(condition)

        def compare(spaces: Sequence[Namespace]) -> Any:
            low, high = (SimpleNamespace(**space) for space in spaces)
            return guarded(label_of(name), lambda: function(low, high))

        return self._build(name, _weight(condition), sides, compare)

    def _equal_to_order(self, condition: Periodic) -> Callable[[Any, Any], Any]:
        """All wanted fields, and their derivatives along the axis, agree on both sides."""
        if condition.order not in range(MAX_ORDER + 1):
            raise ProblemError(
                f"Periodic(order={condition.order!r}): the order is a whole number from 0 to {MAX_ORDER}."
            )
        wanted = condition.fields or self.fields
        for name in wanted:
            self._require_field(name, f"Periodic({condition.axis!r})")
        derivatives = ["_".join([condition.axis] * order) for order in range(1, condition.order + 1)]

        def difference(low: Any, high: Any) -> list[Tensor]:
            gaps: list[Tensor] = []
            for name in wanted:
                one, other = getattr(low, name), getattr(high, name)
                gaps.append(one - other)
                gaps.extend(getattr(one, along) - getattr(other, along) for along in derivatives)
            return gaps

        return difference

    def _data(self, condition: Data) -> Term:
        if not isinstance(condition.values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ProblemError('the values of Data have no names; give for example {"u": [...]}.')
        points = self._data_points(condition.points)
        side = self._side(points)
        measured: dict[str, Tensor] = {}
        for name, values in condition.values.items():
            field, _, derivative = name.partition(".")
            self._require_field(field, "Data")
            if derivative:
                multi_index(derivative, self.coordinates)
            array = finite_array(values, (len(points),), f"Data: the values of {name}")
            measured[name] = torch.as_tensor(array)
        if not measured:
            raise ProblemError('Data has no values; give for example {"u": [...]}.')

        def misfit(spaces: Sequence[Namespace]) -> list[Tensor]:
            gaps: list[Tensor] = []
            for name in measured:
                field, _, derivative = name.partition(".")
                value = spaces[0][field]
                gaps.append(
                    (getattr(value, derivative) if derivative else value) - spaces[0][f"measured {name}"]
                )
            return gaps

        columns = {**side.columns, **{f"measured {name}": values for name, values in measured.items()}}
        name = condition.name or "data"
        return self._build(name, _weight(condition), (replace(side, columns=columns),), misfit)

    def _data_points(self, points: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        if isinstance(points, Mapping):
            columns = points
            if set(columns) != set(self.coordinates):
                raise ProblemError(
                    f"Data has points with the coordinates {', '.join(columns)}; "
                    f"expected {', '.join(self.coordinates)}."
                )
            columns = {
                name: finite_array(columns[name], (None,), f"Data: points' {name}") for name in columns
            }
            if len({len(column) for column in columns.values()}) > 1:
                raise ProblemError("Data: the points' coordinates differ in length; give one per point.")
            points = np.stack([columns[name] for name in self.coordinates], axis=1)
        array = finite_array(points, (None, len(self.coordinates)), "Data: points")
        outside = np.nonzero(~self.domain.closure(array))[0]
        if len(outside):
            row = int(outside[0])
            place = ", ".join(
                f"{name} = {x:.6g}" for name, x in zip(self.coordinates, array[row], strict=True)
            )
            raise ProblemError(
                f"Data: {len(outside)} points lie outside the domain, the first in row {row} at {place}; "
                f"columns are expected in the order {', '.join(self.coordinates)}."
            )
        return array

    def _require_field(self, name: str, where: str) -> None:
        if name not in self.fields:
            raise ProblemError(
                f"{where} names {name!r}, which is not a field; the fields are {', '.join(self.fields)}."
            )


def _weight(condition: Condition) -> float:
    """The weight that a condition states; 1 if it leaves it open."""
    weight: object = condition.weight
    if weight is None or (isinstance(weight, str) and weight == "auto"):
        return 1.0
    if isinstance(weight, bool) or not (isinstance(weight, Real) and 0 <= weight <= sys.float_info.max):
        raise ProblemError(
            f'a weight is {shown(weight)}; it must be a finite number of at least 0, or "auto".'
        )
    return float(weight)


def _part_names(on: Any) -> tuple[str, ...]:
    """The names of boundary parts that a user gave, one or several."""
    names = (on,) if isinstance(on, str) or not isinstance(on, Iterable) else tuple(cast("Iterable[Any]", on))
    if not names or not all(isinstance(name, str) for name in names):
        raise ProblemError(f"Boundary(on={on!r}): give the name of a part, several names, or a predicate.")
    return names


def _numbered(terms: Sequence[Term]) -> tuple[Term, ...]:
    """The same terms, with a number behind names that occur several times."""
    total, seen = Counter(term.name for term in terms), Counter[str]()
    named: list[Term] = []
    for term in terms:
        seen[term.name] += 1
        numbered = total[term.name] > 1
        named.append(replace(term, name=f"{term.name} {seen[term.name]}") if numbered else term)
    return tuple(named)
