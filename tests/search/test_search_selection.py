"""Selection: linear ranking as the formula says, elitists, what ties and failures do."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from evopinn.genome import Genome
from evopinn.search import Score
from evopinn.search.selection import (
    Individual,
    distinct,
    elitist_count,
    random_members,
    random_pair,
    ranked,
    ranked_pair,
    ranking_probabilities,
)

GENOME = Genome.parse("layers=3 neurons=20 activation=tanh(x)")
OTHER = Genome.parse("layers=4 neurons=20 activation=tanh(x)")
DRAWS = 20_000


def population(*losses: float) -> list[Individual]:
    return [Individual(GENOME, task, Score(loss)) for task, loss in enumerate(losses)]


@pytest.mark.parametrize("size", [2, 3, 7, 30, 1000])
def test_the_best_is_selected_as_often_as_eta_says(size: int) -> None:
    chances = ranking_probabilities(size)
    # With η⁻ = 2/(1 + S) and η⁺ = 2S/(1 + S) the formula is p_i = 2i/(S(S + 1)).
    expected = 2 * np.arange(1, size + 1) / (size * (size + 1))
    np.testing.assert_allclose(chances, expected, rtol=1e-12)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert chances[0] * size == pytest.approx(2 / (1 + size))
    assert chances[-1] * size == pytest.approx(2 * size / (1 + size))


@pytest.mark.parametrize("size", [2, 5, 12])
def test_pairs_are_drawn_as_often_as_ranking_says(size: int) -> None:
    people = population(*range(size))
    rng = np.random.default_rng(1)
    counts = np.zeros((size, size))
    for _ in range(DRAWS):
        first, second = ranked_pair(people, rng)
        counts[first.task, second.task] += 1
    chances = (2 * np.arange(1, size + 1) / (size * (size + 1)))[::-1]  # best first
    pairs = np.outer(chances, chances) / (1 - chances)[:, None]  # the second one without the first
    off = ~np.eye(size, dtype=bool)
    assert counts[~off].sum() == 0
    assert chisquare(counts[off], DRAWS * pairs[off]).pvalue > 0.01
    assert chisquare(counts.sum(axis=1), DRAWS * chances).pvalue > 0.01


def test_random_pairs_are_all_equally_frequent() -> None:
    people = population(*range(5))
    rng = np.random.default_rng(2)
    counts = np.zeros((5, 5))
    for _ in range(DRAWS):
        first, second = random_pair(people, rng)
        counts[first.task, second.task] += 1
    assert np.trace(counts) == 0
    assert chisquare(counts[~np.eye(5, dtype=bool)]).pvalue > 0.01


def test_random_members_are_different_and_equally_frequent() -> None:
    people = population(*range(6))
    rng = np.random.default_rng(3)
    counts = np.zeros(6)
    for _ in range(DRAWS):
        chosen = [each.task for each in random_members(people, 2, rng)]
        assert len(set(chosen)) == 2
        counts[chosen] += 1
    assert chisquare(counts).pvalue > 0.01
    assert len(random_members(people, 9, rng)) == 6


@given(st.lists(st.sampled_from([0.0, 1.0, 2.5, 1e300, inf, nan]), min_size=1, max_size=20))
def test_failures_rank_last_and_equals_keep_their_order(losses: list[float]) -> None:
    order = [each.task for each in ranked(population(*losses))]
    keys = [(inf if np.isnan(loss) else loss, task) for task, loss in enumerate(losses)]
    assert order == [task for _, task in sorted(keys)]


@pytest.mark.parametrize(
    ("size", "share", "count"),
    [(10, 0.25, 3), (8, 0.25, 2), (15, 0.25, 4), (30, 0.1, 3), (70, 0.1, 7), (5, 0.0, 0), (5, 1.0, 5)],
)
def test_elitists_are_rounded_up(size: int, share: float, count: int) -> None:
    assert elitist_count(size, share) == count


def test_distinct_keeps_the_first_of_each_genome() -> None:
    people = [Individual(genome, task, Score(1.0)) for task, genome in enumerate([GENOME, GENOME, OTHER])]
    assert [each.task for each in distinct(people)] == [0, 2]
