"""The residuals near a point, r(θ + d) ≈ r + J·d, and the damped least-squares problems of this model.

All ways of solving them give x = −(JᵀJ + λ·diag(s))⁻¹ Jᵀw for a weighting w of the residuals:

- as it stands, by a Cholesky factor of the matrix in the brackets, where there are at most as many parameters
  as residuals;
- where there are more, by one of J·diag(s)⁻¹·Jᵀ + λ, which has a row for each residual (Woodbury's identity);
- without J, by conjugate gradients, where J does not fit into the memory that is allowed.
"""

from collections.abc import Callable
from typing import Protocol, cast

import torch
from torch import Tensor

from evopinn.engine import read_numbers
from evopinn.training.optimiser import LeastSquares

Solve = Callable[[Tensor], Tensor]
"""From a weighting w of the residuals to x."""

Scale = Callable[[Tensor], Tensor]
"""From the diagonal of JᵀJ to s."""


class Linearised(Protocol):
    """The residuals of an objective near a point.

    Attributes:
        residuals: r, shape (residuals,).
        gradient: Jᵀr, shape (parameters,).
        scale: s, shape (parameters,).
    """

    residuals: Tensor
    gradient: Tensor
    scale: Tensor

    def change(self, direction: Tensor) -> Tensor:
        """J·v for a direction v in θ, shape (residuals,)."""
        ...

    def damped(self, damping: float) -> Solve | None:
        """The solution for a damping λ; None if rounding leaves no positive definite matrix."""
        ...


class Dense:
    """The model with its Jacobian in memory.

    Args:
        residuals: r.
        jacobian: J.
        scale: Makes s.
        columns: The number of columns of the matrix that are made at a time.
    """

    def __init__(self, residuals: Tensor, jacobian: Tensor, scale: Scale, columns: int) -> None:
        self.residuals, self._jacobian = residuals, jacobian
        self.gradient = jacobian.T @ residuals
        self._dual = jacobian.shape[1] > jacobian.shape[0]
        if self._dual:
            self.scale = scale(jacobian.square().sum(dim=0))
            self._gram = lower_gram((jacobian / self.scale.sqrt()).T, columns)
        else:
            self._gram = lower_gram(jacobian, columns)
            self.scale = scale(self._gram.diagonal().clone())

    def change(self, direction: Tensor) -> Tensor:
        """J·v."""
        return self._jacobian @ direction

    def damped(self, damping: float) -> Solve | None:
        """The solution for a damping λ; None if the matrix has no factor."""
        matrix = self._gram.clone()
        matrix.diagonal().add_(damping * (torch.ones_like(matrix[0]) if self._dual else self.scale))
        factor = _cholesky(matrix)
        if factor is None:
            return None
        return self._by_residuals(factor) if self._dual else self._by_parameters(factor)

    def _by_parameters(self, factor: Tensor) -> Solve:
        return lambda w: -_solved(factor, self._jacobian.T @ w)

    def _by_residuals(self, factor: Tensor) -> Solve:
        return lambda w: -(self._jacobian.T @ _solved(factor, w)) / self.scale


class MatrixFree:
    """The model without its Jacobian: only products with it are made.

    The diagonal of JᵀJ is not known here, so s is its mean, from one product Jᵀw with signs w.

    Args:
        objective: Gives the products.
        theta: The point.
        residuals: r there.
        iterations: The maximum number of iterations of conjugate gradients.
        tolerance: They end when the residual of the system has fallen to this, relative to its start.
    """

    def __init__(
        self, objective: LeastSquares, theta: Tensor, residuals: Tensor, iterations: int, tolerance: float
    ) -> None:
        self.residuals = residuals
        self._objective, self._theta = objective, theta
        self._iterations, self._tolerance = iterations, tolerance
        self.gradient = objective.transposed_product(theta, residuals)
        generator = torch.Generator().manual_seed(0)
        signs = torch.randint(0, 2, residuals.shape, generator=generator).to(residuals) * 2 - 1
        trace = objective.transposed_product(theta, signs).square().sum()
        self.scale = (trace / len(theta)).expand_as(theta)

    def change(self, direction: Tensor) -> Tensor:
        """J·v."""
        return self._objective.jacobian_product(self._theta, direction)

    def damped(self, damping: float) -> Solve:
        """The rough solution for a damping λ."""

        def matrix(x: Tensor) -> Tensor:
            product = self._objective.transposed_product(self._theta, self.change(x))
            return product.add_(damping * self.scale * x)

        def solve(w: Tensor) -> Tensor:
            right = -self._objective.transposed_product(self._theta, w)
            return conjugate_gradients(matrix, right, self._iterations, self._tolerance)

        return solve


def conjugate_gradients(
    matrix: Callable[[Tensor], Tensor], right: Tensor, iterations: int, tolerance: float
) -> Tensor:
    """A rough solution x of M·x = b for a symmetric positive definite M.

    It ends after this many iterations, or when the residual b − M·x has fallen to the tolerance times b. Each
    iteration reads one number from a device: whether it is the last one.
    """
    x, left = torch.zeros_like(right), right.clone()
    direction, size = left, left @ left
    enough = tolerance**2 * size
    for _ in range(iterations):
        if not read_numbers(size > enough)[0]:
            break
        image = matrix(direction)
        step = size / (direction @ image)
        x, left = x + step * direction, left - step * image
        before, size = size, left @ left
        direction = left + size / before * direction
    return x


def lower_gram(rows: Tensor, columns: int) -> Tensor:
    """The lower triangle of RᵀR, for half of the cost of the whole; above are zeros and some of the rest.

    Args:
        rows: R.
        columns: The number of columns of the product that are made at a time, each from the diagonal on.
    """
    size = rows.shape[1]
    product = rows.new_zeros(size, size)
    for start in range(0, size, columns):
        part = slice(start, start + columns)
        product[start:, part] = rows[:, start:].T @ rows[:, part]
    return product


def _cholesky(matrix: Tensor) -> Tensor | None:
    """The factor of a matrix, of which only the lower triangle is looked at, if it is positive definite."""
    found = torch.linalg.cholesky_ex(matrix)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    factor, failed = cast("tuple[Tensor, Tensor]", found)
    return None if read_numbers(failed)[0] else factor


def _solved(factor: Tensor, right: Tensor) -> Tensor:
    return torch.cholesky_solve(right.unsqueeze(1), factor).squeeze(1)
