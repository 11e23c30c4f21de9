"""The costs of trainings, predicted from problem and genome alone and so the same on every machine.

The unit is an epoch: one evaluation of loss and gradient of a network of seven layers with 34 neurons and an
activation of three operators, about the mean of the paper's space, on the same problem. It serves to compare
methods with different steps, and to give them equal shares of a budget.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evopinn.genome import Genome, Space, initial_population
from evopinn.training.optimiser_table import spends_by_cost

CostOf = Callable[[Genome], float]
"""The cost of an epoch of a genome, in units that only serve to compare genomes on one problem."""

OPERATOR_COST = 6
"""The cost of an operator of the activation, in multiplications of the matrix product at the same neuron."""

_TYPICAL = Genome.parse("layers=7 neurons=34 activation=asinh(x)*cos(x)")

_ENTRY = 28.0
"""An entry of a Jacobian, in multiplications of an epoch; measured, like the next, on a core of a Xeon."""

_CALL = 0.06
"""The cost of an evaluation of loss and gradient apart from its multiplications, in epochs; half of it
without the gradient. It matters for small networks."""

_SAMPLE = 400
"""Genomes over which the mean cost of a space is taken."""

_LARGE_PRODUCT = 0.2
"""A multiplication of large matrices: they are far faster than the narrow ones of a network."""


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


def cost_of_epochs(optimizer: str) -> CostOf:
    """The cost of an epoch as a function of the genome; constant if epochs measure cost."""
    return _alike if spends_by_cost(optimizer) else epoch_cost


def typical_cost(space: Space, cost: CostOf) -> float:
    """The mean cost of an epoch of the genomes that a search begins with."""
    genomes: Sequence[Genome] = initial_population(space, _SAMPLE, np.random.default_rng(0))
    return float(np.mean([cost(genome) for genome in genomes]))


def _alike(genome: Genome) -> float:  # noqa: ARG001
    return 1.0


@dataclass(frozen=True)
class Work:
    """The costs of an optimiser's operations, in epochs.

    Attributes:
        gradient: An evaluation of loss and gradient.
        entry: An entry of a Jacobian.
        product: A multiplication of large matrices.
    """

    gradient: float = 1.0
    entry: float = 0.0
    product: float = 0.0

    @classmethod
    def of(cls, genome: Genome, size: int) -> "Work":
        """The costs for a genome's network and the points times channels of an evaluation."""
        unit = size * epoch_cost(_TYPICAL)
        gradient = epoch_cost(genome) / epoch_cost(_TYPICAL) + _CALL
        return cls(gradient, _ENTRY / unit, _LARGE_PRODUCT / unit)

    @property
    def residuals(self) -> float:
        """The cost of the residuals: a forward pass, without the backward pass and the gradient."""
        return (self.gradient - _CALL) / 3 + _CALL / 2

    def jacobian(self, residuals: int, parameters: int) -> float:
        """The cost of residuals and Jacobian."""
        return self.gradient + self.entry * residuals * parameters
