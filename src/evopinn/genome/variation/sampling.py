"""Random genomes, and the initial population of a search."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from numpy.random import Generator

from evopinn.errors import GenomeError
from evopinn.genome.activation import Activation
from evopinn.genome.common import COMMON
from evopinn.genome.genome import Genome
from evopinn.genome.space import Space
from evopinn.genome.start import STARTS, Start
from evopinn.genome.structure import Shortcut, Structure, regular_shortcuts
from evopinn.genome.tree import Node, with_parameters

MAX_REGULAR_SPAN = 5
"""Regular shortcuts span 0 (there are none) to this many layers."""

COMMON_SHARE = 0.25
"""The share of common activation functions in an initial population: 1 common to 3 random."""

T = TypeVar("T")

Mutation = Callable[[T, Space, Generator], T | None]
"""Returns None where it cannot apply, before drawing any random number."""


def pick(choices: Sequence[T], rng: Generator) -> T:
    """One of the choices, all equally likely."""
    return choices[int(rng.integers(len(choices)))]


def mutate_with(
    mutations: Mapping[str, Mutation[T]], gene: T, space: Space, rng: Generator
) -> tuple[T, str] | None:
    """The gene after one of these mutations, all equally likely, with its name; None if none can apply."""
    names = list(mutations)
    for index in rng.permutation(len(names)).tolist():
        name = names[int(index)]
        mutated = mutations[name](gene, space, rng)
        if mutated is not None:
            return mutated, name
    return None


def random_genome(space: Space, rng: Generator) -> Genome:
    """A genome as in an initial population: shortcuts random or regular, an activation common or random."""
    structure = random_structure(space, rng, regular=rng.random() < 0.5)
    activation = _any_activation(space, rng, common=rng.random() < COMMON_SHARE)
    return Genome(structure, activation, random_start(space, rng))


def initial_population(space: Space, size: int, rng: Generator) -> tuple[Genome, ...]:
    """The genomes that a search starts from.

    Half have random shortcuts and half regular ones; one activation in four is a common one. Which individual
    gets which is random.
    """
    if size < 1:
        raise GenomeError(f"a population has at least 1 individual, not {size}.")
    regular = rng.permutation(size) < size // 2
    common = rng.permutation(size) < round(size * COMMON_SHARE)
    return tuple(
        Genome(
            random_structure(space, rng, regular=bool(regular[i])),
            _any_activation(space, rng, common=bool(common[i])),
            random_start(space, rng),
        )
        for i in range(size)
    )


def random_structure(space: Space, rng: Generator, *, regular: bool) -> Structure:
    """A structure with layers and neurons drawn uniformly, and shortcuts either regular or random."""
    layers = int(rng.integers(space.min_layers, space.max_layers + 1))
    neurons = pick(space.neuron_choices, rng)
    if regular:
        shortcuts = regular_shortcuts(layers, int(rng.integers(MAX_REGULAR_SPAN + 1)))
    else:
        shortcuts = random_shortcuts(layers, int(rng.integers(1, layers)), rng)
    return Structure(layers, neurons, shortcuts)


def random_shortcuts(layers: int, number: int, rng: Generator) -> tuple[Shortcut, ...]:
    """A number of disjoint shortcuts, all sets of them equally likely.

    Ends i1 < j1 ≤ i2 < j2 ≤ ... in 0, ..., layers - 1 become, once 0, 0, 1, 1, 2, 2, ... is added to them,
    any 2·number distinct whole numbers below layers + number - 1.
    """
    if not 0 <= number < layers:
        raise GenomeError(f"{layers} layers have room for 0 to {layers - 1} shortcuts, not {number}.")
    if number == 0:
        return ()
    ends = sorted(int(end) for end in rng.choice(layers + number - 1, 2 * number, replace=False))
    return tuple((ends[2 * k] - k, ends[2 * k + 1] - k) for k in range(number))


def random_activation(space: Space, rng: Generator) -> Activation:
    """unary(unary(x)) or binary(unary(x), unary(x)), with parameters on random edges.

    A space too small for either form gets what fits: a single unary(x).
    """
    forms = [1]
    if space.max_operators >= 2:
        forms = [2]
    if space.max_operators >= 3 and space.binary:
        forms.append(3)
    operators = pick(forms, rng)
    leaf = Node(pick(space.unary, rng))
    if operators == 1:
        root = leaf
    elif operators == 2:
        root = Node(pick(space.unary, rng), (leaf,))
    else:
        root = Node(pick(space.binary, rng), (leaf, Node(pick(space.unary, rng))))
    return _with_random_parameters(root, space.max_parameters, rng)


def random_start(space: Space, rng: Generator) -> Start:
    """One of the space's starts with random parameters; a single one without parameters draws nothing."""
    if not space.varies_start:
        return Start(space.starts[0])
    row = STARTS[pick(space.starts, rng)]
    return Start(row.name, tuple(parameter.at(float(rng.random())) for parameter in row.parameters))


def _with_random_parameters(root: Node, most: int, rng: Generator) -> Activation:
    """A tree with 0 to `most` parameters, any number equally likely, on random edges."""
    edges = Activation(root).edges
    number = int(rng.integers(min(most, edges) + 1))
    return Activation(with_parameters(root, {int(edge) for edge in rng.choice(edges, number, replace=False)}))


def _any_activation(space: Space, rng: Generator, *, common: bool) -> Activation:
    """A common activation function in one of its forms, or a random one if none is in the space."""
    if common:
        rows = [[form for form in row.activations if space.permits(form)] for row in COMMON.values()]
        permitted = [forms for forms in rows if forms]
        if permitted:
            return pick(pick(permitted, rng), rng)
    return random_activation(space, rng)
