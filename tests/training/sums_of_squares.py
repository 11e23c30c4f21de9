"""Sums of squares for optimisers, from a function of θ that autograd can differentiate."""

import numpy as np
import torch

from evopinn.training import Work


class SumOfSquares:
    """The loss ‖r(θ)‖²."""

    def __init__(self, residuals, work=Work()):  # noqa: B008 - it is frozen
        self.residuals, self.work = residuals, work

    def residuals_and_jacobian(self, theta):
        return self.residuals(theta), torch.autograd.functional.jacobian(self.residuals, theta)

    def jacobian_product(self, theta, direction):
        return self.residuals_and_jacobian(theta)[1] @ direction

    def transposed_product(self, theta, weighting):
        return self.residuals_and_jacobian(theta)[1].T @ weighting

    def loss_and_gradient(self, theta):
        r, jacobian = self.residuals_and_jacobian(theta)
        return float(r @ r), 2 * jacobian.T @ r

    __call__ = loss_and_gradient


def random(*shape, seed=0):
    return torch.as_tensor(np.random.default_rng(seed).normal(size=shape))
