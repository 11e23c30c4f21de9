"""What a training costs, predicted from its problem and genome alone: the same on every machine and day.

The unit is an epoch: one evaluation of loss and gradient of a network of seven layers with 34 neurons and an
activation of three operators, about the mean of the paper's space, on the same problem. It lets methods whose
steps differ be compared, and be given equal shares of a budget.
"""

from dataclasses import dataclass

from evopinn.engine import Plan
from evopinn.genome import Genome
from evopinn.problem import Problem

OPERATOR_COST = 6
"""What an operator of the activation costs, in multiplications of the matrix product at the same neuron."""

_TYPICAL = Genome.parse("layers=7 neurons=34 activation=asinh(x)*cos(x)")

_ENTRY = 28.0
"""An entry of a Jacobian, in multiplications of an epoch; measured, like the next, on a core of a Xeon."""

_CALL = 0.06
"""What an evaluation of loss and gradient costs beside its multiplications, in epochs; half of it without the
gradient. It counts where networks are small."""

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


@dataclass(frozen=True)
class Work:
    """Costs of what optimisers do, in epochs.

    Attributes:
        gradient: An evaluation of loss and gradient.
        entry: An entry of a Jacobian.
        product: A multiplication of large matrices.
    """

    gradient: float = 1.0
    entry: float = 0.0
    product: float = 0.0

    @classmethod
    def of(cls, problem: Problem, genome: Genome) -> "Work":
        """Of a genome's network on a problem."""
        unit = Plan.of(problem.terms(), genome.structure.neurons).size * epoch_cost(_TYPICAL)
        gradient = epoch_cost(genome) / epoch_cost(_TYPICAL) + _CALL
        return cls(gradient, _ENTRY / unit, _LARGE_PRODUCT / unit)

    @property
    def residuals(self) -> float:
        """An evaluation of the residuals: the way there, without the way back and the gradient."""
        return (self.gradient - _CALL) / 3 + _CALL / 2

    def jacobian(self, residuals: int, parameters: int) -> float:
        """An evaluation of residuals and Jacobian."""
        return self.gradient + self.entry * residuals * parameters
