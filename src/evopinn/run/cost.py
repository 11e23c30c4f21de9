"""What a training will cost, predicted from its genome alone: the same on every machine, on every day."""

from collections.abc import Sequence

import numpy as np

from evopinn.genome import Genome, Space, initial_population

OPERATOR_COST = 6
"""What an operator of the activation costs, in multiplications of the matrix product at the same neuron."""

_SAMPLE = 400


def epoch_cost(genome: Genome) -> float:
    """The cost of an epoch, in units that only serve to compare genomes on one problem.

    A layer's n neurons each take n multiplications, and the activation and its derivatives an amount that
    grows with its operators.

    Examples:
        >>> small, large = (Genome.parse(f"layers=5 neurons={n} activation=tanh(x)") for n in (20, 40))
        >>> epoch_cost(large) / epoch_cost(small)
        3.25
    """
    neurons, hidden = genome.structure.neurons, genome.structure.layers - 1
    return neurons * hidden * (neurons + OPERATOR_COST * (1 + genome.activation.size))


def typical_cost(space: Space) -> float:
    """The mean cost of an epoch of the genomes that a search begins with."""
    genomes: Sequence[Genome] = initial_population(space, _SAMPLE, np.random.default_rng(0))
    return float(np.mean([epoch_cost(genome) for genome in genomes]))
