"""Warnings about a training: what can be known before its first step, and the one that only its end shows."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evopinn.errors import TrainingWarning

MUCH_LARGER = 10.0
"""A network is overfitted if its residual is this many times as large on held-out points."""

FAR_APART = 1e3
"""Ratio of two terms of the loss, as root mean squares, from which the smaller one hardly counts: conditions
multiplied by a thousandth or a thousand cost the heat equation three digits of its solution, and Kovasznay's
flow all (one seed each). On the catalogue it is largest for the beam: 110, and up to 430 over five seeds."""

OTHER_UNITS = 1e4
"""Ratio of what is said of one field from which a mistake in its units is likely."""

_CALLER = 6
"""The caller of `train`, counted in frames from `issue`."""


@dataclass(frozen=True)
class TermLook:
    """A term of the loss before the first step.

    Attributes:
        label: Its name in messages.
        weight: Factor of its mean squares in the loss.
        residuals: The number of residuals at all its points.
        size: The root of its part of the loss, for a small network at its start; 0 where that is not known.
        dependent: Per component, whether it depends on any parameter of the network.
    """

    label: str
    weight: float
    residuals: int
    size: float
    dependent: tuple[bool, ...]


@dataclass(frozen=True)
class FieldLook:
    """A scaled field before the first step.

    Attributes:
        name: Its name.
        size: That of its scale.
        conditions: How far the values that conditions state vary, at most; 0 if none does.
        data: The same of measured values.
    """

    name: str
    size: float
    conditions: float
    data: float


@dataclass(frozen=True)
class FirstLook:
    """What is known of a training, or of all trainings of a search, before the first step.

    Attributes:
        terms: The terms of the loss.
        network: The name of the network in messages.
        parameters: The number of its parameters.
        fields: The scaled fields.
    """

    terms: Sequence[TermLook]
    network: str
    parameters: int
    fields: Sequence[FieldLook] = ()


@dataclass(frozen=True)
class WarningKind:
    """A kind of warning before the first step.

    Attributes:
        name: Its name.
        sentences: The warnings that a first look gives, none if all is well.
    """

    name: str
    sentences: Callable[[FirstLook], Iterator[str]]


def first_warnings(look: FirstLook) -> tuple[str, ...]:
    """All warnings before the first step, a sentence each."""
    return tuple(sentence for kind in WARNINGS for sentence in kind.sentences(look))


def issue(sentence: str) -> None:
    """Issue a warning as Python does, for the line that called `train`."""
    warnings.warn(sentence, TrainingWarning, stacklevel=_CALLER)


def is_overfitted(residuals: Mapping[str, float]) -> bool:
    """Whether the residual is much larger on held-out points than on training points.

    Args:
        residuals: The root mean squares of both, as `training` and `held_out`; unknown if left out.
    """
    training, held_out = (residuals.get(name, math.nan) for name in ("training", "held_out"))
    return held_out > MUCH_LARGER * training


def overfitting_warning(residuals: Mapping[str, float]) -> str:
    """A warning about a network that overfits its training points; empty if it does not.

    Args:
        residuals: The sizes of its residual, as `is_overfitted` takes them.
    """
    if not is_overfitted(residuals):
        return ""
    training, held_out = residuals["training"], residuals["held_out"]
    larger = f"{held_out / training:.2g} times as large" if training else "not zero"
    return (
        f"the network overfits its training points: the residual is {larger} on other points; give the "
        "problem more points, or search among smaller networks"
    )


def _few_residuals(look: FirstLook) -> Iterator[str]:
    """Fewer residuals than parameters: they can all vanish while the solution is wrong between the points."""
    count = sum(term.residuals for term in look.terms if term.weight)
    if count < look.parameters:
        yield (
            f"{look.network} has {look.parameters:,} parameters and the problem only {count:,} residuals, so "
            "it may be right on the points and wrong between them; give the problem more points, or the "
            "network fewer layers or neurons."
        )


def _far_apart(look: FirstLook) -> Iterator[str]:
    """Terms of which the largest hides the smallest, such as a source in other units than the conditions."""
    sized = sorted((term for term in look.terms if 0 < term.size < math.inf), key=lambda term: term.size)
    if not sized or sized[-1].size < FAR_APART * sized[0].size:
        return
    least, most = sized[0], sized[-1]
    orders = round(math.log10(most.size / least.size))
    yield (
        f"{most.label} begins about 1e{orders} times as large as {least.label}, which then hardly counts in "
        "the loss; leave out weights and scale=False, so that the terms are balanced, or give the conditions "
        "weights that balance them."
    )


def _far_off(look: FirstLook) -> Iterator[str]:
    """Values in other units than sources or data, which no balance of the terms mends."""
    for field in look.fields:
        known = max(field.conditions, field.data)
        if 0 < OTHER_UNITS * known < field.size:
            yield (
                f"the scale of {field.name} is {field.size:.1e}, given or needed by a source, and its known "
                f"values vary by {known:.1e} only, too little to be seen beside it; check the units of the "
                "problem."
            )
        if not field.conditions or not field.data:
            continue
        ratio = field.data / field.conditions
        if not 1 / OTHER_UNITS < ratio < OTHER_UNITS:
            yield (
                f"the data of {field.name} vary by {field.data:.1e} and the values in its conditions by "
                f"{field.conditions:.1e}; check their units."
            )


def _no_effect(look: FirstLook) -> Iterator[str]:
    """Terms that no training can change."""
    for term in look.terms:
        if not term.weight:
            yield f"{term.label} has no effect, for its weight is 0; remove it, or give it a weight."
            continue
        for number, dependent in enumerate(term.dependent, start=1):
            if not dependent:
                part = term.label if len(term.dependent) == 1 else f"component {number} of {term.label}"
                yield (
                    f"{part} has no effect, for it does not depend on any parameter of the network; correct "
                    "its formula, or choose an activation whose derivatives do not vanish."
                )


WARNINGS = (
    WarningKind("few residuals", _few_residuals),
    WarningKind("far apart", _far_apart),
    WarningKind("far off", _far_off),
    WarningKind("no effect", _no_effect),
)
"""The kinds of warning before the first step, in the order in which they are told."""
