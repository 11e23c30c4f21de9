"""Genomes, which describe a network apart from the problem that it solves, and their variation."""

from .activation import Activation
from .common import COMMON, CommonActivation, common_activation
from .genome import DEFAULT_GENOME, Genome
from .operators import BINARY, OPERATORS, UNARY, Operator, operator
from .published import (
    PublishedError,
    PublishedModel,
    find_published,
    is_published,
    published_model,
    published_models,
)
from .space import PAPER, Space
from .start import PAPER_START, STARTS, Start, StartKind, StartParameter
from .structure import Shortcut, Structure, regular_shortcuts
from .tree import Node
from .variation import (
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
    "DEFAULT_GENOME",
    "OPERATORS",
    "PAPER",
    "PAPER_START",
    "STARTS",
    "UNARY",
    "Activation",
    "CommonActivation",
    "Genome",
    "MutationRates",
    "Node",
    "Operator",
    "PublishedError",
    "PublishedModel",
    "Shortcut",
    "Space",
    "Start",
    "StartKind",
    "StartParameter",
    "Structure",
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
