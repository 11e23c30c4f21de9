"""The first look at a problem and a network, before the first step, which tells what to warn about."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from evopinn.engine import TaylorEngine
from evopinn.errors import EvopinnError
from evopinn.genome import DEFAULT_GENOME, Genome
from evopinn.network import Layout
from evopinn.problem import Data, Problem
from evopinn.problem.arrays import Floats
from evopinn.problem.scaling import ROUNDED_ZERO
from evopinn.problem.stated_values import NEGLIGIBLE, stated_values
from evopinn.training.warnings import FieldLook, FirstLook, TermLook, first_warnings

_OFF_CENTRE = 0.1
"""Deviation of the biases from the usual start; if they are zero, too much vanishes at the origin."""


def warnings_before(
    problem: Problem, genome: Genome | None = None, network: str = "the network", parameters: int = 0
) -> tuple[str, ...]:
    """What to warn about before the first step, a sentence each.

    It has engines and random numbers of its own, so that it changes no bit of a training.

    Args:
        problem: The problem.
        genome: The network's; by default that of a small network.
        network: Its name in messages.
        parameters: Its number of parameters, if not that of `genome`.
    """
    try:
        with torch.random.fork_rng(devices=()):  # pyright: ignore[reportUnknownMemberType] - a residual may draw numbers
            return first_warnings(_first_look(problem, genome, network, parameters))
    except EvopinnError:  # what cannot be computed ends the training, or it is the small network's fault
        return ()


def _first_look(problem: Problem, genome: Genome | None, network: str, parameters: int) -> FirstLook:
    """The residuals of a small network, and a product with the Jacobian of the network itself."""
    small = Genome.parse(DEFAULT_GENOME)
    genome = genome or small
    with np.errstate(over="ignore"):
        sizes = [float(np.linalg.norm(rows)) for rows in _by_term(problem, _residuals(problem, small))]
    changes = _by_term(problem, _changes(problem, genome))
    terms = [
        TermLook(
            label=term.label,
            weight=term.weight,
            residuals=len(rows),
            size=size,
            dependent=tuple(bool(part.any()) for part in rows.reshape(term.components, term.count)),
        )
        for term, size, rows in zip(problem.terms(), sizes, changes, strict=True)
    ]
    return FirstLook(terms, network, parameters or Layout.of(genome, problem).size, list(_fields(problem)))


def _fields(problem: Problem) -> Iterator[FieldLook]:
    """The scaled fields, with how far their known values lie from their shifts."""
    scales, conditions = problem.scales, problem.terms()[1:]
    if not scales.coordinates:
        return
    for number, (name, scale) in enumerate(zip(problem.fields, scales.fields, strict=False)):
        farthest = {True: 0.0, False: 0.0}
        for condition, term in zip(problem.conditions, conditions, strict=True):
            is_data = isinstance(condition, Data)
            for values in stated_values(term, number, scales.coordinates):
                distance = float((values - scale.shift).abs().max())
                if distance > max(ROUNDED_ZERO * scale.size, NEGLIGIBLE * abs(scale.shift)):
                    farthest[is_data] = max(farthest[is_data], distance)
        yield FieldLook(name, scale.size, conditions=farthest[False], data=farthest[True])


def _residuals(problem: Problem, genome: Genome) -> Floats:
    """The scaled residuals near the usual start, by which terms of the loss compare whatever is trained."""
    engine = TaylorEngine(problem, genome)
    theta, _ = _point(engine.layout)
    return engine.residuals(theta).numpy()


def _changes(problem: Problem, genome: Genome) -> Floats:
    """J·v for a random direction v, zero in the rows of residuals that depend on no parameter."""
    engine = TaylorEngine(problem, genome)
    return engine.jacobian_product(*_point(engine.layout)).numpy()


def _point(layout: Layout) -> tuple[Tensor, Tensor]:
    """A θ near the usual start, and a random direction."""
    noise, direction = torch.as_tensor(np.random.default_rng(0).standard_normal((2, layout.size)))
    theta = layout.initial(0)
    for layer in layout.layers:
        theta[layer.bias.span] += _OFF_CENTRE * noise[layer.bias.span]
    return theta, direction


def _by_term(problem: Problem, rows: Floats) -> list[Floats]:
    """The rows of each term."""
    ends = np.cumsum([term.components * term.count for term in problem.terms()])
    return np.split(rows, ends[:-1])
