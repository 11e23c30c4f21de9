"""The linear solvers of Levenberg-Marquardt, with their memory and costs."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from evopinn.training.cost import Work
from evopinn.training.linearised import Dense, Linearised, MatrixFree, Scale
from evopinn.training.optimiser import LeastSquares, require_positive


@dataclass(frozen=True)
class Costs:
    """The costs of a model, in epochs.

    Attributes:
        model: Cost of making it.
        trial: Cost of solving it with one damping.
    """

    model: float
    trial: float


class Solver(Protocol):
    """A way to solve the damped problems of the residuals near a point."""

    def model(self, objective: LeastSquares, theta: Tensor, residuals: Tensor, scale: Scale) -> Linearised:
        """The residuals near a point.

        Args:
            objective: Gives residuals and their derivatives.
            theta: The point.
            residuals: Those there.
            scale: Makes the scale of the damping.
        """
        ...

    def bytes(self, residuals: int, parameters: int, each: int) -> int:
        """The memory of its matrices, with numbers of `each` bytes."""
        ...

    def costs(self, work: Work, residuals: int, parameters: int, solutions: int) -> Costs:
        """The costs of its models, known beforehand: no step begins that the budget cannot pay for.

        Args:
            work: The costs of the parts of the objective.
            residuals: How many there are.
            parameters: How many there are.
            solutions: For how many weightings each damped problem is solved.
        """
        ...


@dataclass(frozen=True)
class Cholesky:
    """A Cholesky factor of the damped JᵀJ or, where it is smaller, of its counterpart JJᵀ.

    If rounding leaves a matrix that is not positive definite, there is no solution with this damping: the
    next larger one is tried.

    Attributes:
        columns: The number of columns of JᵀJ that are made at a time, each from the diagonal on.
    """

    columns: int = 256

    def __post_init__(self) -> None:
        require_positive(self, "columns")

    def model(self, objective: LeastSquares, theta: Tensor, residuals: Tensor, scale: Scale) -> Dense:  # noqa: ARG002
        """The model with its Jacobian in memory."""
        return Dense(*objective.residuals_and_jacobian(theta), scale, self.columns)

    def bytes(self, residuals: int, parameters: int, each: int) -> int:
        """The bytes of J, of a matrix of its smaller size and of its factor."""
        return each * (residuals * parameters + 2 * min(residuals, parameters) ** 2)

    def costs(self, work: Work, residuals: int, parameters: int, solutions: int) -> Costs:
        """The Jacobian and the matrix; the factor, and two products with J for each solution."""
        least = min(residuals, parameters)
        return Costs(
            work.jacobian(residuals, parameters) + work.product * residuals * parameters * least / 2,
            work.product * (least**3 / 3 + 2 * solutions * residuals * parameters),
        )


@dataclass(frozen=True)
class ConjugateGradients:
    """Conjugate gradients, which need products with J only: rough, and for when J does not fit into memory.

    Attributes:
        iterations: The maximum number of iterations.
        tolerance: They end when the residual of the system has fallen to this, relative to its start.
    """

    iterations: int = 60
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        require_positive(self, "iterations", "tolerance")

    def model(
        self,
        objective: LeastSquares,
        theta: Tensor,
        residuals: Tensor,
        scale: Scale,  # noqa: ARG002 - the diagonal of JᵀJ is not known
    ) -> MatrixFree:
        """The model without its Jacobian."""
        return MatrixFree(objective, theta, residuals, self.iterations, self.tolerance)

    def bytes(self, residuals: int, parameters: int, each: int) -> int:  # noqa: ARG002
        """0: there are no matrices."""
        return 0

    def costs(self, work: Work, residuals: int, parameters: int, solutions: int) -> Costs:  # noqa: ARG002
        """Two products with J; two in each iteration."""
        return Costs(2 * work.gradient, 2 * self.iterations * solutions * work.gradient)
