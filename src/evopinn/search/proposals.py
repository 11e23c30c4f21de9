"""Proposals of Bayesian optimisation in a grid of layers, neurons, activation functions and starts."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from evopinn.search.gaussian import GaussianProcess, most_promising

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Cell = tuple[int, ...]
"""Indices of choices, one in each direction: those with an order first, then categories."""


class Proposer(Protocol):
    """Proposes cells of a grid and learns their costs."""

    def propose(self, number: int) -> list[Cell]:
        """Cells to try in parallel."""
        ...

    def learn(self, costs: Sequence[float]) -> None:
        """Learn the cost of each cell of the last proposal, in order; less is better."""
        ...


class MixedProposer:
    """Optuna's Gaussian process on a mixed space: ordered numbers, and categories without any order.

    Args:
        shape: The number of choices in each direction; the last directions hold categories.
        startup: The number of random cells before the process takes over.
        seed: With the learnt costs, it determines all proposals.
        categories: The number of directions with categories.
    """

    def __init__(self, shape: Cell, startup: int, seed: int, categories: int = 1) -> None:
        import optuna
        from optuna.distributions import CategoricalDistribution, IntDistribution

        ordered = len(shape) - categories
        self._distributions: dict[str, BaseDistribution] = {
            str(axis): IntDistribution(0, size - 1)
            if axis < ordered
            else CategoricalDistribution(range(size))
            for axis, size in enumerate(shape)
        }
        with _without_announcements():
            self._study = optuna.create_study(
                sampler=optuna.samplers.GPSampler(
                    seed=seed,
                    independent_sampler=optuna.samplers.RandomSampler(seed=seed),
                    n_startup_trials=startup,
                )
            )
        self._trials: list[optuna.Trial] = []

    def propose(self, number: int) -> list[Cell]:
        """Cells to try in parallel; each accounts for those before it."""
        self._trials = [self._study.ask(self._distributions) for _ in range(number)]
        return [tuple(trial.params[axis] for axis in self._distributions) for trial in self._trials]

    def learn(self, costs: Sequence[float]) -> None:
        """Learn the cost of each cell of the last proposal."""
        for trial, cost in zip(self._trials, costs, strict=True):
            self._study.tell(trial, cost)


@dataclass(frozen=True)
class _Observed:
    """A real point that was rounded to a cell, and the cost of the cell."""

    point: np.ndarray
    worth: float


class RoundedProposer:
    """A proposer as in the paper: all indices are real numbers, rounded only for a trial.

    A Gaussian process is fitted to minus the cost, and the highest upper confidence bound is tried next.
    Categories are thereby falsely ordered.

    Args:
        shape: The number of choices in each direction.
        startup: The number of random points before the process takes over.
        seed: With the learnt costs, it determines all proposals.
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
        """Cells to try in parallel; each assumes the expected cost for those before it."""
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
        """Learn the cost of each cell of the last proposal."""
        self._observed += [_Observed(point, -cost) for point, cost in zip(self._points, costs, strict=True)]


@contextmanager
def _without_announcements() -> Generator[None]:
    """Silence the line that Optuna prints to stderr for each study."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
