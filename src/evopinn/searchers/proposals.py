"""What Bayesian optimisation tries next, in a grid of layers, neurons and activation functions."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from evopinn.searchers.gaussian import GaussianProcess, most_promising

Cell = tuple[int, ...]
"""Indices of a number of layers, a number of neurons and an activation function."""


class Proposer(Protocol):
    """Proposes cells of a grid and learns what they are worth."""

    def propose(self, number: int) -> list[Cell]:
        """So many cells to try side by side."""
        ...

    def learn(self, costs: Sequence[float]) -> None:
        """The cost of each cell that was proposed last, in their order; the less the better."""
        ...


class MixedProposer:
    """Optuna's Gaussian process on a mixed space: ordered numbers, and categories without any order.

    Args:
        shape: How many choices there are in each direction; the last direction is the categories.
        startup: How many cells are drawn at random before the process takes over.
        seed: Everything follows from it and from what is learnt.
    """

    def __init__(self, shape: Cell, startup: int, seed: int) -> None:
        *ordered, categories = shape
        self._distributions: dict[str, BaseDistribution] = {
            str(axis): IntDistribution(0, size - 1) for axis, size in enumerate(ordered)
        }
        self._distributions[str(len(ordered))] = CategoricalDistribution(range(categories))
        with _quiet():
            self._study = optuna.create_study(
                sampler=optuna.samplers.GPSampler(
                    seed=seed,
                    independent_sampler=optuna.samplers.RandomSampler(seed=seed),
                    n_startup_trials=startup,
                )
            )
        self._trials: list[optuna.Trial] = []

    def propose(self, number: int) -> list[Cell]:
        """So many cells to try side by side; each knows of those before it."""
        self._trials = [self._study.ask(self._distributions) for _ in range(number)]
        return [tuple(trial.params[axis] for axis in self._distributions) for trial in self._trials]

    def learn(self, costs: Sequence[float]) -> None:
        """The cost of each cell that was proposed last."""
        for trial, cost in zip(self._trials, costs, strict=True):
            self._study.tell(trial, cost)


@dataclass(frozen=True)
class _Observed:
    """A real point that was rounded to a cell, and what the cell was worth."""

    point: np.ndarray
    worth: float


class RoundedProposer:
    """As in the paper: all indices are real numbers, rounded only to be tried.

    A Gaussian process is fitted to minus the cost, and the highest upper confidence bound is tried next.
    Categories are thereby falsely ordered.

    Args:
        shape: How many choices there are in each direction.
        startup: How many points are drawn at random before the process takes over.
        seed: Everything follows from it and from what is learnt.
        kappa: κ of the upper confidence bound.
    """

    def __init__(self, shape: Cell, startup: int, seed: int, kappa: float) -> None:
        self._bounds = np.array([(0.0, size - 1.0) for size in shape])
        self._startup = startup
        self._kappa = kappa
        self._rng = np.random.default_rng(seed)
        self._observed: list[_Observed] = []
        self._points: list[np.ndarray] = []

    def propose(self, number: int) -> list[Cell]:
        """So many cells; for those after the first, the ones before count as if they came out as expected."""
        self._points = []
        believed = list(self._observed)
        for _ in range(number):
            if len(self._observed) < self._startup:
                self._points.append(self._rng.uniform(self._bounds[:, 0], self._bounds[:, 1]))
                continue
            process = GaussianProcess.fit(
                np.array([each.point for each in believed]), np.array([each.worth for each in believed])
            )
            point = most_promising(process, self._bounds, self._kappa, self._rng)
            self._points.append(point)
            believed.append(_Observed(point, float(process.predict(point[None])[0][0])))
        return [tuple(int(index) for index in np.rint(point)) for point in self._points]

    def learn(self, costs: Sequence[float]) -> None:
        """The cost of each cell that was proposed last."""
        self._observed += [_Observed(point, -cost) for point, cost in zip(self._points, costs, strict=True)]


@contextmanager
def _quiet() -> Generator[None]:
    """Optuna announces each study on the standard error stream; not here."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
