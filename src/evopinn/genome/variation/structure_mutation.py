"""Mutations of a structure: of its layers, neurons and shortcuts."""

from collections.abc import Iterator

from numpy.random import Generator

from evopinn.genome.space import Space
from evopinn.genome.structure import Shortcut, Structure, shortcut_flaw
from evopinn.genome.variation.sampling import pick


def mutate_layers(structure: Structure, space: Space, rng: Generator) -> tuple[Structure, str]:
    """Insert a layer at a random place, or remove a random hidden layer; at a bound, do the possible one."""
    types = ["insert layer"] if structure.layers < space.max_layers else []
    if structure.layers > space.min_layers:
        types.append("remove layer")
    if not types:
        return structure, ""
    kind = pick(types, rng)
    if kind == "insert layer":
        return insert_layer(structure, int(rng.integers(structure.layers))), kind
    return remove_layer(structure, int(rng.integers(structure.layers - 1))), kind


def insert_layer(structure: Structure, place: int) -> Structure:
    """A structure with a new hidden layer that gets the index `place`, between layers place - 1 and place.

    A shortcut around the place spans the new layer, too; one that starts there or later moves on by one.
    """
    shortcuts = tuple((i + (place <= i), j + (place < j)) for i, j in structure.shortcuts)
    return Structure(structure.layers + 1, structure.neurons, shortcuts)


def remove_layer(structure: Structure, place: int) -> Structure:
    """A structure without the layer of index `place`.

    A shortcut that spans it shrinks, and disappears if nothing is left to span; a later one moves back by
    one.
    """
    moved = ((i - (place < i), j - (place < j)) for i, j in structure.shortcuts)
    return Structure(structure.layers - 1, structure.neurons, tuple((i, j) for i, j in moved if i < j))


def mutate_neurons(structure: Structure, space: Space, rng: Generator) -> tuple[Structure, str]:
    """Change the number of neurons to a neighbouring one."""
    choices = space.neuron_choices
    index = choices.index(structure.neurons)
    neighbours = [choices[k] for k in (index - 1, index + 1) if 0 <= k < len(choices)]
    if not neighbours:
        return structure, ""
    return Structure(structure.layers, pick(neighbours, rng), structure.shortcuts), "change neurons"


def mutate_shortcuts(structure: Structure, rng: Generator) -> tuple[Structure, str]:
    """Add, remove or change a shortcut: one type out of those that can apply, then one of its outcomes."""
    outcomes = {
        "add shortcut": list(_additions(structure)),
        "remove shortcut": list(_removals(structure)),
        "change shortcut": list(_changes(structure)),
    }
    kind = pick([kind for kind, results in outcomes.items() if results], rng)
    return Structure(structure.layers, structure.neurons, pick(outcomes[kind], rng)), kind


def _additions(structure: Structure) -> Iterator[tuple[Shortcut, ...]]:
    last = structure.layers - 1
    for i in range(last):
        for j in range(i + 1, last + 1):
            added = tuple(sorted((*structure.shortcuts, (i, j))))
            if shortcut_flaw(structure.layers, added) is None:
                yield added


def _removals(structure: Structure) -> Iterator[tuple[Shortcut, ...]]:
    for index in range(len(structure.shortcuts)):
        yield structure.shortcuts[:index] + structure.shortcuts[index + 1 :]


def _changes(structure: Structure) -> Iterator[tuple[Shortcut, ...]]:
    """All ways to move one end of one shortcut."""
    for index, (i, j) in enumerate(structure.shortcuts):
        others = structure.shortcuts[:index] + structure.shortcuts[index + 1 :]
        moved = [(start, j) for start in range(j) if start != i]
        moved += [(i, end) for end in range(i + 1, structure.layers) if end != j]
        for shortcut in moved:
            changed = tuple(sorted((*others, shortcut)))
            if shortcut_flaw(structure.layers, changed) is None:
                yield changed
