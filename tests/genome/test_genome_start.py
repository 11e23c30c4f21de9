"""The start gene: text, JSON and key, the space of starts, and their variation."""

import json
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import GenomeError, GenomeSyntaxError, UnknownNameError
from evopinn.genome import (
    PAPER,
    PAPER_START,
    STARTS,
    Activation,
    Genome,
    MutationRates,
    Space,
    Start,
    Structure,
    crossover,
    initial_population,
    mutate,
    random_genome,
)
from evopinn.genome.variation.start_mutation import START_MUTATIONS

PLAIN = "layers=5 neurons=20 shortcuts=none activation=sin(x)"
BOTH = Space(starts=("paper", "unit"))


@st.composite
def starts(draw: st.DrawFn) -> Start:
    row = draw(st.sampled_from(list(STARTS.values())))
    return Start(row.name, tuple(draw(st.floats(each.least, each.most)) for each in row.parameters))


@given(starts())
@settings(deadline=None)
def test_text_json_and_key_keep_a_start_exactly(start: Start) -> None:
    genome = Genome(Structure(5, 20), Activation.parse("sin(x)"), start)
    assert Start.parse(start.text) == start
    assert Genome.parse(genome.text) == genome
    assert Genome.from_json(json.loads(json.dumps(genome.to_json()))) == genome
    assert (genome.key == Genome.parse(PLAIN).key) == (start == PAPER_START)


@pytest.mark.parametrize(
    ("text", "values", "canonical"),
    [
        ("unit", (1, 1), "unit"),
        ("unit()", (1, 1), "unit"),
        ("unit(1,1.0)", (1, 1), "unit"),
        ("unit(0.5)", (0.5, 1), "unit(0.5)"),
        (" unit ( 1 , .5 ) ", (1, 0.5), "unit(1,0.5)"),
        ("unit(2e0,1)", (2, 1), "unit(2)"),
        ("paper()", (), "paper"),
    ],
)
def test_what_a_text_means(text: str, values: tuple[float, ...], canonical: str) -> None:
    start = Start.parse(text)
    assert (start.values, start.text) == (values, canonical)
    assert Genome.parse(f"{PLAIN} start={text}").start == start


def test_a_genome_with_the_start_of_the_paper_is_as_it_was_before_there_were_starts() -> None:
    genome = Genome.parse(PLAIN)
    assert genome == Genome.parse(f"start=paper {PLAIN}") == Genome(genome.structure, genome.activation)
    assert genome.text == PLAIN
    assert "start" not in genome.to_json()
    old = "layers=5 neurons=20 shortcuts=none *tanh(x)"
    assert Genome.parse(PLAIN.replace("sin(x)", "a*tanh(x)")).key == sha256(old.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("unix", "unix.*paper, unit", 0),
        ("unit(20)", "spread.*20.*0.1 to 10", 5),
        ("unit(1, 0.05)", "first.*0.05.*0.1 to 10", 8),
        ("unit(1,2,3)", "3 numbers.*spread, first", 9),
        ("paper(1)", "no parameters", 6),
        ("unit(1,,2)", "number", 7),
        ("unit(1e999)", "spread.*inf", 5),
        ("unit(big)", "unit\\(big\\)", 0),
        ("unit(1", "unit\\(1", 0),
        ("unit 1", "unit 1", 0),
    ],
)
def test_a_mistake_is_refused_where_it_is(text: str, reason: str, position: int) -> None:
    with pytest.raises(GenomeSyntaxError, match=reason) as found:
        Start.parse(text)
    assert found.value.position == position
    with pytest.raises(GenomeSyntaxError, match=reason) as found:
        Genome.parse(f"{PLAIN} start={text}")
    assert found.value.position == len(f"{PLAIN} start=") + position


def test_impossible_starts_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unix.*paper"):
        Start("unix")
    for values in ((0.0,), (float("nan"),), (1, 11), (1, 1, 1), ("1",), (True,)):
        with pytest.raises(GenomeError, match=r"unit|parameter"):
            Start("unit", values)  # pyright: ignore[reportArgumentType]
    for data in (None, [], {"spread": 1}, "unit"):
        with pytest.raises(GenomeError, match="kind"):
            Start.from_json(data)
    with pytest.raises(UnknownNameError, match="width"):
        Start.from_json({"kind": "unit", "width": 1})
    with pytest.raises(GenomeError, match="Start"):
        Genome(Structure(5, 20), Activation.parse("sin(x)"), "unit")  # pyright: ignore[reportArgumentType]
    assert Start.from_json({"kind": "unit", "first": 2}) == Start("unit", (1, 2))


