"""Accumulators of the adjoints from a backward pass, into a gradient or the rows of a Jacobian."""

from collections.abc import Callable

import torch
from torch import Tensor

from evopinn.engine.propagation import Weights
from evopinn.network import Layout

AddOuterProducts = Callable[[Tensor, Tensor, Tensor, int], None]
"""Adds Σ over channels of z̄ ⊗ h, shapes (channels, padded points, fan out or in), to each point's row, from a
column on."""


def add_outer_products(z_bar: Tensor, h: Tensor, rows: Tensor, first: int) -> None:
    """Add the outer products by a batched product, on any device."""
    count, size = len(rows), z_bar.shape[2] * h.shape[2]
    left, right = z_bar[:, :count].permute(1, 2, 0), h[:, :count].permute(1, 0, 2)
    place = rows[:, first : first + size].view(count, z_bar.shape[2], h.shape[2])
    torch.baddbmm(place, left, right, out=place)


class GradientAccumulator:
    """Adds up the gradient with respect to θ, over points and channels.

    Args:
        bars: Views of the gradient.
    """

    by_element = False

    def __init__(self, bars: Weights) -> None:
        self._bars = bars

    def layer(self, number: int, z_bar: Tensor, h: Tensor) -> None:
        """Add a layer's share."""
        self._bars.weights[number].addmm_(z_bar.view(-1, z_bar.shape[2]).T, h.view(-1, h.shape[2]))
        self._bars.biases[number].add_(z_bar[0].sum(dim=0))

    def parameters(self, number: int, bars: Tensor) -> None:
        """Add the share of an activation's parameters."""
        self._bars.parameters[number].add_(bars)


class JacobianAccumulator:
    """Adds up the gradient of each point, in the rows of a Jacobian.

    The adjoints of independent points lie side by side: one backward pass serves all of them, and
    a point's row of a weight matrix is Σ over channels of the outer product of its z̄ and its h.

    Args:
        rows: The Jacobian's rows of these points, shape (n, parameters); added to.
        layout: Where each tensor lies in a row.
        add: Adds outer products to columns of the rows.
    """

    by_element = True

    def __init__(self, rows: Tensor, layout: Layout, add: AddOuterProducts) -> None:
        self._rows, self._add = rows, add
        self._layers = layout.layers

    def layer(self, number: int, z_bar: Tensor, h: Tensor) -> None:
        """Add to the columns of a layer's weights and biases."""
        self._add(z_bar, h, self._rows, self._layers[number].weight.start)
        self._rows[:, self._layers[number].bias.span] += z_bar[0, : len(self._rows)]

    def parameters(self, number: int, bars: Tensor) -> None:
        """Add to the columns of an activation's parameters."""
        self._rows[:, self._layers[number].activation.span] += bars[:, : len(self._rows)].sum(dim=2).T
