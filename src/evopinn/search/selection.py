"""Selection of parents and survivors: linear ranking, elitists, merging."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evopinn.genome import Genome
from evopinn.search.ranking import Rank
from evopinn.search.task import Score


@dataclass(frozen=True)
class Individual:
    """A trained member of a population.

    Attributes:
        genome: The trained genome.
        task: Number of the task that trained it.
        score: The score of the training.
    """

    genome: Genome
    task: int
    score: Score


def ranked(individuals: Iterable[Individual]) -> list[Individual]:
    """Individuals, best first; ties keep their order, failures are last."""
    return sorted(individuals, key=lambda individual: Rank.of(individual.score))


def ranking_probabilities(size: int) -> NDArray[np.float64]:
    """Linear ranking: how likely each of S individuals is selected, from rank 1 (the worst) to S (the best).

    p_i = (η⁻ + (η⁺ - η⁻)(i - 1)/(S - 1)) / S with η⁻ = 2/(1 + S) and η⁺ = 2S/(1 + S).

    Examples:
        >>> ranking_probabilities(3).round(3).tolist()
        [0.167, 0.333, 0.5]
    """
    if size == 1:
        return np.ones(1)
    worst, best = 2 / (1 + size), 2 * size / (1 + size)
    return (worst + (best - worst) * np.arange(size) / (size - 1)) / size


def ranked_pair(population: Sequence[Individual], rng: Generator) -> tuple[Individual, Individual]:
    """Two different individuals, drawn by linear ranking one after the other, without replacement.

    Args:
        population: At least two individuals, best first.
        rng: Where the random numbers come from.
    """
    best_first = ranking_probabilities(len(population))[::-1]
    pair = rng.choice(len(population), 2, replace=False, p=best_first)
    return population[int(pair[0])], population[int(pair[1])]


def random_pair(population: Sequence[Individual], rng: Generator) -> tuple[Individual, Individual]:
    """Two different individuals, all pairs equally likely."""
    pair = rng.choice(len(population), 2, replace=False)
    return population[int(pair[0])], population[int(pair[1])]


def random_members(population: Sequence[Individual], size: int, rng: Generator) -> list[Individual]:
    """This number of different individuals (all, if there are fewer), every set equally likely."""
    chosen = rng.choice(len(population), min(size, len(population)), replace=False)
    return [population[i] for i in chosen]


def elitist_count(size: int, share: float) -> int:
    """ceil(S · R_e), unharmed by rounding: a tenth of 30 is 3, though 30 · 0.1 is a little more.

    Examples:
        >>> elitist_count(30, 0.1), elitist_count(10, 0.25)
        (3, 3)
    """
    return math.ceil(size * share - 1e-9)


def distinct(individuals: Iterable[Individual]) -> Iterator[Individual]:
    """The first individual of each genome."""
    seen: set[str] = set()
    for individual in individuals:
        if individual.genome.key not in seen:
            seen.add(individual.genome.key)
            yield individual
