"""Genomes: what a network is, apart from the problem it solves, and how new ones come about.

A genome is a structure (layers, neurons, shortcuts) and an activation function (a tree of operators with
learnable parameters on its edges). It has a text form that a person can write:

    >>> print(Genome.parse("layers=6 neurons=48 activation=a*tanh(b*x)*cos(x)"))
    layers=6 neurons=48 shortcuts=none activation=a*tanh(b*x)*cos(x)
"""

from evopinn.genome.common import COMMON, CommonActivation, common_activation
from evopinn.genome.expression import Activation
from evopinn.genome.genome import Genome
from evopinn.genome.operators import (
    BINARY,
    OPERATORS,
    UNARY,
    BinaryOperator,
    Operator,
    UnaryOperator,
    operator,
)
from evopinn.genome.published import (
    PublishedError,
    PublishedModel,
    find_published,
    is_published,
    published_model,
    published_models,
)
from evopinn.genome.space import PAPER, Space
from evopinn.genome.structure import Shortcut, Structure, regular_shortcuts
from evopinn.genome.tree import Node
from evopinn.genome.variation import (
    MutationRates,
    Variation,
    crossover,
    initial_population,
    mutate,
    random_genome,
)

__all__ = [
    "BINARY",
    "COMMON",
    "OPERATORS",
    "PAPER",
    "UNARY",
    "Activation",
    "BinaryOperator",
    "CommonActivation",
    "Genome",
    "MutationRates",
    "Node",
    "Operator",
    "PublishedError",
    "PublishedModel",
    "Shortcut",
    "Space",
    "Structure",
    "UnaryOperator",
    "Variation",
    "common_activation",
    "crossover",
    "find_published",
    "initial_population",
    "is_published",
    "mutate",
    "operator",
    "published_model",
    "published_models",
    "random_genome",
    "regular_shortcuts",
]
