"""The estimation of a problem's scales, once, before any training.

Coordinates are mapped from the bounding box of the domain to [-1, 1]. What conditions and data say outright
of a field's values is mapped to [-1, 1] too. Where they say nothing, its size is the one at which a made-up
smooth field balances a given flux, a source, or the fields of known size in the equations.

The unit of a component of a term is its root mean square on made-up fields of these sizes. In other units of
measurement the same problem has the same scaled problem, to rounding: nothing here compares a number that has
a unit with one that has none.
"""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from evopinn.problem.arrays import Floats
from evopinn.problem.balances import Balance
from evopinn.problem.made_up_fields import root_mean_square, trials_of
from evopinn.problem.scales import Affine, Field, Scales, TermScale
from evopinn.problem.stated_values import NEGLIGIBLE, known_values
from evopinn.problem.terms import Term

CONDITIONS_TO_RESIDUAL = 1.0
"""The weight of each balanced condition beside the residual's 1."""

FAR_OFF = 1.25
"""A field varies about a shift if its known values lie this many times their spread away from zero: the
largest is then less than nine times the smallest, and a network that begins around zero would pass through
temperatures or densities that its equations cannot take."""

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

_MOST_POINTS = 1000
_SEED = 21


def estimated_scales(
    terms: Sequence[Term],
    bounds: Floats,
    given: Mapping[str, Field],
    weights: Sequence[float | str | None],
) -> Scales:
    """The scales of a problem, the same ones each time, even if a residual draws random numbers.

    Args:
        terms: The terms of its loss, probed, the residual first.
        bounds: Lowest and highest value of each coordinate, shape (d, 2).
        given: What is known of fields beforehand.
        weights: Per condition the weight that it states: a number, "auto" or none.
    """
    boxes = tuple(Affine(float(low + high) / 2, float(high - low) / 2) for low, high in bounds)
    thinned = [_thinned(term) for term in terms]
    with torch.random.fork_rng(devices=()):  # pyright: ignore[reportUnknownMemberType]
        torch.default_generator.manual_seed(_SEED)
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


def _units(term: Term, boxes: tuple[Affine, ...], fields: Sequence[Affine]) -> tuple[float, ...]:
    """Per component of a term its root mean square on made-up fields; 1 where nothing depends on them."""
    trials = trials_of(term, boxes)
    found = [residuals for trial in trials if (residuals := trial.residuals(fields, near_shifts=True))]
    if not found:
        return (1.0,) * term.components
    return tuple(
        root_mean_square([_usual(torch.cat(component))]) or 1.0 for component in zip(*found, strict=True)
    )


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
    balances = [Balance(trials_of(term, boxes)) for term in terms]
    for number, name in enumerate(names):
        field = given.get(name, Field())
        low, high = known_values(terms[1:], number, boxes)
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
    sizes: Sequence[float | None], shifts: Sequence[float], balances: Sequence["Balance"]
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
    field: int, sizes: Sequence[float | None], shifts: Sequence[float], balances: Sequence["Balance"]
) -> bool:
    """Whether a field of known size is nothing beside those that it balances."""
    size = sizes[field] or 0.0
    at_shift = _maps(shifts, [*sizes[:field], None, *sizes[field + 1 :]])
    return size < ROUNDED_ZERO * max(balance.size(field, at_shift) for balance in balances)


def _raised(
    sizes: Sequence[float | None],
    shifts: Sequence[float],
    balances: Sequence["Balance"],
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
