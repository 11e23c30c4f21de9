"""Variation: always valid, never touching its parents, repeatable, and doing what each mutation says."""

from collections import Counter
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome import (
    BINARY,
    COMMON,
    PAPER,
    Activation,
    Genome,
    MutationRates,
    Node,
    Space,
    Structure,
    common_activation,
    crossover,
    initial_population,
    mutate,
    random_genome,
    regular_shortcuts,
)
from evopinn.genome.tree import walk, with_parameters
from evopinn.genome.variation.activation_mutation import (
    OPERATOR_MUTATIONS,
    PARAMETER_MUTATIONS,
    mutate_activation,
)
from evopinn.genome.variation.sampling import random_activation, random_shortcuts
from evopinn.genome.variation.structure_mutation import (
    insert_layer,
    mutate_layers,
    mutate_neurons,
    mutate_shortcuts,
    remove_layer,
)

ALWAYS = MutationRates(1.0, 1.0, 1.0, 1.0)
TINY = Space(2, 3, (8, 8, 1), max_operators=1, max_parameters=0, unary=("sin", "tanh"), binary=(), extra=())
SPACES = [
    PAPER,
    TINY,
    Space(
        2, 4, (4, 10, 3), max_operators=4, max_parameters=1, unary=("sin", "exp"), binary=("mul",), extra=()
    ),
    Space(max_operators=24, max_parameters=8),
]


@pytest.mark.parametrize("space", SPACES, ids=["paper", "tiny", "small", "large"])
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_thousand_variations_stay_in_the_space(space: Space, seed: int) -> None:
    rng = np.random.default_rng(seed)
    population = list(initial_population(space, 20, rng))
    operations: Counter[str] = Counter()
    for _ in range(1000):
        first, second = (int(index) for index in rng.choice(len(population), 2, replace=False))
        parents = (population[first], population[second])
        before = [parent.activation.key + parent.structure.text for parent in parents]
        children = list(crossover(*parents))
        children[0], done = mutate(children[0], space, ALWAYS, rng)
        operations.update(done)
        for child in children:
            space.check(child)
            assert Genome.parse(f"{child.structure} activation={child.activation}", space) == child
        assert [parent.activation.key + parent.structure.text for parent in parents] == before
        population[first], population[second] = children
    if space is PAPER:
        layers = {"insert layer", "remove layer", "change neurons"}
        shortcuts = {"add shortcut", "remove shortcut", "change shortcut"}
        assert set(operations) == layers | shortcuts | set(OPERATOR_MUTATIONS) | set(PARAMETER_MUTATIONS)


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=25)
def test_same_seed_same_result(seed: int) -> None:
    def trajectory() -> list[Genome]:
        rng = np.random.default_rng(seed)
        genomes = [random_genome(PAPER, rng), *initial_population(PAPER, 4, rng)]
        for _ in range(10):
            genomes.append(mutate(genomes[-1], PAPER, MutationRates(), rng).genome)
        return genomes

    assert trajectory() == trajectory()


