"""Texts that people write: genomes, search spaces, times and budgets."""

import math

import pytest
from fuzzing import HUGE, LAW, NUMBERS, batch, joined, mutated, tries
from hypothesis import given, note
from hypothesis import strategies as st

from evopinn.catalogue import find_problem
from evopinn.errors import GenomeSyntaxError
from evopinn.genome import Activation, Genome, Space, Structure
from evopinn.genome.operators import OPERATORS
from evopinn.run.budget_plan import parse_budget
from evopinn.training import find_optimiser, parse_duration

ACTIVATIONS = ("a*tanh(b*x)*cos(x)", "x/(exp(x)+exp(-x))", "min(a*(exp(b*x)+exp(-b*x)), atan(c*x))", "x**2")
ACTIVATION_TOKENS = (*OPERATORS, *"xabαβ12()+-*/^,·", "**", "1/", "exp(x)", "-x")
GENOMES = (
    "layers=6 neurons=48 shortcuts=0-1,1-2 activation=asinh(x)*cos(x)",
    "neurons=20 layers=3 activation='a*tanh(b*x)' shortcuts=[0-1]",
    "layers=4 neurons=8 shortcuts=none activation=x",
)
GENOME_TOKENS = (
    "layers=",
    "neurons=",
    "shortcuts=",
    "activation=",
    "3",
    "20",
    "0-1",
    "1-2,0-1",
    "tanh(x)",
    "none",
)
SPACES = (
    "layers=2-12 neurons=8-64:4 operators=7 parameters=3",
    "unary=sin,tanh binary=add,mul extra=none",
    "layers=3 neurons=20",
)
SPACE_TOKENS = (
    *(f"{name}=" for name in ("layers", "neurons", "operators", "unary", "extra")),
    "2-9",
    ":3",
    "sin",
)
DURATIONS = ("1h30m", "10 min", "20s", "2 d", ".5h", "1.5 hours 3 minutes")
BUDGETS = (*DURATIONS, "30_000 epochs", "300 trainings", "1,000 evaluations")
OPTIMISERS = ("lbfgs", "adam:500+lm", "adam", "lm")
PROBLEMS = ("heat", "klein-gordon:II", "burgers:I", "my_problem.py:name", "lame")


def read_activation(text):
    activation = Activation.parse(text)
    assert Activation.parse(activation.text) == activation
    assert activation.latex()


def read_structure(text):
    structure = Structure.parse(text)
    assert Structure.parse(structure.text) == structure


def read_genome(text):
    genome = Genome.parse(text)
    assert Genome.parse(genome.text) == genome
    assert Genome.from_json(genome.to_json()) == genome


def read_space(text):
    space = Space.parse(text)
    assert Space.parse(space.text) == space
    assert space.count_models() > 0


def read_duration(text):
    assert 0 < parse_duration(text) < math.inf


def read_budget(text):
    amount = parse_budget(text)
    assert 0 <= amount.value < math.inf


READERS = {
    "activation": (read_activation, ACTIVATIONS, ACTIVATION_TOKENS),
    "structure": (read_structure, tuple(text.partition(" activation")[0] for text in GENOMES), GENOME_TOKENS),
    "genome": (read_genome, GENOMES, GENOME_TOKENS),
    "space": (read_space, SPACES, SPACE_TOKENS),
    "duration": (read_duration, DURATIONS, ("1", "5", ".", "h", "min", "s", " ", "ms")),
    "budget": (read_budget, BUDGETS, ("1", "5", ",", "_", "epochs", "trainings", "h", " ")),
    "optimizer": (find_optimiser, OPTIMISERS, ("adam", "lm", "lbfgs", ":", "+", "5")),
    "problem": (find_problem, PROBLEMS, ("heat", "lame", ":", "I", ".py", "/", "burgers")),
}


@pytest.mark.parametrize("name", READERS)
def test_a_text_is_read_or_refused(name):
    reader, seeds, tokens = READERS[name]

    @tries(100, 500)
    @given(mutated(seeds, tokens) | joined(tokens) | mutated(seeds))
    def hold(text):
        LAW.holds(reader, text)

    hold()


@pytest.mark.parametrize("name", READERS)
def test_many_texts_are_read_or_refused(name):
    reader, seeds, tokens = READERS[name]

    @tries(4, 180)
    @given(st.integers(0, 2**32))
    def hold(seed):
        for text in batch(seed, seeds, tokens):
            note(text)
            LAW.holds(reader, text)

    hold()


@pytest.mark.parametrize("huge", HUGE)
@pytest.mark.parametrize("name", READERS)
def test_too_much_of_something_is_refused_soon(name, huge):
    reader, seeds, _ = READERS[name]
    for text in (HUGE[huge], seeds[0] + HUGE[huge], seeds[0].replace("3", HUGE[huge])):
        LAW.holds(reader, text)


@tries(100, 500)
@given(NUMBERS)
def test_a_number_of_seconds_is_taken_or_refused(number):
    seconds = LAW.holds(parse_duration, number)
    assert seconds is None or math.isfinite(seconds)


def mistake(text):
    """What is said of a text that is no activation function."""
    try:
        Activation.parse(text)
    except GenomeSyntaxError as error:
        return error
    return None


@tries(100, 500)
@given(joined(ACTIVATION_TOKENS))
def test_a_mistake_is_shown_where_it_is_and_acts_on_no_terminal(text):
    if error := LAW.holds(mistake, text):
        assert 0 <= error.position <= len(text)
        assert all(line.isprintable() for line in str(error).split("\n")[1:])
