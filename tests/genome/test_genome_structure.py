"""Structures and genomes: text, JSON, keys, and what is refused."""

import json

import numpy as np
import pytest

from evopinn.errors import GenomeError, GenomeSyntaxError
from evopinn.genome import PAPER, Activation, Genome, Space, Structure, random_genome, regular_shortcuts

TEXT = "layers=6 neurons=48 shortcuts=0-1,1-2 activation=asinh(x)*cos(x)"


def test_structure_is_normalised_and_written() -> None:
    structure = Structure(6, 48, ((3, 5), (0, 1), (1, 2)))
    assert structure.shortcuts == ((0, 1), (1, 2), (3, 5))
    assert structure.text == str(structure) == "layers=6 neurons=48 shortcuts=0-1,1-2,3-5"
    assert Structure.parse(structure.text) == structure
    assert Structure.parse("shortcuts=[1-2, 0-1,3-5] neurons=48, layers=6") == structure
    assert Structure(3, 20).text == "layers=3 neurons=20 shortcuts=none"
    assert Structure.parse("layers=3 neurons=20") == Structure.parse("layers=3 neurons=20 shortcuts=[]")


@pytest.mark.parametrize(
    ("layers", "span", "expected"),
    [
        (8, 2, "0-2,2-4,4-6,6-7"),
        (9, 2, "0-2,2-4,4-6,6-8"),
        (3, 5, "0-2"),
        (4, 1, "0-1,1-2,2-3"),
        (7, 0, "none"),
    ],
)
def test_regular_shortcuts(layers: int, span: int, expected: str) -> None:
    structure = Structure(layers, 20, regular_shortcuts(layers, span))
    assert structure.text.endswith(f"shortcuts={expected}")


@pytest.mark.parametrize(
    ("shortcuts", "reason"),
    [
        (((0, 2), (1, 3)), "intersects 0-2"),
        (((0, 2), (0, 2)), "intersects 0-2"),
        (((3, 6),), r"\bshortcut 3-6\b.*\b5\b"),
        (((2, 2),), "later layer"),
        (((-1, 2),), "before layer 0"),
    ],
)
def test_impossible_shortcuts_are_refused(shortcuts: tuple[tuple[int, int], ...], reason: str) -> None:
    with pytest.raises(GenomeError, match=reason):
        Structure(6, 48, shortcuts)


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(GenomeError, match=r"2 layers.* 1[.]"):
        Structure(1, 20)
    with pytest.raises(GenomeError, match=r"1 neuron.* 0[.]"):
        Structure(3, 0)
    with pytest.raises(GenomeError, match="not -1"):
        regular_shortcuts(4, -1)


def test_genome_text_reads_back() -> None:
    genome = Genome.parse(TEXT)
    assert genome.text == str(genome) == TEXT
    assert genome == Genome(Structure(6, 48, ((0, 1), (1, 2))), Activation.parse("asinh(x)*cos(x)"))
    assert Genome.parse("activation='asinh(x) * cos(x)' layers=6 shortcuts=[1-2,0-1] neurons=48") == genome
    assert (
        Genome.parse('activation = "asinh(x)*cos(x)", layers = 6, shortcuts = 0-1, 1-2 neurons = 48')
        == genome
    )
    assert Genome.parse("activation=asinh(x)*cos(x) layers=6 shortcuts=0-1,1-2 neurons=48") == genome
    assert Genome.parse("layers=6 neurons=48 activation=tanh(x)").structure.shortcuts == ()


def test_genome_laws_over_random_genomes() -> None:
    rng = np.random.default_rng(1)
    genomes = [random_genome(PAPER, rng) for _ in range(300)]
    for genome in genomes:
        assert Genome.parse(genome.text, PAPER) == genome
        assert Genome.from_json(json.loads(json.dumps(genome.to_json()))) == genome
    assert (
        len({genome.key for genome in genomes})
        == len(set(genomes))
        == len({genome.text for genome in genomes})
    )


def test_key_is_short_and_stable() -> None:
    key = Genome.parse(TEXT).key
    assert key == "cc25ab79e6095556"
    assert Genome.parse(TEXT.replace("48", "46")).key != key
    assert Genome.parse(TEXT.replace("0-1,", "")).key != key
    assert Genome.parse(TEXT.replace("cos(x)", "cos(a*x)")).key != key


