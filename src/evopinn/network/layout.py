"""The layout of θ, the flat vector of everything that is trained: a network's tensors, one after another.

It is the one source of θ's size, tensors, names and initial values.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evopinn.errors import GenomeError
from evopinn.genome import Genome

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from evopinn.problem import Problem


@dataclass(frozen=True)
class Slot:
    """The place of one tensor in θ.

    Attributes:
        name: The tensor's name, in files and in the torch module's `state_dict`.
        shape: Its shape.
        start: Index of its first element in θ.
    """

    name: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """The number of its elements."""
        return math.prod(self.shape)

    @property
    def span(self) -> slice:
        """Its elements in θ."""
        return slice(self.start, self.start + self.size)

    def of(self, theta: "Tensor") -> "Tensor":
        """The tensor, as a view of θ."""
        return theta[self.span].view(self.shape)


@dataclass(frozen=True)
class LayerSlots:
    """The tensors of one layer.

    Attributes:
        weight: Shape (fan out, fan in).
        bias: Shape (fan out,).
        activation: The parameters of its activation; empty where it has none, as in the last layer.
    """

    weight: Slot
    bias: Slot
    activation: Slot


@dataclass(frozen=True)
class Layout:
    """All that is trained, in its order in θ: per layer weight, bias and the parameters of its activation.

    Attributes:
        layers: The layers of the network.

    Examples:
        >>> from evopinn.genome import Genome
        >>> layout = Layout.of_network(Genome.parse("layers=3 neurons=20 activation=a*tanh(x)"), 2, 1)
        >>> layout.size
        503
        >>> layout.slots[2]
        Slot(name='activations.0', shape=(1,), start=60)
    """

    layers: tuple[LayerSlots, ...]

    @classmethod
    def of(cls, genome: Genome, problem: "Problem") -> "Layout":
        """The layout of a genome's network on a problem."""
        return cls.of_network(genome, len(problem.axes), len(problem.fields))

    @classmethod
    def of_network(cls, genome: Genome, inputs: int, outputs: int) -> "Layout":
        """The layout of a genome's network with these numbers of coordinates and fields."""
        depth, neurons = genome.structure.layers, genome.structure.neurons
        if neurons < inputs and any(start == 0 for start, _ in genome.structure.shortcuts):
            raise GenomeError(
                f"neurons={neurons}, but a shortcut from layer 0 carries {inputs} coordinates; "
                f"use at least {inputs} neurons, or no shortcut from layer 0."
            )
        layers: list[LayerSlots] = []
        start = 0
        for layer in range(depth):
            last = layer == depth - 1
            fan_in, fan_out = (neurons if layer else inputs), (outputs if last else neurons)
            parameters = 0 if last else genome.activation.parameters
            weight = Slot(weight_name(layer), (fan_out, fan_in), start)
            bias = Slot(bias_name(layer), (fan_out,), weight.span.stop)
            activation = Slot(activation_name(layer), (parameters,), bias.span.stop)
            layers.append(LayerSlots(weight, bias, activation))
            start = activation.span.stop
        return cls(tuple(layers))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """All tensors, in their order in θ."""
        every = (slot for layer in self.layers for slot in (layer.weight, layer.bias, layer.activation))
        return tuple(slot for slot in every if slot.size)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.slots[-1].span.stop

    @property
    def outputs(self) -> int:
        """The number of fields."""
        return self.layers[-1].bias.size

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the tensors by name."""
        return {slot.name: slot.shape for slot in self.slots}

    def unpack(self, theta: "Tensor") -> "dict[str, Tensor]":
        """The tensors by name, as views of θ."""
        return {slot.name: slot.of(theta) for slot in self.slots}

    def pack(self, tensors: "Mapping[str, Tensor]") -> "Tensor":
        """θ from the tensors by name."""
        import torch

        return torch.cat([tensors[slot.name].reshape(-1) for slot in self.slots])

    def initial(self, seed: int, dtype: "torch.dtype | None" = None) -> "Tensor":
        """The initial θ of a training: Kaiming's uniform initialisation, as in the paper's experiments.

        Weights are uniform in ±sqrt(6 / fan_in), biases 0, activation parameters 1. The numbers come from
        NumPy's PCG64, so that a seed means the same start on every platform and device.

        Args:
            seed: Any non-negative integer.
            dtype: Precision of θ; float64 if not given.
        """
        import torch

        rng = np.random.default_rng(seed)
        theta = np.zeros(self.size)
        for layer in self.layers:
            bound = math.sqrt(6 / layer.weight.shape[1])
            theta[layer.weight.span] = rng.uniform(-bound, bound, layer.weight.size)
            theta[layer.activation.span] = 1
        return torch.as_tensor(theta).to(dtype or torch.float64)


def weight_name(layer: int) -> str:
    """The name of a layer's weight."""
    return f"layers.{layer}.weight"


def bias_name(layer: int) -> str:
    """The name of a layer's bias."""
    return f"layers.{layer}.bias"


def activation_name(layer: int) -> str:
    """The name of the parameters of a layer's activation."""
    return f"activations.{layer}"
