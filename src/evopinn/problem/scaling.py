"""The estimation of a problem's scales, once, before any training.

Coordinates are mapped from the bounding box of the domain to [-1, 1]. What conditions and data say outright
of a field's values is mapped to [-1, 1] too. Where they say nothing, its size is the one at which a made-up
smooth field balances a given flux, a source, or the fields of known size in the equations.

The unit of a component of a term is its root mean square on made-up fields of these sizes. In other units of
measurement the same problem has the same scaled problem, to rounding: nothing here compares a number that has
a unit with one that has none.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import cast

import numpy as np
import torch
from scipy.optimize import brentq  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]
from torch import Tensor

from evopinn.errors import ProblemError
from evopinn.problem.arrays import Floats
from evopinn.problem.fields import MultiIndex
from evopinn.problem.scales import Affine, Field, Scales, TermScale
from evopinn.problem.terms import SideValues, Term

CONDITIONS_TO_RESIDUAL = 1.0
"""The weight of each balanced condition beside the residual's 1."""

FAR_OFF = 1.25
"""A field varies about a shift if its known values lie this many times their spread away from zero: the
largest is then less than nine times the smallest, and a network that begins around zero would pass through
temperatures or densities that its equations cannot take."""

NEGLIGIBLE = 1e-8
"""What is smaller than this, as part of the same quantity elsewhere, is rounding."""

ROUNDED_ZERO = 1e-12
"""Known values smaller than this, as part of what the rest of the problem gives, are zeros with rounding. A
field that another one outweighs by less may well be as small as that: a slow flow beside its own weight."""

TOO_SMALL = 30.0
"""Known values do not tell a field's size if sources or fluxes are this many times what they balance. Walls
at 300 and 301 K say little of what is heated between them: from a size of 0.5 K, a variation of 700 K was
missed by 63 %. A size that was a thousand times too large made an error ten times as large."""

_STRONGEST = 10.0
"""Of several fields those balance a source whose parts are at least the largest one divided by this."""

_OUTLIER = 1e4
"""A residual this many times the median is one at which a made-up field meets a singularity."""

_ROBIN = 0.1
"""A condition on value and flux tells the value if that has at least this part in it."""

_STEPS = range(0, 121, 3)
_STARTS = (0.0, 40.0, 80.0)
"""Logarithms of sizes; at the first ones the part of a field may be lost in the rounding of the rest."""
_DRAWS = 4
_WAVES = 8
_MOST_POINTS = 1000
_SEED = 21


def estimated_scales(
    terms: Sequence[Term],
    bounds: Floats,
    given: Mapping[str, Field],
    weights: Sequence[float | str | None],
) -> Scales:
    """The scales of a problem.

    Args:
        terms: The terms of its loss, probed, the residual first.
        bounds: Lowest and highest value of each coordinate, shape (d, 2).
        given: What is known of fields beforehand.
        weights: Per condition the weight that it states: a number, "auto" or none.
    """
    boxes = tuple(Affine(float(low + high) / 2, float(high - low) / 2) for low, high in bounds)
    thinned = [_thinned(term) for term in terms]
    fields = _field_maps(thinned, boxes, given)
    units = [_units(term, boxes, fields) for term in thinned]
    # Stated weights belong to residuals as they are; without any, all terms are balanced.
    stated = any(weight not in (None, "auto") for weight in weights)
    if not stated:
        balanced = (TermScale(CONDITIONS_TO_RESIDUAL, each) for each in units[1:])
        return Scales(boxes, fields, (TermScale(1.0, units[0]), *balanced))
    reference = math.hypot(*units[0]) / math.sqrt(len(units[0]))
    beside = (
        TermScale(CONDITIONS_TO_RESIDUAL, tuple(unit / reference for unit in each))
        if weight == "auto"
        else TermScale()
        for each, weight in zip(units[1:], weights, strict=True)
    )
    return Scales(boxes, fields, (TermScale(), *beside))


