"""The fit of a network's last layer to a problem, before the first step.

With v a change of the weights and biases of the last layer, and J the columns of the Jacobian that belong
to them, v minimises the linearised residuals, slightly damped:

    ‖r + J·v‖² + ρ·‖S·v‖²,    S the norms of J's columns.

A linear problem is solved by one such change as well as the hidden layers allow, a nonlinear one by a few.
"""

import torch
from torch import Tensor

from evopinn.network import Layout
from evopinn.training.linearised import Dense
from evopinn.training.optimiser import LeastSquares

CHANGES = 2
"""The largest number of changes; a change that does not lower the loss is the last, and not made."""

_DAMPING = 1e-2
"""ρ: columns that are nearly dependent get no enormous weights that cancel."""

_MEMORY = 4e9
"""Bytes that the whole Jacobian may take; beyond, its columns are made one by one."""


def fit_last_layer(objective: LeastSquares, layout: Layout, theta: Tensor) -> tuple[Tensor, float]:
    """θ with a fitted last layer, and the cost of the fit in epochs.

    Args:
        objective: Gives residuals and their derivatives.
        layout: The layout of θ.
        theta: θ of the start.
    """
    last = layout.layers[-1]
    span = slice(last.weight.start, last.bias.span.stop)
    residuals = objective.residuals(theta)
    cost = objective.work.residuals
    for _ in range(CHANGES):
        columns, paid = _columns(objective, theta, span, len(residuals))
        moved = theta.clone()
        moved[span] += _least_squares(columns, residuals)
        behind = objective.residuals(moved)
        cost += paid + objective.work.residuals
        if not behind.square().sum() < residuals.square().sum():
            break
        theta, residuals = moved, behind
    return theta, cost


def _columns(objective: LeastSquares, theta: Tensor, span: slice, residuals: int) -> tuple[Tensor, float]:
    """The columns of the Jacobian of a part of θ, and what they cost."""
    if residuals * len(theta) * theta.element_size() <= _MEMORY:
        _, jacobian = objective.residuals_and_jacobian(theta)
        return jacobian[:, span], objective.work.jacobian(residuals, len(theta))
    products: list[Tensor] = []
    for place in range(span.start, span.stop):
        direction = torch.zeros_like(theta)
        direction[place] = 1
        products.append(objective.jacobian_product(theta, direction))
    return torch.stack(products, dim=1), len(products) * objective.work.gradient


def _least_squares(columns: Tensor, residuals: Tensor) -> Tensor:
    """The change that minimises the damped linear problem; none if that has no solution."""
    model = Dense(residuals, columns, _squared_norms, columns.shape[1])
    solve = model.damped(_DAMPING)
    return torch.zeros_like(columns[0]) if solve is None else solve(residuals)


def _squared_norms(diagonal: Tensor) -> Tensor:
    """S², with 1 for columns of zeros."""
    return torch.where(diagonal > 0, diagonal, 1.0)