def test_genomes_cannot_be_altered() -> None:
    genome = Genome.parse("layers=6 neurons=48 activation=sin(x)")
    for target, name in (
        (genome, "structure"),
        (genome.structure, "layers"),
        (genome.activation.root, "operator"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(target, name, None)


def test_initial_population_has_the_papers_proportions() -> None:
    size = 400
    population = initial_population(PAPER, size, np.random.default_rng(3))
    assert len(population) == size
    common = {form.key for row in COMMON.values() for form in row.activations}
    # A random activation may happen to be a common one, but hardly ever is.
    assert size // 4 <= sum(genome.activation.key in common for genome in population) <= size // 4 + 5
    assert any(genome.activation.text == "recu(x)" for genome in population)
    regular = [g for g in population if g.structure.shortcuts in _regular(g.structure.layers)]
    assert size // 2 <= len(regular) <= size * 0.7
    assert {g.structure.layers for g in population} == set(range(3, 12))
    assert {g.structure.neurons for g in population} == set(range(20, 51, 2))
    assert {g.activation.parameters for g in population} == {0, 1, 2, 3}
    assert all(len(g.structure.shortcuts) < g.structure.layers for g in population)
    sizes = Counter(g.activation.size for g in population if g.activation.key not in common)
    assert set(sizes) == {2, 3}
    assert min(sizes.values()) > 0.35 * sum(sizes.values())


def _regular(layers: int) -> set[tuple[tuple[int, int], ...]]:
    return {regular_shortcuts(layers, span) for span in range(6)}


def test_an_empty_population_is_refused() -> None:
    with pytest.raises(GenomeError, match="at least 1"):
        initial_population(PAPER, 0, np.random.default_rng(0))


def test_random_shortcuts_are_uniform() -> None:
    rng = np.random.default_rng(5)
    drawn = Counter(random_shortcuts(4, 2, rng) for _ in range(3000))
    # C(5, 4) sets of two disjoint shortcuts among the 4 inputs of 4 layers.
    assert len(drawn) == 5
    assert min(drawn.values()) > 500
    with pytest.raises(GenomeError, match=r"0 to 3 .* 4[.]"):
        random_shortcuts(4, 4, rng)


def test_random_activations_draw_the_whole_library() -> None:
    rng = np.random.default_rng(6)
    names = {node.operator for _ in range(2000) for _, node in walk(random_activation(PAPER, rng).root)}
    assert names == {*PAPER.unary, *PAPER.binary}


def test_crossover_exchanges_the_genes() -> None:
    first = Genome.parse("layers=6 neurons=48 shortcuts=0-1 activation=sin(x)")
    second = Genome.parse("layers=4 neurons=20 activation=a*tanh(x)")
    assert [child.text for child in crossover(first, second)] == [
        "layers=6 neurons=48 shortcuts=0-1 activation=a*tanh(x)",
        "layers=4 neurons=20 shortcuts=none activation=sin(x)",
    ]


@pytest.mark.parametrize(
    ("place", "shortcuts"),
    [(0, "1-3,3-5"), (1, "0-3,3-5"), (2, "0-2,3-5"), (3, "0-2,2-5"), (4, "0-2,2-4"), (5, "0-2,2-4")],
)
def test_shortcuts_follow_an_inserted_layer(place: int, shortcuts: str) -> None:
    structure = Structure(6, 20, ((0, 2), (2, 4)))
    assert insert_layer(structure, place) == Structure.parse(f"layers=7 neurons=20 shortcuts={shortcuts}")


@pytest.mark.parametrize(
    ("place", "shortcuts"),
    [(0, "0-1,1-2,3-4"), (1, "0-1,1-2,3-4"), (2, "0-2,3-4"), (3, "0-2,2-3,3-4"), (4, "0-2,2-3")],
)
def test_shortcuts_follow_a_removed_layer(place: int, shortcuts: str) -> None:
    structure = Structure(6, 20, ((0, 2), (2, 3), (4, 5)))
    assert remove_layer(structure, place) == Structure.parse(f"layers=5 neurons=20 shortcuts={shortcuts}")


def test_layers_and_neurons_stay_within_their_bounds() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        assert mutate_layers(Structure(3, 20), PAPER, rng)[1] == "insert layer"
        assert mutate_layers(Structure(11, 20), PAPER, rng)[1] == "remove layer"
        assert mutate_neurons(Structure(3, 20), PAPER, rng)[0].neurons == 22
        assert mutate_neurons(Structure(3, 50), PAPER, rng)[0].neurons == 48
        assert abs(mutate_neurons(Structure(3, 30), PAPER, rng)[0].neurons - 30) == 2
    fixed = Space(min_layers=3, max_layers=3, neurons=(20, 20, 1))
    assert mutate_layers(Structure(3, 20), fixed, rng) == (Structure(3, 20), "")
    assert mutate_neurons(Structure(3, 20), fixed, rng) == (Structure(3, 20), "")


def test_shortcut_mutations_change_one_shortcut() -> None:
    rng = np.random.default_rng(9)
    structure = Structure(7, 20, ((0, 2), (3, 4)))
    seen: Counter[str] = Counter()
    for _ in range(600):
        mutated, kind = mutate_shortcuts(structure, rng)
        seen[kind] += 1
        before, after = set(structure.shortcuts), set(mutated.shortcuts)
        lost, gained = before - after, after - before
        assert (len(lost), len(gained)) == {"add": (0, 1), "remove": (1, 0), "change": (1, 1)}[
            kind.split()[0]
        ]
        if kind == "change shortcut":
            (i, j), (k, m) = *lost, *gained
            assert (i == k) != (j == m)
    assert min(seen.values()) > 150
    full = Structure(3, 20, ((0, 1), (1, 2)))
    assert {mutate_shortcuts(full, rng)[1] for _ in range(50)} == {"remove shortcut"}
    assert {mutate_shortcuts(Structure(3, 20), rng)[1] for _ in range(50)} == {"add shortcut"}


def outcomes(name: str, text: str, space: Space = PAPER, draws: int = 400) -> set[str]:
    mutation = {**OPERATOR_MUTATIONS, **PARAMETER_MUTATIONS}[name]
    rng = np.random.default_rng(10)
    results = [mutation(Activation.parse(text), space, rng) for _ in range(draws)]
    return {result.text for result in results if result is not None}


ONE_EACH = Space(unary=("sin", "id"), binary=("mul",), extra=("tanh",))


def test_inserting_a_node_keeps_parameters_with_what_they_multiply() -> None:
    assert outcomes("insert node", "a*tanh(b*x)", ONE_EACH) == {
        "sin(a*tanh(b*x))",
        "id(a*tanh(b*x))",
        "a*tanh(sin(b*x))",
        "a*tanh(id(b*x))",
        "a*tanh(b*x)*sin(x)",
        "a*tanh(b*x)*x",
        "sin(x)*(a*tanh(b*x))",
        "x*(a*tanh(b*x))",
        "a*tanh(id(b*x)*sin(x))",
        "a*tanh(id(b*x)*x)",
        "a*tanh(sin(x)*id(b*x))",
        "a*tanh(x*id(b*x))",
    }


@pytest.mark.parametrize(("room", "sizes"), [(0, set()), (1, {2}), (2, {2, 3}), (3, {2, 3, 4})])
def test_insertion_never_exceeds_the_bound(room: int, sizes: set[int]) -> None:
    space = Space(max_operators=1 + room)
    assert {Activation.parse(text).size for text in outcomes("insert node", "tanh(x)", space)} == sizes


def test_removing_a_node_joins_its_edges() -> None:
    assert outcomes("remove node", "a*tanh(sin(b*x))") == {"a*sin(b*x)", "a*tanh(b*x)"}
    assert outcomes("remove node", "tanh(a*sin(x))") == {"a*sin(x)", "tanh(a*x)"}
    assert outcomes("remove node", "a*(sin(b*x)*exp(cos(x)))") == {
        "a*sin(b*x)",
        "a*exp(cos(x))",
        "a*(sin(b*x)*cos(x))",
        "a*(sin(b*x)*exp(x))",
    }
    assert outcomes("remove node", "sin(a*x)") == set()


def test_changing_a_node_changes_one_operator() -> None:
    parent = Activation.parse("a*tanh(b*x)*recu(x)")
    for text in outcomes("change node", parent.text):
        pairs = zip(walk(parent.root), walk(Activation.parse(text).root), strict=True)
        changed = [(p.operator, q.operator) for (_, p), (_, q) in pairs if p.operator != q.operator]
        assert len(changed) == 1
        assert Activation.parse(text).parameter_edges == parent.parameter_edges
    assert len(outcomes("change node", "sin(x)", draws=2000)) == 22
    assert len(outcomes("change node", "recu(x)", draws=2000)) == 23
    assert outcomes("change node", "sin(x)", Space(unary=("sin",), binary=())) == set()


def test_regenerating_changes_every_operator_and_nothing_else() -> None:
    parent = Activation.parse("a*tanh(b*x)*cos(exp(x))")
    for text in outcomes("regenerate nodes", parent.text):
        child = Activation.parse(text)
        pairs = list(zip(walk(parent.root), walk(child.root), strict=True))
        assert all(
            p.operator != q.operator and (p.operator in BINARY) == (q.operator in BINARY)
            for (_, p), (_, q) in pairs
        )
        assert child.parameter_edges == parent.parameter_edges


def test_parameters_are_inserted_removed_and_moved() -> None:
    assert outcomes("insert parameter", "tanh(sin(x))") == {
        "a*tanh(sin(x))",
        "tanh(a*sin(x))",
        "tanh(sin(a*x))",
    }
    assert outcomes("insert parameter", "a*tanh(b*sin(c*x))") == set()
    assert outcomes("insert parameter", "a*tanh(x)", Space(max_parameters=1)) == set()
    assert outcomes("remove parameter", "a*tanh(b*sin(x))") == {"a*tanh(sin(x))", "tanh(a*sin(x))"}
    assert outcomes("remove parameter", "tanh(x)") == set()
    assert outcomes("move parameter", "a*tanh(sin(x))") == {"tanh(a*sin(x))", "tanh(sin(a*x))"}
    assert outcomes("move parameter", "a*tanh(b*x)") == set()
    assert outcomes("move parameter", "tanh(x)") == set()


def test_operator_and_parameter_mutations_are_four_to_three() -> None:
    rng = np.random.default_rng(11)
    parent = Activation.parse("a*tanh(b*x)*cos(x)")
    draws = 7000
    seen = Counter(mutate_activation(parent, PAPER, rng)[1] for _ in range(draws))
    assert set(seen) == {*OPERATOR_MUTATIONS, *PARAMETER_MUTATIONS}
    # Four types share 4/7 and three share 3/7, so each has 1/7; 29 is one standard deviation.
    assert all(abs(number - draws / 7) < 5 * 29 for number in seen.values())


def test_types_that_cannot_apply_give_way() -> None:
    rng = np.random.default_rng(12)
    alone = Space(max_operators=1, unary=("sin",), binary=(), extra=())
    for _ in range(50):
        assert mutate_activation(Activation.parse("sin(x)"), alone, rng)[1] == "insert parameter"
    frozen = Space(max_operators=1, max_parameters=0, unary=("sin",), binary=(), extra=())
    assert mutate_activation(Activation.parse("sin(x)"), frozen, rng) == (Activation.parse("sin(x)"), "")
    child, operations = mutate(Genome.parse("layers=3 neurons=20 activation=sin(x)"), frozen, ALWAYS, rng)
    assert len(operations) == 3
    assert child.activation.text == "sin(x)"


def test_rates_decide_what_mutates() -> None:
    rng = np.random.default_rng(13)
    genome = Genome.parse("layers=6 neurons=30 shortcuts=0-2 activation=a*tanh(x)")
    assert mutate(genome, PAPER, MutationRates(0, 0, 0, 0), rng) == (genome, ())
    assert mutate(genome, PAPER, MutationRates(0, 1, 0, 0), rng).operations == ("change neurons",)
    draws = 4000
    touched: Counter[str] = Counter()
    for _ in range(draws):
        child, operations = mutate(genome, PAPER, MutationRates(), rng)
        touched["neurons"] += "change neurons" in operations
        touched["activation"] += any(
            name in {*OPERATOR_MUTATIONS, *PARAMETER_MUTATIONS} for name in operations
        )
        assert (child == genome) == (operations == ())
    assert abs(touched["neurons"] / draws - 0.3) < 0.04
    assert abs(touched["activation"] / draws - 0.7) < 0.04


def test_bad_input_is_refused() -> None:
    with pytest.raises(GenomeError, match=r"shortcuts .*1\.5"):
        MutationRates(shortcuts=1.5)
    outside = Genome.parse("layers=20 neurons=30 activation=sin(x)")
    with pytest.raises(GenomeError, match="outside 3 to 11"):
        mutate(outside, PAPER, MutationRates(), np.random.default_rng(0))


# --- Common activation functions ---


def test_there_are_thirteen_common_activations() -> None:
    assert len(COMMON) == 13
    assert sum(name.startswith("parametric-") for name in COMMON) == 5
    with pytest.raises(UnknownNameError, match="parametric-swish"):
        common_activation("parametric-swich")


@pytest.mark.parametrize("name", COMMON)
def test_forms_of_a_common_activation_are_equivalent(name: str) -> None:
    row = COMMON[name]
    x = torch.linspace(-4, 4, 41, dtype=torch.float64)
    parameters = torch.full((row.activation.parameters,), 1.7, dtype=torch.float64)
    assert row.activation.parameters == name.startswith("parametric-")
    for form in row.activations:
        PAPER.check(Genome(Structure(3, 20), form))
        torch.testing.assert_close(form(x, parameters), row.activation(x, parameters), rtol=1e-12, atol=1e-14)


def test_common_activations_outside_a_space_are_not_drawn() -> None:
    space = Space(unary=("sin", "exp"), binary=("mul",), extra=())
    for genome in initial_population(space, 200, np.random.default_rng(14)):
        space.check(genome)
    assert Activation(with_parameters(Node("sin"), {1})) == common_activation("parametric-sin")
