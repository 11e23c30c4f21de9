"""A PINN as it is commonly written in torch: the baseline of all ratios.

`nn.Linear` layers, the activation as a torch expression, nested `torch.autograd.grad` with the graph kept,
and one more pass back from the loss.
"""

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evopinn.genome import Genome
from evopinn.lab.bench.peer_problems import equation
from evopinn.network import Layout
from evopinn.problem import Problem


class PlainNetwork(nn.Module):
    """A genome's network, parameters named as in its layout.

    Args:
        genome: Structure and activation.
        layout: The layout of θ.
        theta: The parameters to begin with; copied.
    """

    def __init__(self, genome: Genome, layout: Layout, theta: Tensor) -> None:
        super().__init__()
        self.activation = genome.activation
        tensors = layout.unpack(theta.clone())
        weights = [value for name, value in tensors.items() if name.endswith("weight")]
        sizes = [weights[0].shape[1], *(len(weight) for weight in weights)]
        self.layers = nn.ModuleList([nn.Linear(a, b, dtype=theta.dtype) for a, b in pairwise(sizes)])
        hidden = len(weights) - 1 if genome.activation.parameters else 0
        self.activations = nn.ParameterList([tensors[f"activations.{layer}"] for layer in range(hidden)])
        self.starts = {end: start for start, end in genome.structure.shortcuts}
        self.load_state_dict(tensors)

    def forward(self, points: Tensor) -> Tensor:
        """The fields on points, shape (n, fields)."""
        kept = [points]
        for number, layer in enumerate(self.layers):
            h = layer(kept[-1])
            if number == len(self.layers) - 1:
                return h
            h = self.activation(h, self.activations[number]) if self.activations else self.activation(h)
            if (start := self.starts.get(number + 1)) is not None:
                carried = kept[start]
                h = h + nn.functional.pad(carried, (0, h.shape[1] - carried.shape[1]))
            kept.append(h)
        raise AssertionError("a network has a last layer")

    def packed_gradient(self, layout: Layout) -> NDArray[np.float64]:
        """The gradient that the last `backward` left, in the order of θ."""
        gradients = {
            name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for name, parameter in self.named_parameters()
        }
        return layout.pack(gradients).numpy()


class NestedDerivatives:
    """Derivatives of a network's outputs on points, each gradient taken once.

    Args:
        points: Shape (n, d), requiring gradients.
        outputs: The network there, shape (n, fields).
    """

    def __init__(self, points: Tensor, outputs: Tensor) -> None:
        self.points = points
        self.outputs = outputs
        self.gradients: dict[tuple[int, ...], Tensor] = {}

    def __call__(self, field: int, *axes: int) -> Tensor:
        """The derivative of a field along axes, shape (n,)."""
        if not axes:
            return self.outputs[:, field]
        *lower, last = axes
        key = (field, *lower)
        if key not in self.gradients:
            total = self(*key).sum()
            (self.gradients[key],) = torch.autograd.grad(total, self.points, create_graph=True)
        return self.gradients[key][:, last]


class NestedAutograd:
    """Loss and gradient the common way.

    Args:
        problem: One of the paper's three problems, case I.
        genome: Structure and activation.
        theta: The parameters.
    """

    def __init__(self, problem: Problem, genome: Genome, theta: Tensor) -> None:
        self.layout = Layout.of(genome, problem)
        self.network = PlainNetwork(genome, self.layout, theta)
        self.parts = equation(problem)

    def evaluate(self) -> float:
        """The loss; its gradient is left in the parameters."""
        self.network.zero_grad()
        losses: list[Tensor] = []
        for part, fixed in self.parts:
            points = fixed.detach().requires_grad_()
            derivatives = NestedDerivatives(points, self.network(points))
            residuals: list[Tensor] = part.residuals(torch, points.unbind(1), derivatives)
            losses += [part.weight * residual.square().mean() for residual in residuals]
        loss = torch.stack(losses).sum()
        torch.autograd.backward(loss)
        return float(loss.detach())

    def gradient(self) -> NDArray[np.float64]:
        """The gradient of the last evaluation."""
        return self.network.packed_gradient(self.layout)
