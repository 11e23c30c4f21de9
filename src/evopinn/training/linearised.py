"""Residuals near a point: r(θ + d) ≈ r + J·d, and the damped least-squares problems of this model.

All ways of solving them give x = −(JᵀJ + λ·diag(s))⁻¹ Jᵀw for a weighting w of the residuals:

- as it stands, by a Cholesky factor of the matrix in the brackets, where there are at most as many parameters
  as residuals;
- where there are more, by one of J·diag(s)⁻¹·Jᵀ + λ, which has a row for each residual (Woodbury's identity);
- without J, by conjugate gradients, where J does not fit into the memory that is allowed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor

from evopinn.engine import fetched
from evopinn.training.cost import Work
from evopinn.training.optimizer import LeastSquares

Solve = Callable[[Tensor], Tensor]
"""From a weighting w of the residuals to x."""

Scale = Callable[[Tensor], Tensor]
"""From the diagonal of JᵀJ to s."""

_COLUMNS = 256
"""Columns of a product RᵀR that are made at a time, each from the diagonal on."""

_MOST_ITERATIONS = 60
_CLOSE_ENOUGH = 1e-3
"""Conjugate gradients end after so many iterations, or when the residual of the system has fallen to this."""


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
        """What solves the problem with a damping λ; None if rounding leaves no positive definite matrix."""
        ...


def linearised(
    objective: LeastSquares, theta: Tensor, residuals: Tensor, scale: Scale, memory: float
) -> Linearised:
    """The residuals near a point.

    Args:
        objective: Gives residuals and their derivatives.
        theta: The point.
        residuals: Those there.
        scale: Makes s.
        memory: Bytes that J and a square matrix of its smaller size may take.
    """
    if dense_bytes(len(residuals), len(theta), theta.element_size()) > memory:
        return MatrixFree(objective, theta, residuals)
    return Dense(*objective.residuals_and_jacobian(theta), scale)


@dataclass(frozen=True)
class Costs:
    """What a model costs, in epochs.

    Attributes:
        model: To make it.
        trial: To solve a damped problem for two weightings.
    """

    model: float
    trial: float


def costs(work: Work, residuals: int, parameters: int, each: int, memory: float) -> Costs:
    """What `linearised` will cost: known beforehand, so that nothing is begun that cannot be paid for.

    Args:
        work: What its parts cost.
        residuals: How many there are.
        parameters: How many there are.
        each: Bytes of a number.
        memory: As for `linearised`.
    """
    if dense_bytes(residuals, parameters, each) > memory:
        return Costs(2 * work.gradient, 2 * _MOST_ITERATIONS * 2 * work.gradient)
    least = min(residuals, parameters)
    return Costs(
        work.jacobian(residuals, parameters) + work.product * residuals * parameters * least / 2,
        work.product * (least**3 / 3 + 4 * residuals * parameters),
    )


def dense_bytes(residuals: int, parameters: int, each: int) -> int:
    """What J, a matrix of its smaller size and its factor take."""
    return each * (residuals * parameters + 2 * min(residuals, parameters) ** 2)


class Dense:
    """The model with its Jacobian in memory.

    Args:
        residuals: r.
        jacobian: J.
        scale: Makes s.
    """

    def __init__(self, residuals: Tensor, jacobian: Tensor, scale: Scale) -> None:
        self.residuals, self._jacobian = residuals, jacobian
        self.gradient = jacobian.T @ residuals
        rows, columns = jacobian.shape
        self._dual = columns > rows
        if self._dual:
            self.scale = scale(jacobian.square().sum(dim=0))
            self._gram = lower_gram((jacobian / self.scale.sqrt()).T)
        else:
            self._gram = lower_gram(jacobian)
            self.scale = scale(self._gram.diagonal().clone())

    def change(self, direction: Tensor) -> Tensor:
        """J·v."""
        return self._jacobian @ direction

    def damped(self, damping: float) -> Solve | None:
        """What solves the problem with a damping λ, if it can be solved."""
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
    """

    def __init__(self, objective: LeastSquares, theta: Tensor, residuals: Tensor) -> None:
        self.residuals = residuals
        self._objective, self._theta = objective, theta
        self.gradient = objective.transposed_product(theta, residuals)
        generator = torch.Generator().manual_seed(0)
        signs = torch.randint(0, 2, residuals.shape, generator=generator).to(residuals) * 2 - 1
        trace = objective.transposed_product(theta, signs).square().sum()
        self.scale = (trace / len(theta)).expand_as(theta)

    def change(self, direction: Tensor) -> Tensor:
        """J·v."""
        return self._objective.jacobian_product(self._theta, direction)

    def damped(self, damping: float) -> Solve:
        """What solves the problem with a damping λ, roughly."""

        def matrix(x: Tensor) -> Tensor:
            product = self._objective.transposed_product(self._theta, self.change(x))
            return product.add_(damping * self.scale * x)

        return lambda w: conjugate_gradients(matrix, -self._objective.transposed_product(self._theta, w))


def conjugate_gradients(matrix: Callable[[Tensor], Tensor], right: Tensor) -> Tensor:
    """A rough solution x of M·x = b for a symmetric positive definite M.

    Of a device one number is read in each iteration: whether it is the last one.
    """
    x, left = torch.zeros_like(right), right.clone()
    direction, size = left, left @ left
    enough = _CLOSE_ENOUGH**2 * size
    for _ in range(_MOST_ITERATIONS):
        if not fetched(size > enough)[0]:
            break
        image = matrix(direction)
        step = size / (direction @ image)
        x, left = x + step * direction, left - step * image
        before, size = size, left @ left
        direction = left + size / before * direction
    return x


def lower_gram(rows: Tensor) -> Tensor:
    """The lower triangle of RᵀR, for half of what the whole takes; above are zeros and some of the rest."""
    size = rows.shape[1]
    product = rows.new_zeros(size, size)
    for start in range(0, size, _COLUMNS):
        part = slice(start, start + _COLUMNS)
        product[start:, part] = rows[:, start:].T @ rows[:, part]
    return product


def _cholesky(matrix: Tensor) -> Tensor | None:
    """The factor of a matrix, of which only the lower triangle is looked at, if it is positive definite."""
    found = torch.linalg.cholesky_ex(matrix)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    factor, failed = cast("tuple[Tensor, Tensor]", found)
    return None if fetched(failed)[0] else factor


def _solved(factor: Tensor, right: Tensor) -> Tensor:
    return torch.cholesky_solve(right.unsqueeze(1), factor).squeeze(1)