def _thinned(term: Term) -> Term:
    """The term on some of its points, if these are independent."""
    return term.restricted(slice(None, None, -(-term.count // _MOST_POINTS))) if term.pointwise else term


@dataclass(frozen=True, eq=False)
class _SmoothFields:
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
class _Trial:
    """A term on one draw of made-up fields.

    Attributes:
        term: The term.
        smooth: The fields.
    """

    term: Term
    smooth: _SmoothFields

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
            return [each.detach() for each in self.term.residuals(_each_side(self.term, value))]
        except ProblemError:  # a field of zero may be what it divides by
            return []


def _trials(term: Term, boxes: tuple[Affine, ...]) -> list[_Trial]:
    return [_Trial(term, _SmoothFields(boxes, draw)) for draw in range(_DRAWS)]


def _each_side(term: Term, value: Callable[[int, int, MultiIndex], Tensor]) -> list[SideValues]:
    return [partial(value, side) for side in range(len(term.sides))]


def _rms(values: Sequence[Tensor]) -> float:
    """The root mean square of the finite ones among some numbers, without overflow; 0 if there are none."""
    joined = torch.cat([*values])
    joined = joined[torch.isfinite(joined)]
    largest = float(joined.abs().max()) if len(joined) else 0.0
    return largest * float((joined / largest).square().mean().sqrt()) if largest else 0.0


def _units(term: Term, boxes: tuple[Affine, ...], fields: Sequence[Affine]) -> tuple[float, ...]:
    """Per component of a term its root mean square on made-up fields; 1 where nothing depends on them."""
    trials = _trials(term, boxes)
    found = [residuals for trial in trials if (residuals := trial.residuals(fields, near_shifts=True))]
    if not found:
        return (1.0,) * term.components
    return tuple(_rms([_usual(torch.cat(component))]) or 1.0 for component in zip(*found, strict=True))


def _usual(values: Tensor) -> Tensor:
    """Numbers without those that are many orders larger than most."""
    values = values[torch.isfinite(values)]
    median = float(values.abs().median()) if len(values) else 0.0
    return values[values.abs() <= _OUTLIER * median] if median else values


def _field_maps(
    terms: Sequence[Term], boxes: tuple[Affine, ...], given: Mapping[str, Field]
) -> tuple[Affine, ...]:
    """Per field its shift and size."""
    names = terms[0].fields
    shifts: list[float] = []
    sizes: list[float | None] = []
    stated: list[int] = []
    balances = [_Balance(_trials(term, boxes)) for term in terms]
    for number, name in enumerate(names):
        field = given.get(name, Field())
        low, high = _known_values(terms[1:], number, boxes)
        shift = field.shift
        if shift is None:
            centre, spread = (low + high) / 2, (high - low) / 2
            is_far = field.scale is None and math.isfinite(centre) and abs(centre) > FAR_OFF * spread
            shift = centre if is_far else 0.0
        size = field.scale
        if size is None:
            alone: list[Affine | None] = [None] * len(names)
            alone[number] = Affine(shift, 0.0)
            values = max(abs(low - shift), abs(high - shift)) if low <= high else 0.0
            source, *fluxes = (each.size(number, alone) for each in balances)
            levels = [values, max(fluxes, default=0.0), source]
            least = max(ROUNDED_ZERO * max(levels), NEGLIGIBLE * abs(shift))
            size = next((each for each in levels if each > least), None)
            if size is not None and size == values:
                stated.append(number)
        shifts.append(float(shift))
        sizes.append(size)
    filled = _filled(sizes, shifts, balances)
    if zeros := [n for n in stated if _is_rounded_zero(n, filled, shifts, balances)]:
        stated = [n for n in stated if n not in zeros]
        sizes = [None if n in zeros else size for n, size in enumerate(sizes)]
        filled = _filled(sizes, shifts, balances)
    raised = _raised(filled, shifts, balances, stated)
    if raised != filled:
        sizes = [size if size is None else new for size, new in zip(sizes, raised, strict=True)]
        filled = _filled(sizes, shifts, balances)
    return tuple(Affine(shift, size or abs(shift) or 1.0) for shift, size in zip(shifts, filled, strict=True))


def _filled(
    sizes: Sequence[float | None], shifts: Sequence[float], balances: Sequence["_Balance"]
) -> list[float | None]:
    """The sizes, with unknown ones such that a field balances those of known size, as far as that goes."""
    filled = list(sizes)
    progress = True
    while progress and None in filled:
        known = _maps(shifts, filled)
        found: dict[int, float] = {}
        for number, size in enumerate(filled):
            if size is None:
                found[number] = max(balance.size(number, known) for balance in balances)
        progress = any(found.values())
        for number, size in found.items():
            filled[number] = size or None
    return filled


def _is_rounded_zero(
    field: int, sizes: Sequence[float | None], shifts: Sequence[float], balances: Sequence["_Balance"]
) -> bool:
    """Whether a field of known size is nothing beside those that it balances."""
    size = sizes[field] or 0.0
    at_shift = _maps(shifts, [*sizes[:field], None, *sizes[field + 1 :]])
    return size < ROUNDED_ZERO * max(balance.size(field, at_shift) for balance in balances)


def _raised(
    sizes: Sequence[float | None],
    shifts: Sequence[float],
    balances: Sequence["_Balance"],
    stated: Sequence[int],
) -> list[float | None]:
    """The sizes, with those of `stated` fields larger where sources are far larger than what they balance."""
    raised = list(sizes)
    maps = _maps(shifts, sizes)
    still = [Affine(shift, 0.0) for shift in shifts]
    for balance in balances:
        sources = balance.parts(still)
        fields = [balance.parts([*still[:n], each, *still[n + 1 :]], still) for n, each in enumerate(maps)]
        for component, source in enumerate(sources):
            parts = [each[component] for each in fields]
            if not 0 < TOO_SMALL * max(parts) < source:
                continue
            for number in stated:
                if parts[number] * _STRONGEST >= max(parts):
                    larger = balance.size_in(component, number, still)
                    raised[number] = max(raised[number] or 0.0, larger)
    return raised


def _maps(shifts: Sequence[float], sizes: Sequence[float | None]) -> list[Affine]:
    """Per field its map; one of unknown size is constant."""
    return [Affine(shift, size or 0.0) for shift, size in zip(shifts, sizes, strict=True)]


def _known_values(terms: Sequence[Term], field: int, boxes: tuple[Affine, ...]) -> tuple[float, float]:
    """The lowest and the highest value of a field that conditions state; inf and -inf if none does."""
    low, high = math.inf, -math.inf
    for term in terms:
        for values in _stated_values(term, field, boxes):
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    return low, high


def _stated_values(term: Term, field: int, boxes: tuple[Affine, ...]) -> Iterator[Tensor]:
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
    smooth = _SmoothFields(boxes, 0)
    for component, (residual, parts) in enumerate(zip(residuals, slopes, strict=True)):
        slope = dict(zip(leaves, parts, strict=True))
        own = slope.pop((field, zero))
        used = own.abs() > NEGLIGIBLE * own.abs().max()
        others = sum(
            (part * smooth(term.sides[0].points, *channel) for channel, part in slope.items()),
            torch.zeros_like(own),
        )
        foreign = any(number != field and bool(part.any()) for (number, _), part in slope.items())
        if foreign or not used.any() or _rms([own]) < _ROBIN * _rms([others]):
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


@dataclass(frozen=True, eq=False)
class _Balance:
    """A term as a balance between one field and everything else.

    Attributes:
        trials: The term on made-up fields.
    """

    trials: Sequence[_Trial]

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
            return [_rms(column) for column in columns]
        pairs = zip(columns, zip(*base, strict=True), strict=True)
        return [_rms([one - other for one, other in zip(*pair, strict=True)]) for pair in pairs]

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
        return _rms([one - other for one, other in pairs]) > NEGLIGIBLE * _rms([one for one, _ in pairs])

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

        residuals = trial.term.residuals(_each_side(trial.term, value))
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
        target = _rms(rest)
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
            part = _rms(parts)
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
