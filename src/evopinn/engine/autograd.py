"""The reference engine: derivatives by nested automatic differentiation.

Simple and slow, kept as the oracle that faster engines are tested against. A derivative of order k is the
gradient of one of order k − 1 with respect to the points; the gradient with respect to θ goes back through
all of them.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from evopinn.engine.protocol import Scalar, check_vector, read_if_free
from evopinn.genome import Genome
from evopinn.network import Layout, forward
from evopinn.problem import Problem
from evopinn.problem.fields import MultiIndex
from evopinn.problem.terms import Side, SideValues, Term


class AutogradEngine:
    """Loss, gradient and residuals of a genome's network on a problem.

    Args:
        problem: The problem.
        genome: Structure and activation of the network.
        dtype: Precision of the computation.
        device: The device of the computation.
    """

    name = "autograd"

    def __init__(
        self,
        problem: Problem,
        genome: Genome,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> None:
        self.genome = genome
        self.layout = Layout.of(genome, problem)
        self.terms: tuple[Term, ...] = problem.terms(dtype, device)
        self._scales = problem.scales

    def components(self, theta: Tensor) -> tuple[tuple[Tensor, ...], ...]:
        """Per term of the problem, its components, each of shape (n,), differentiable in θ."""
        check_vector("theta", theta, self.layout.size, self.terms[0].sides[0].points)
        tensors = self.layout.unpack(theta)
        return tuple(
            term.residuals([self._derivatives(tensors, s) for s in term.sides]) for term in self.terms
        )

    def term_losses(self, theta: Tensor) -> Tensor:
        """Per term, weight times the sum over components of the mean square; shape (terms,)."""
        losses = [
            term.weight * torch.stack([component.square().mean() for component in components]).sum()
            for term, components in zip(self.terms, self.components(theta), strict=True)
        ]
        return torch.stack(losses)

    def loss_and_gradient(self, theta: Tensor) -> tuple[Scalar, Tensor]:
        """The loss and its gradient with respect to θ."""
        leaf = theta.detach().requires_grad_()
        loss = self.term_losses(leaf).sum()
        (gradient,) = torch.autograd.grad(loss, leaf, materialize_grads=True)
        return read_if_free(loss.detach()), gradient

    def residuals(self, theta: Tensor) -> Tensor:
        """All residuals, scaled so that the loss is the sum of their squares; shape (residuals,)."""
        return self._scaled(theta).detach()

    def residuals_and_jacobian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The scaled residuals r and J = ∂r/∂θ, shapes (residuals,) and (residuals, parameters)."""
        leaf = theta.detach().requires_grad_()
        residuals = self._scaled(leaf)
        rows = [
            torch.autograd.grad(residual, leaf, retain_graph=True, materialize_grads=True)[0]
            for residual in residuals.unbind()
        ]
        return residuals.detach(), torch.stack(rows)

    def jacobian_product(self, theta: Tensor, direction: Tensor) -> Tensor:
        """J·v for a direction v in θ, shape (residuals,)."""
        check_vector("direction", direction, self.layout.size, theta)
        leaf = theta.detach().requires_grad_()
        residuals = self._scaled(leaf)
        # Jᵀw is linear in w, and its derivative by w along v is J·v.
        weighting = torch.zeros_like(residuals, requires_grad=True)
        (product,) = torch.autograd.grad(
            residuals, leaf, weighting, create_graph=True, materialize_grads=True
        )
        return torch.autograd.grad(product, weighting, direction, materialize_grads=True)[0]

    def transposed_product(self, theta: Tensor, weighting: Tensor) -> Tensor:
        """Jᵀ·w for a weighting w of the residuals, shape (parameters,)."""
        leaf = theta.detach().requires_grad_()
        residuals = self._scaled(leaf)
        check_vector("weighting", weighting, len(residuals), residuals)
        return torch.autograd.grad(residuals, leaf, weighting, materialize_grads=True)[0]

    def _scaled(self, theta: Tensor) -> Tensor:
        parts = [
            component * math.sqrt(term.weight / term.count)
            for term, components in zip(self.terms, self.components(theta), strict=True)
            for component in components
        ]
        return torch.cat(parts)

    def _derivatives(self, tensors: dict[str, Tensor], side: Side) -> SideValues:
        points = side.points.detach().requires_grad_()
        output = forward(self.genome, tensors, points, self._scales)
        return AutogradDerivatives(points, output.unbind(dim=1))


class AutogradDerivatives:
    """Derivatives of functions on points, each made from one of lower order and kept.

    Args:
        points: Shape (n, d), requiring gradients.
        values: The functions' values on the points, each of shape (n,).
    """

    def __init__(self, points: Tensor, values: Sequence[Tensor]) -> None:
        self._points = points
        zero = (0,) * points.shape[1]
        self._known: dict[tuple[int, MultiIndex], Tensor] = {
            (number, zero): value for number, value in enumerate(values)
        }

    def __call__(self, field: int, index: MultiIndex) -> Tensor:
        """The derivative of a field with a multi-index, shape (n,)."""
        if (field, index) not in self._known:
            axis = max(i for i, order in enumerate(index) if order)
            lower = self(field, _shifted(index, axis, -1))
            # Points do not see one another, so the gradient of the sum is the derivative at each point.
            gradient = self._gradient(lower.sum())
            for i, column in enumerate(gradient.unbind(dim=1)):
                self._known.setdefault((field, _shifted(_shifted(index, axis, -1), i, 1)), column)
        return self._known[field, index]

    def _gradient(self, total: Tensor) -> Tensor:
        if not total.requires_grad:  # a derivative that does not depend on the points at all
            return torch.zeros_like(self._points)
        (gradient,) = torch.autograd.grad(total, self._points, create_graph=True, materialize_grads=True)
        return gradient


def _shifted(index: MultiIndex, axis: int, by: int) -> MultiIndex:
    return (*index[:axis], index[axis] + by, *index[axis + 1 :])