def test_a_space_of_starts() -> None:
    assert Space.parse("starts=paper,unit") == BOTH
    assert Space.parse(BOTH.text) == BOTH
    assert BOTH.text.endswith(" starts=paper,unit")
    assert "starts" not in PAPER.text
    assert (PAPER.varies_start, BOTH.varies_start) == (False, True)
    assert Space(starts=("unit",)).varies_start  # its parameters vary
    for text, reason in (
        ("starts=paper,unix", "unix"),
        ("starts=none", "at least one start"),
        ("starts=unit,unit", "twice"),
    ):
        with pytest.raises(GenomeSyntaxError, match=reason):
            Space.parse(text)


def test_a_start_outside_the_space_is_refused() -> None:
    genome = Genome.parse(f"{PLAIN} start=unit", BOTH)
    with pytest.raises(GenomeError, match=r"unit.*only paper"):
        PAPER.check(genome)
    with pytest.raises(GenomeSyntaxError, match="unit"):
        Genome.parse(genome.text, PAPER)
    with pytest.raises(GenomeSyntaxError, match=r"paper.*only unit"):
        Genome.parse(PLAIN, Space(starts=("unit",)))


def test_a_space_with_one_start_draws_as_it_did_before_there_were_starts() -> None:
    rng = np.random.default_rng(7)
    genomes = [*initial_population(PAPER, 20, rng), random_genome(PAPER, rng)]
    for _ in range(100):
        genomes.append(mutate(genomes[-1], PAPER, MutationRates(start=1.0), rng).genome)
        genomes += crossover(*genomes[-2:])
    keys = " ".join(genome.key for genome in genomes)
    assert sha256(keys.encode()).hexdigest()[:16] == "044f8cfed38f3e75"
    assert rng.random() == 0.10038069240392533


@pytest.mark.parametrize("space", [BOTH, Space(starts=("unit",))], ids=["both", "one"])
def test_variations_of_starts_stay_in_the_searched_range(space: Space) -> None:
    rng = np.random.default_rng(3)
    drawn = initial_population(space, 300, rng)
    assert {genome.start.kind for genome in drawn} == set(space.starts)
    rates = MutationRates(0, 0, 0, 0, 1)
    genome, done = drawn[0], Counter[str]()
    found = [genome.start for genome in drawn]
    for _ in range(500):
        child, operations = mutate(genome, space, rates, rng)
        assert (child.structure, child.activation) == (genome.structure, genome.activation)
        if operations:
            assert child.start.text == Start.parse(child.start.text).text
            assert (child.start.kind != genome.start.kind) == (operations == ("change start",))
        genome = child
        found.append(child.start)
        done.update(operations)
    assert set(done) == (set(START_MUTATIONS) if space is BOTH else {"tune start"})
    for place, parameter in enumerate(STARTS["unit"].parameters):
        values = np.array([start.values[place] for start in found if start.kind == "unit"])
        low, high = parameter.searched
        assert low <= values.min() < 1.2 * low
        assert high / 1.2 < values.max() <= high
        assert 0.4 < np.mean(values < 1) < 0.6  # uniform in the logarithm, about the default


def test_a_parameter_outside_the_searched_range_returns_into_it() -> None:
    rng, rates = np.random.default_rng(0), MutationRates(0, 0, 0, 0, 1)
    for _ in range(50):
        child = mutate(Genome.parse(f"{PLAIN} start=unit(10,1)"), Space(starts=("unit",)), rates, rng).genome
        assert child.start.values[0] == 10 or 0.4 <= child.start.values[0] <= 2.5


def test_the_start_goes_with_the_activation() -> None:
    mother, father = (
        Genome.parse(f"{PLAIN} start=unit(2)"),
        Genome.parse("layers=4 neurons=30 activation=cos(x)"),
    )
    first, second = crossover(mother, father)
    assert (first.structure, first.activation, first.start) == (
        mother.structure,
        father.activation,
        PAPER_START,
    )
    assert (second.structure, second.activation, second.start.text) == (
        father.structure,
        mother.activation,
        "unit(2)",
    )


def test_the_rate_of_mutations_of_the_start() -> None:
    rng, genome = np.random.default_rng(0), Genome.parse(PLAIN)
    assert all(not mutate(genome, BOTH, MutationRates(0, 0, 0, 0, 0), rng).operations for _ in range(20))
    changed = sum(bool(mutate(genome, BOTH, MutationRates(0, 0, 0, 0), rng).operations) for _ in range(1000))
    assert 250 < changed < 350
    with pytest.raises(GenomeError, match="start"):
        MutationRates(start=2)