@pytest.mark.parametrize(
    ("text", "at", "reason"),
    [
        ("layers=12 neurons=48 activation=tanh(x)", "12", "outside 3 to 11"),
        ("layers=6 neurons=49 activation=tanh(x)", "49", r"\bneurons=\d+\b.*\b20 to 50\b.*\b2 \(at position"),
        ("layers=6 neurons=52 activation=tanh(x)", "52", r"\bneurons=\d+\b.*\b20 to 50\b.*\b2 \(at position"),
        ("layers=6 neurons=18 activation=tanh(x)", "18", r"\bneurons=\d+\b.*\b20 to 50\b.*\b2 \(at position"),
        ("layers=6 neurons=48 activation=x*x*x*x*x", "x*x", r"\b9 operators\b.*\b7\b"),
        ("layers=6 neurons=48 activation=a*sin(b*sin(c*sin(d*x)))", "a*sin", r"\b4 parameters\b.*\b3\b"),
        ("layers=6 neurons=48 shortcuts=0-3,2-4 activation=tanh(x)", "2-4", "intersects 0-3"),
        ("layers=6 neurons=48 shortcuts=2-4,0-3 activation=tanh(x)", "2-4", "intersects 0-3"),
        ("layers=6 neurons=48 shortcuts=[0-2, 3-6] activation=tanh(x)", "3-6", "last layer"),
        ("layers=6 neurons=48 shortcuts=2-1 activation=tanh(x)", "2-1", "later layer"),
        ("layers=6 neurons=48 shortcuts=0+1 activation=tanh(x)", "0+1", "from-to"),
        ("layers=6 neurons=48 shortcuts=[0-1 activation=tanh(x)", "[0-1", "never closed"),
        ("layers=6 neurons=48 activation=sin(tan(x))", "tan", r"\boperator tan\b.* tanh\b"),
        ("layers=6 neurons=48 activation=sin(x", "(x", "never closed"),
        ("layers=6 neurons=48 activation='sin(x)", "'", "never closed"),
        ("layers=six neurons=48 activation=sin(x)", "six", "whole number"),
        (f"layers={5000 * '9'} neurons=48 activation=sin(x)", 5000 * "9", "9 digits"),
        (f"layers=6 neurons=48 shortcuts=0-{5000 * '9'} activation=sin(x)", f"0-{5000 * '9'}", "from-to"),
        ("layers=1 neurons=48 activation=sin(x)", "1", "2 layers"),
        ("layers=3 neurons=0 activation=sin(x)", "0", "1 neuron"),
        ("layers= neurons=48 activation=sin(x)", "neurons", "empty"),
        (
            "layers=6 width=48 activation=sin(x)",
            "width",
            r"\bwidth\b.*\blayers, neurons, shortcuts, activation\b",
        ),
        ("layers=6 neuron=48 activation=sin(x)", "neuron", r"\bneuron\b.* neurons\?"),
        ("layers=6 neurons=48 layers=7 activation=sin(x)", "layers=7", "twice"),
        ("6 48 sin(x)", "6", "expected name=value"),
        ("big layers=6 neurons=48 activation=sin(x)", "big", "expected name=value"),
    ],
)
def test_mistakes_in_a_genome_are_placed_and_explained(text: str, at: str, reason: str) -> None:
    with pytest.raises(GenomeSyntaxError, match=reason) as caught:
        Genome.parse(text, PAPER)
    assert caught.value.position == text.index(at)
    assert caught.value.text == text


@pytest.mark.parametrize("missing", ["layers", "neurons", "activation"])
def test_a_missing_field_is_named(missing: str) -> None:
    fields = {"layers": "6", "neurons": "48", "activation": "sin(x)"}
    text = " ".join(f"{name}={value}" for name, value in fields.items() if name != missing)
    with pytest.raises(GenomeSyntaxError, match=f"field {missing} .*{missing}=") as caught:
        Genome.parse(text)
    assert caught.value.position == len(text)
    with pytest.raises(GenomeSyntaxError, match=r"field layers .*layers="):
        Genome.parse("")


@pytest.mark.parametrize(
    "change",
    [
        {"layers": "6"},
        {"layers": True},
        {"neurons": 4.5},
        {"shortcuts": "0-1"},
        {"shortcuts": [[0]]},
        {"shortcuts": [0, 1]},
        {"shortcuts": [[0, "1"]]},
        {"shortcuts": [[0, 9]]},
        {"activation": "tanh(x)"},
        {"extra": 1},
    ],
)
def test_malformed_json_is_refused(change: dict[str, object]) -> None:
    data = Genome.parse(TEXT).to_json() | change
    with pytest.raises(GenomeError):
        Genome.from_json(data)


def test_json_that_is_no_genome_is_refused() -> None:
    with pytest.raises(GenomeError, match=r"genome .*activation.*\[1\]"):
        Genome.from_json([1])
    with pytest.raises(GenomeError, match=r"genome .*activation.*none"):
        Genome.from_json({})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Structure(6.5, 48), r"\blayers is 6\.5\b.*\bwhole number\b"),
        (lambda: Structure(6, "48"), r"\bneurons is '48'.*\bwhole number\b"),
        (lambda: Structure(6, 48, ((0.7, 1),)), r"\bshortcut is 0\.7\b.*\bwhole number\b"),
        (lambda: Structure(6, 48, (0, 1)), r"\bshortcut is 0\b.*\bpair\b.*\(0, 1\)"),
        (lambda: Genome("layers=6 neurons=48", "tanh(x)"), "needs a Structure.*`Genome.parse` reads text"),
        (lambda: Activation("tanh(x)"), "`Activation.parse` reads text"),
        (lambda: Space(neurons=(20, 50)), "neurons are"),
        (lambda: Space(min_layers=3.5), r"\bwhole numbers\b.*\blayers 3\.5 to 11\b"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(make, message) -> None:
    with pytest.raises(GenomeError, match=message):
        make()
