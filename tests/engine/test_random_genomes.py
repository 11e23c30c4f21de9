"""Five hundred genomes of the whole search space, each engine against nested automatic differentiation."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from agreement import disagreement, finite

from evopinn.catalogue import find_problem
from evopinn.engine import ENGINES, AutogradEngine
from evopinn.genome import PAPER, MutationRates, initial_population, mutate
from evopinn.problem import Grid

GENOMES = 500
CHUNK = 20


@cache
def genomes():
    """An initial population and its descendants, each mutated in every way."""
    rng = np.random.default_rng(11)
    found = list(initial_population(PAPER, GENOMES // 4, rng))
    while len(found) < GENOMES:
        parent = found[int(rng.integers(len(found)))]
        found.append(mutate(parent, PAPER, MutationRates(1, 1, 1, 1), rng).genome)
    return found


@pytest.fixture(scope="module")
def problem():
    points = Grid(interior=(5, 5), initial=4, boundary=6, test=(3, 3))
    return replace(find_problem("klein-gordon"), points=points)


@pytest.mark.parametrize("start", range(0, GENOMES, CHUNK))
def test_engines_agree(problem, start):
    healthy = 0
    for genome in genomes()[start : start + CHUNK]:
        oracle = AutogradEngine(problem, genome)
        theta = oracle.layout.initial(1)
        healthy += finite(*oracle.loss_and_gradient(theta))
        for name in ("taylor", "fused"):
            wrong = disagreement(ENGINES[name](problem, genome), oracle, theta)
            assert not wrong, f"{name}, {genome.text}: {wrong}"
    assert healthy  # many random genomes overflow at once; some do not
