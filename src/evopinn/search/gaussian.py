"""The Gaussian process and the upper confidence bound of the paper's Bayesian optimisation."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.float64]

JITTER = 1e-6
"""Added to the diagonal of the covariance: the objective's noise, and what keeps the matrix regular."""

LENGTHS = (1e-1, 1e2)
"""The range of length scales to look in, where one step of a whole number has length 1."""

SAMPLES = 2000
"""Number of random points at which the acquisition function is evaluated, and again around the best."""


def matern(first: Array, second: Array, length: float) -> Array:
    """The Matérn kernel of smoothness 5/2 with unit variance, between the rows of two arrays.

    k(r) = (1 + s + s²/3) e⁻ˢ with s = √5 r / length.
    """
    s = np.sqrt(5.0) * np.linalg.norm(first[:, None] - second[None], axis=2) / length
    return (1 + s + s**2 / 3) * np.exp(-s)


@dataclass(frozen=True)
class GaussianProcess:
    """A Gaussian process with zero mean and unit variance, conditioned on values that are standardised first.

    Attributes:
        points: The points with known values, one row each.
        length: The length scale, the same in all directions.
        mean: Of the known values.
        deviation: Their standard deviation.
        inverse: The inverse of the Cholesky factor of their covariance.
        whitened: That inverse times the standardised values.
    """

    points: Array
    length: float
    mean: float
    deviation: float
    inverse: Array
    whitened: Array

    @classmethod
    def fit(cls, points: Array, values: Array) -> "GaussianProcess":
        """The process with the length scale that makes the values most likely."""
        lengths = _geometric_range(*LENGTHS, 15)
        while lengths[-1] > 1.05 * lengths[0]:
            surprises = [
                cls.with_length(points, values, length).negative_log_likelihood for length in lengths
            ]
            best = int(np.argmin(surprises))
            # Its neighbours bracket the best; look between them once more.
            lengths = _geometric_range(lengths[max(best - 1, 0)], lengths[min(best + 1, len(lengths) - 1)], 7)
        return cls.with_length(points, values, lengths[len(lengths) // 2])

    @classmethod
    def with_length(cls, points: Array, values: Array, length: float) -> "GaussianProcess":
        """The process with a length scale."""
        mean, deviation = float(values.mean()), float(values.std()) or 1.0
        covariance = matern(points, points, length) + JITTER * np.eye(len(points))
        inverse = np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)), np.float64)
        return cls(points, length, mean, deviation, inverse, inverse @ ((values - mean) / deviation))

    @property
    def negative_log_likelihood(self) -> float:
        """Minus the logarithm of the standardised values' likelihood, but for a constant."""
        return float(self.whitened @ self.whitened / 2 - np.log(np.diag(self.inverse)).sum())

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the process in the rows of an array."""
        explained = self.inverse @ matern(self.points, points, self.length)
        deviation = np.sqrt(np.maximum(1 - np.sum(explained**2, axis=0), 0.0))
        return self.mean + self.deviation * (self.whitened @ explained), self.deviation * deviation

    def upper_bound(self, points: Array, kappa: float) -> Array:
        """Mean + κ · standard deviation."""
        mean, deviation = self.predict(points)
        return mean + kappa * deviation


def most_promising(process: GaussianProcess, bounds: Array, kappa: float, rng: Generator) -> Array:
    """A point near the maximum of the upper confidence bound; a cell has width 1.

    Args:
        process: The fitted process.
        bounds: Least and most in each direction, one row each.
        kappa: The weight of uncertainty.
        rng: Draws the points.
    """
    least, most = bounds.T
    samples = rng.uniform(least, most, (SAMPLES, len(bounds)))
    best = samples[np.argmax(process.upper_bound(samples, kappa))]
    around = np.clip(best + rng.normal(size=(SAMPLES, len(bounds))) / 2, least, most)
    candidates = np.vstack([best, around])
    return candidates[np.argmax(process.upper_bound(candidates, kappa))]


def _geometric_range(least: float, most: float, number: int) -> list[float]:
    """Numbers in equal ratios."""
    return [least * (most / least) ** (k / (number - 1)) for k in range(number)]
