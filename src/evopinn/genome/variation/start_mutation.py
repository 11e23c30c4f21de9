"""Mutations of a start: of its kind, and of its parameters."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from numpy.random import Generator

from evopinn.genome.space import Space
from evopinn.genome.start import STARTS, Start
from evopinn.genome.variation.sampling import Mutation, mutate_with, random_start

STEP = 0.25
"""The standard deviation of a parameter's change, as a share of the range that is searched."""


def mutate_start(start: Start, space: Space, rng: Generator) -> tuple[Start, str]:
    """Change the kind or a parameter, equally likely; where one cannot apply, the other does."""
    return mutate_with(START_MUTATIONS, start, space, rng) or (start, "")


def change_start(start: Start, space: Space, rng: Generator) -> Start | None:
    """Another kind of start, with random parameters."""
    others = tuple(name for name in space.starts if name != start.kind)
    return random_start(replace(space, starts=others), rng) if others else None


def tune_start(start: Start, space: Space, rng: Generator) -> Start | None:  # noqa: ARG001
    """Change a random parameter a little; at the bounds of the searched range it turns back."""
    if not start.values:
        return None
    place = int(rng.integers(len(start.values)))
    parameter = STARTS[start.kind].parameters[place]
    share = min(max(parameter.share(start.values[place]), 0.0), 1.0) + STEP * float(rng.normal())
    reflected = 1 - abs(1 - abs(share))
    values = list(start.values)
    values[place] = parameter.at(min(max(reflected, 0.0), 1.0))
    return Start(start.kind, tuple(values))


START_MUTATIONS: Mapping[str, Mutation[Start]] = MappingProxyType(
    {"change start": change_start, "tune start": tune_start}
)
