"""The search space: its bounds, its text, and its size by formula against brute force."""

from collections.abc import Iterator
from itertools import combinations, product

import pytest

from evopinn.errors import GenomeError, GenomeSyntaxError, UnknownNameError
from evopinn.genome import PAPER, Activation, Genome, Node, Space, Structure
from evopinn.genome.tree import with_parameters


def test_the_papers_table_of_sizes() -> None:
    assert f"{PAPER.count_structures():.2e}" == "2.83e+05"
    assert f"{PAPER.count_activations(3):.2e}" == "2.65e+05"
    assert f"{PAPER.count_activations(5):.2e}" == "9.97e+08"
    assert f"{PAPER.count_activations(7):.2e}" == "3.34e+12"
    assert f"{PAPER.count_activations():.2e}" == "3.40e+12"
    assert f"{PAPER.count_models():.2e}" == "9.64e+17"


def all_trees(size: int, space: Space) -> Iterator[Node]:
    """Every tree of so many operators, without parameters."""
    if size == 1:
        yield from (Node(name) for name in space.unary)
        return
    for child in all_trees(size - 1, space):
        yield from (Node(name, (child,)) for name in space.unary)
    for left in range(1, size - 1):
        for first, second in product(all_trees(left, space), list(all_trees(size - 1 - left, space))):
            yield from (Node(name, (first, second)) for name in space.binary)


@pytest.mark.parametrize("parameters", [0, 1, 2])
@pytest.mark.parametrize("binary", [(), ("add",), ("add", "max")])
def test_activations_are_counted_as_brute_force_does(parameters: int, binary: tuple[str, ...]) -> None:
    space = Space(max_operators=5, max_parameters=parameters, unary=("sin", "exp"), binary=binary)
    total = 0
    for size in range(1, 5):
        keys: set[str] = set()
        for root in all_trees(size, space):
            edges = range(Activation(root).edges)
            for number in range(parameters + 1):
                keys |= {
                    Activation(with_parameters(root, chosen)).key for chosen in combinations(edges, number)
                }
        assert len(keys) == space.count_activations(size)
        total += len(keys)
    assert space.count_activations() == total + space.count_activations(5)


def all_structures(layers: int, neurons: int) -> Iterator[Structure]:
    spans = list(combinations(range(layers), 2))
    for number in range(layers):
        for shortcuts in combinations(spans, number):
            try:
                yield Structure(layers, neurons, shortcuts)
            except GenomeError:
                continue


def test_structures_are_counted_as_brute_force_does() -> None:
    space = Space(min_layers=2, max_layers=5, neurons=(4, 9, 3))
    found = {s for layers in range(2, 6) for neurons in (4, 7) for s in all_structures(layers, neurons)}
    assert len(found) == space.count_structures()


def test_models_are_structures_times_activations() -> None:
    space = Space(min_layers=2, max_layers=3, neurons=(4, 4, 1), max_operators=1, max_parameters=0)
    assert space.count_models() == (2 + 5) * 23


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("layers=2 neurons=20 activation=x", r"\blayers=2\b.*\b3 to 11\b"),
        ("layers=12 neurons=20 activation=x", r"\blayers=12\b.*\b3 to 11\b"),
        ("layers=3 neurons=21 activation=x", r"\bneurons=21\b.*\b20 to 50\b.*\b2\."),
        ("layers=3 neurons=20 activation=x*x*x*x*x", r"\b9 operators\b.*\b7\b"),
        ("layers=3 neurons=20 activation=a*sin(b*sin(c*sin(d*x)))", r"\b4 parameters\b.*\b3\b"),
    ],
)
def test_check_says_which_bound_is_broken(text: str, reason: str) -> None:
    with pytest.raises(GenomeError, match=reason):
        PAPER.check(Genome.parse(text))


def test_operators_outside_the_space_are_refused() -> None:
    genome = Genome.parse("layers=3 neurons=20 activation=recu(x)")
    PAPER.check(genome)
    space = Space(unary=("sin", "tanh"), extra=())
    with pytest.raises(GenomeError, match=r"\brecu\b"):
        space.check(genome)
    assert space.permits(Activation.parse("sin(tanh(x))"))
    assert not space.permits(Activation.parse("sin(cos(x))"))


@pytest.mark.parametrize(
    "space",
    [
        PAPER,
        Space(2, 12, (8, 64, 4), 9, 5),
        Space(neurons=(16, 16, 1), unary=("sin", "tanh"), binary=(), extra=()),
    ],
)
def test_space_text_reads_back(space: Space) -> None:
    assert Space.parse(space.text) == space
    assert str(space) == space.text


def test_space_text() -> None:
    assert Space.parse("layers=2-12 neurons=8-64:4 operators=7 parameters=3") == Space(2, 12, (8, 64, 4))
    assert Space.parse("") == PAPER
    assert PAPER.text == "layers=3-11 neurons=20-50:2 operators=7 parameters=3"
    assert Space.parse("layers=5 neurons=10-12") == Space(5, 5, (10, 12, 1))
    assert Space(neurons=(20, 51, 2)) == PAPER
    assert list(Space(neurons=(4, 11, 3)).neuron_choices) == [4, 7, 10]


@pytest.mark.parametrize(
    ("text", "at", "reason"),
    [
        ("layers=9-3", "9-3", "layers .* 9 to 3"),
        ("layers=1-3", "1-3", "layers .* 2 .* 1 to 3"),
        ("layers=3-9:2", "3-9", "layers=3-11"),
        ("neurons=5-3", "5-3", "least"),
        ("neurons=few", "few", "20-50.*'few'"),
        ("operators=0", "0", "operators .*1 to 24"),
        ("operators=many", "many", "whole number"),
        ("parameters=99", "99", "parameters .*0 to 50"),
        ("unary=none", "none", "unary"),
        ("unary=sin,tanhh", "sin,tanhh", r"'tanhh'.* tanh\b"),
        ("binary=add,add", "add,add", "listed twice"),
        ("depth=3", "depth", r"\bdepth\b.*\blayers, neurons, operators, parameters, unary, binary, extra\b"),
    ],
)
def test_mistakes_in_a_space_are_placed_and_explained(text: str, at: str, reason: str) -> None:
    with pytest.raises(GenomeSyntaxError, match=reason) as caught:
        Space.parse(text)
    assert caught.value.position == text.index(at)


def test_a_space_of_unknown_operators_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="binary operator"):
        Space(binary=("sin",))
