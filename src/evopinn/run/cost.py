"""What the trainings of a search cost, predicted from genomes alone: the same on every machine and day."""

from collections.abc import Callable, Sequence

import numpy as np

from evopinn.genome import Genome, Space, initial_population
from evopinn.training import epoch_cost, spends_by_cost

CostOf = Callable[[Genome], float]
"""The cost of an epoch of a genome, in units that only serve to compare genomes on one problem."""

_SAMPLE = 400


def cost_of_epochs(optimizer: str) -> CostOf:
    """How the cost of an epoch depends on the genome: not at all, if epochs are a measure of cost."""
    return _alike if spends_by_cost(optimizer) else epoch_cost


def typical_cost(space: Space, cost: CostOf) -> float:
    """The mean cost of an epoch of the genomes that a search begins with."""
    genomes: Sequence[Genome] = initial_population(space, _SAMPLE, np.random.default_rng(0))
    return float(np.mean([cost(genome) for genome in genomes]))


def _alike(genome: Genome) -> float:  # noqa: ARG001
    return 1.0
