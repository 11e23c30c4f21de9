"""A PDE problem: domain, fields, residual, conditions, points and, if known, a solution."""

import keyword
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from evopinn.checks import shown
from evopinn.errors import DomainError, ProblemError
from evopinn.problem.arrays import Floats
from evopinn.problem.binding import BoundFunction, UserFunction, components
from evopinn.problem.conditions import Condition
from evopinn.problem.domains import Domain
from evopinn.problem.points import Points, Sobol
from evopinn.problem.probing import probed
from evopinn.problem.reference import Reference
from evopinn.problem.scales import UNSCALED, Field, Scales
from evopinn.problem.scaling import estimated_scales
from evopinn.problem.statement import Statement
from evopinn.problem.terms import Term

_HELD_OUT = 20_240
"""The seed of held-out points."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A PDE problem, checked as soon as it is made.

    The loss of a network is the mean square of each component of the residual on the interior points, plus,
    for each condition, its weight times the mean square of each of its components on its points.

    Attributes:
        domain: Where the PDE holds, for instance `Interval(0, 1) * Time(0, 1)`.
        fields: Names of the unknown functions; or a `Field` by name, to give the scale of its values.
        residual: Takes fields and coordinates by name; returns what must vanish inside the domain, shape
            (n,), or a list of such. Derivatives are attributes of a field: `u.t`, `u.xx`, to fourth order.
        conditions: Initial, boundary, periodic and data conditions.
        points: How many points there are and how they are placed.
        solution: Optional: a function of the coordinates that returns the solution, shape (n,), or a tuple
            in the order of the fields; or a `Reference`. Only ever used to report errors.
        coordinates: Names of the coordinates, space first, if not those of the domain: x, y, z and t.
        name: A short name for tables and files.
        title: One line on what the problem is.
        equation: The PDE in LaTeX.
        scale: How the problem is brought to numbers of order one: True estimates it, False leaves everything
            as stated, `Scales` are used as they are. Afterwards always the `Scales`.

    Examples:
        >>> import torch
        >>> from evopinn.problem import Boundary, Grid, Interval, Problem
        >>> problem = Problem(
        ...     domain=Interval(0, 1),
        ...     fields=["u"],
        ...     residual=lambda u, x: u.xx + torch.sin(x),
        ...     conditions=[Boundary(lambda u, x: u - torch.sin(x))],
        ...     points=Grid(interior=20, boundary=2),
        ...     solution=lambda x: torch.sin(x),
        ... )
        >>> [(term.name, term.count) for term in problem.terms()]
        [('residual', 20), ('boundary', 2)]
    """

    domain: Domain
    fields: Sequence[str] | Mapping[str, Field]
    residual: UserFunction
    conditions: Sequence[Condition]
    points: Points
    solution: UserFunction | Reference | None = None
    coordinates: Sequence[str] | None = None
    name: str = "problem"
    title: str = ""
    equation: str = ""
    scale: bool | Scales = True
    _terms: tuple[Term, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ProblemError(f"domain is a {type(self.domain).__name__}; give one such as Interval(0, 1).")
        if not isinstance(self.points, Points):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ProblemError(
                f"points is a {type(self.points).__name__}; give one such as Grid(interior=100)."
            )
        fields = _names(self.fields, "field")
        known = _known_scales(self.fields, self.scale)
        given = self.domain.coordinates if self.coordinates is None else self.coordinates
        coordinates = _names(given, "coordinate")
        if len(coordinates) != self.domain.dimension:
            raise ProblemError(
                f"coordinates {', '.join(coordinates)} are {len(coordinates)} names; "
                f"the domain has {self.domain.dimension} axes."
            )
        if both := set(fields) & set(coordinates):
            raise ProblemError(f"{', '.join(sorted(both))} is both a field and a coordinate; rename one.")
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "coordinates", coordinates)
        object.__setattr__(self, "conditions", _listed(self.conditions))
        statement = Statement(self.domain, self.points, fields, coordinates)
        terms = tuple(probed(term) for term in statement.terms(self.residual, self.conditions))
        used = {fields[number] for term in terms for channels in term.channels for number, _ in channels}
        if unused := [name for name in fields if name not in used]:
            raise ProblemError(
                f"nothing depends on the field {unused[0]}; remove it or use it in the residual."
            )
        scale = self._scales(terms, known)
        object.__setattr__(self, "scale", scale)
        if scale.terms:
            terms = tuple(map(Term.scaled, terms, scale.terms))
        object.__setattr__(self, "_terms", terms)
        self._check_solution()

    @property
    def scales(self) -> Scales:
        """The maps of coordinates and fields and the units of terms, as given or estimated."""
        assert isinstance(self.scale, Scales)
        return self.scale

    def terms(
        self, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu"
    ) -> tuple[Term, ...]:
        """The terms of the loss, the PDE's residual first."""
        return tuple(term.to(dtype, device) for term in self._terms)

    def coarsened(self, factor: float) -> "Problem":
        """The same problem with fewer training points, for a cheap first look at a network.

        Along each axis of the interior, the boundary and the first instant, the number of points is divided
        by `factor` and rounded, but stays at least two; totals of points that are drawn are divided by its
        power for as many axes. Test points, points of data, weights and solution stay: errors compare.

        Args:
            factor: At least 1, which changes nothing.

        Raises:
            ProblemError: The factor is invalid, or it leaves a condition without points.
        """
        if not (isinstance(factor, Real) and 1 <= factor < math.inf):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ProblemError(f"coarsened({factor!r}): give a finite number that is at least 1.")
        if factor == 1:
            return self
        try:
            return replace(self, points=self.points.coarsened(self.domain, float(factor)))
        except (DomainError, ProblemError) as error:
            raise ProblemError(f"coarsened({factor:g}): {error}") from error

    def scaled_as(self, scales: Scales) -> "Problem":
        """The same problem with the scales of an earlier load of it: those that a run started with.

        Scales that cannot be its own, because other weights are stated now, are left out; the losses differ
        then.
        """
        balanced, before = ([term.weight is None for term in each.terms] for each in (self.scales, scales))
        if scales == self.scales or (scales != UNSCALED and balanced != before):
            return self
        return replace(self, scale=scales)

    @cached_property
    def held_out(self) -> "Problem | None":
        """The residual alone, on as many held-out points inside the domain.

        None if it cannot be stated without the conditions.
        """
        points = Sobol(interior=self._terms[0].count, seed=_HELD_OUT)
        try:
            scales = replace(self.scales, terms=self.scales.terms[:1])
            return replace(self, points=points, conditions=(), solution=None, scale=scales)
        except (DomainError, ProblemError):
            return None

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Names of the coordinates, space first."""
        return tuple(self.coordinates or ())

    @cached_property
    def test_points(self) -> Floats:
        """The points on which errors are measured, shape (m, d)."""
        if isinstance(self.solution, Reference):
            return self.solution.points
        return self.points.test_points(self.domain)

    @cached_property
    def test_values(self) -> Floats | None:
        """The known solution on the test points, shape (m, fields), if there is one."""
        if self.solution is None:
            return None
        if isinstance(self.solution, Reference):
            return np.stack([self.solution.values[name] for name in self.fields], axis=1)
        return self._solve(self.solution, self.test_points)

    def solution_at(self, points: Floats) -> Floats | None:
        """The solution on points (m, d), shape (m, fields); None if there is none, or only a `Reference`.

        Unlike on the test points, it need not be finite.
        """
        if self.solution is None or isinstance(self.solution, Reference):
            return None
        return self._evaluate(self.solution, points).numpy()

    def errors(self, predict: Callable[[Floats], Floats]) -> dict[str, float]:
        """The relative L2 error of each field, ‖û − u‖ / ‖u‖ over the test points.

        For a field whose solution is zero everywhere it is the root mean square of û.

        Args:
            predict: From points, shape (m, d), to the fields' values, shape (m, fields).
        """
        exact = self.test_values
        if exact is None:
            return {}
        norm = np.linalg.norm(exact, axis=0)
        with np.errstate(over="ignore", invalid="ignore"):  # an error that overflowed is reported as such
            distance = np.linalg.norm(predict(self.test_points) - exact, axis=0)
        scale = np.where(norm > 0, norm, math.sqrt(len(exact)))
        return {name: float(value) for name, value in zip(self.fields, distance / scale, strict=True)}

    def _scales(self, terms: Sequence[Term], known: Mapping[str, Field]) -> Scales:
        """The scales as they were given, or as they are estimated."""
        given: object = self.scale
        if isinstance(given, Scales):
            if not given.fits(len(self.axes), len(self.fields), len(terms)):
                raise ProblemError(
                    f"scale has {len(given.coordinates)} coordinates, {len(given.fields)} fields and "
                    f"{len(given.terms)} terms; the problem has {len(self.axes)}, {len(self.fields)} and "
                    f"{len(terms)}: give the scales of this problem, or True to estimate them."
                )
            return given
        weights = [condition.weight for condition in self.conditions]
        if given is True:
            return estimated_scales(terms, self.domain.bounds, known, weights)
        if given is not False:
            raise ProblemError(f"scale is {shown(given)}; give True, False or Scales.")
        if "auto" in weights:
            raise ProblemError('a weight is "auto", which scale=False switches off; give a number.')
        return UNSCALED

    def _solve(self, solution: UserFunction, points: Floats) -> Floats:
        """An exact solution on points where it has to be finite, shape (m, fields)."""
        exact = self._evaluate(solution, points)
        self._require_finite(exact, points)
        return exact.numpy()

    def _evaluate(self, solution: UserFunction, points: Floats) -> Tensor:
        """An exact solution on points, shape (m, fields)."""
        bound = BoundFunction.of(solution, "the solution", dict.fromkeys(self.axes, "coordinate"))
        columns = torch.as_tensor(points).unbind(dim=1)
        values = bound(dict(zip(self.axes, columns, strict=True)))
        tensors = components(values, len(points), "the solution")
        if len(tensors) != len(self.fields):
            raise ProblemError(
                f"the solution returned {len(tensors)} components; "
                f"expected {len(self.fields)}, in the order {', '.join(self.fields)}."
            )
        return torch.stack([tensor.detach().to(torch.float64) for tensor in tensors], dim=1)

    def _require_finite(self, exact: Tensor, points: Floats) -> None:
        bad = torch.nonzero(~torch.isfinite(exact).all(dim=1))
        if len(bad):
            place = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.axes, points[int(bad[0])], strict=True))
            raise ProblemError(f"the solution is not finite at {place}; it must be so on all test points.")

    def _check_solution(self) -> None:
        """Try the solution on the interior points, so that a mistake in it shows before a training."""
        if isinstance(self.solution, Reference):
            missing = [name for name in self.fields if name not in self.solution.values]
            if missing or self.solution.points.shape[1] != len(self.axes):
                raise ProblemError(
                    f"the reference has fields {', '.join(self.solution.values)} on "
                    f"{self.solution.points.shape[1]} axes; "
                    f"expected {', '.join(self.fields)} on {len(self.axes)}."
                )
        elif self.solution is not None:
            self._solve(self.solution, self._terms[0].sides[0].points.cpu().numpy())


def _known_scales(fields: object, scale: object) -> Mapping[str, Field]:
    """What is given of the scales of fields."""
    if not isinstance(fields, Mapping):
        return {}
    known = cast("Mapping[str, object]", fields)
    for name, each in known.items():
        if not isinstance(each, Field):
            raise ProblemError(f"the field {name} is {shown(each)}; give Field(scale=...).")
        if scale is False and each != Field():
            raise ProblemError(f"the field {name} has a scale, but scale=False; leave out one of them.")
    return cast("Mapping[str, Field]", known)


def _listed(conditions: Any) -> tuple[Condition, ...]:
    """The conditions as a tuple; a single one needs no list."""
    if isinstance(conditions, Condition):
        return (conditions,)
    if not isinstance(conditions, Iterable):
        raise ProblemError(f"conditions is a {type(conditions).__name__}; give a list, or [] for none.")
    return tuple(cast("Iterable[Condition]", conditions))


def _names(given: Any, kind: str) -> tuple[str, ...]:
    """Names that can be arguments of a Python function, each once."""
    names: tuple[Any, ...] = (given,)
    if isinstance(given, Iterable) and not isinstance(given, str):
        names = tuple(cast("Iterable[Any]", given))
    if not names:
        raise ProblemError(f"there is no {kind}; give at least one name.")
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ProblemError(f"the {kind} {name!r} cannot name an argument; give a Python identifier.")
    if len(set(names)) < len(names):
        raise ProblemError(f"the {kind}s {', '.join(names)} repeat a name; make them different.")
    return names
