"""The variation of genomes: random sampling, crossover and mutation.

All functions are pure: they take the random generator they draw from, never alter a parent, and give a genome
that lies in the search space.
"""

from dataclasses import dataclass
from typing import NamedTuple

from numpy.random import Generator

from evopinn.errors import GenomeError
from evopinn.genome.genome import Genome
from evopinn.genome.space import Space
from evopinn.genome.variation.activation_mutation import mutate_activation
from evopinn.genome.variation.sampling import initial_population, random_genome
from evopinn.genome.variation.start_mutation import mutate_start
from evopinn.genome.variation.structure_mutation import mutate_layers, mutate_neurons, mutate_shortcuts

__all__ = ["MutationRates", "Variation", "crossover", "initial_population", "mutate", "random_genome"]


@dataclass(frozen=True)
class MutationRates:
    """The probability that a mutation touches each part of a genome, independently of the others.

    That of the start has no effect in a space with one start only.
    """

    layers: float = 0.3
    neurons: float = 0.3
    shortcuts: float = 0.3
    activation: float = 0.7
    start: float = 0.3

    def __post_init__(self) -> None:
        """Refuse rates that are not probabilities."""
        for part, rate in vars(self).items():
            if not 0.0 <= rate <= 1.0:
                raise GenomeError(
                    f"the mutation rate of {part} must be a probability from 0 to 1, not {rate}."
                )


class Variation(NamedTuple):
    """A new genome and the operations that made it, e.g. `("insert layer", "change node")`, in this order."""

    genome: Genome
    operations: tuple[str, ...]


def crossover(first: Genome, second: Genome) -> tuple[Genome, Genome]:
    """Two children: the first's structure with the second's activation, and the other way round.

    The start goes with the activation, for which it was selected.
    """
    return (
        Genome(first.structure, second.activation, second.start),
        Genome(second.structure, first.activation, first.start),
    )


def mutate(genome: Genome, space: Space, rates: MutationRates, rng: Generator) -> Variation:
    """Mutate layers, neurons, shortcuts, activation and start, each with its own probability.

    If none of them changes, `operations` is empty and the genome is the parent. The parent
    must lie in the space; the child does.

    Examples:
        >>> import numpy as np
        >>> from evopinn.genome import PAPER
        >>> genome = Genome.parse("layers=6 neurons=48 shortcuts=0-1 activation=tanh(x)")
        >>> child, operations = mutate(genome, PAPER, MutationRates(), np.random.default_rng(0))
    """
    space.check(genome)
    structure, activation, start = genome.structure, genome.activation, genome.start
    operations: list[str] = []
    # Four numbers are always drawn, so that one rate does not shift what the others see.
    layers, neurons, shortcuts, function = (float(number) for number in rng.random(4))
    if layers < rates.layers:
        structure, operation = mutate_layers(structure, space, rng)
        operations.append(operation)
    if neurons < rates.neurons:
        structure, operation = mutate_neurons(structure, space, rng)
        operations.append(operation)
    if shortcuts < rates.shortcuts:
        structure, operation = mutate_shortcuts(structure, rng)
        operations.append(operation)
    if function < rates.activation:
        activation, operation = mutate_activation(activation, space, rng)
        operations.append(operation)
    # Drawn last, and only if there is a choice: a space without one has the same children as ever.
    if space.varies_start and float(rng.random()) < rates.start:
        start, operation = mutate_start(start, space, rng)
        operations.append(operation)
    genome = Genome(structure, activation, start)
    return Variation(genome, tuple(operation for operation in operations if operation))
