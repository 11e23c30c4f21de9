"""Where each tensor of a network lies in its flat vector of parameters θ."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from evopinn.errors import GenomeError
from evopinn.genome import Genome


@dataclass(frozen=True)
class Entry:
    """One tensor of a network.

    Attributes:
        name: The tensor's name, as in the torch module's `state_dict`.
        shape: Its shape.
        start: Index of its first element in θ.
    """

    name: str
    shape: tuple[int, ...]
    start: int

    @property
    def stop(self) -> int:
        """Index behind its last element in θ."""
        return self.start + math.prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """All tensors of a network in their order in θ: per layer weight, bias, activation parameters.

    Examples:
        >>> from evopinn.genome import Genome
        >>> layout = Layout.of(Genome.parse("layers=3 neurons=20 activation=a*tanh(x)"), inputs=2, outputs=1)
        >>> layout.size
        503
        >>> layout.entries[2]
        Entry(name='activations.0', shape=(1,), start=60)
    """

    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, genome: Genome, inputs: int, outputs: int) -> "Layout":
        """The layout of a genome's network with so many coordinates and fields."""
        layers, neurons = genome.structure.layers, genome.structure.neurons
        if neurons < inputs and any(start == 0 for start, _ in genome.structure.shortcuts):
            raise GenomeError(
                f"neurons={neurons}, but a shortcut from layer 0 carries {inputs} coordinates; "
                f"use at least {inputs} neurons, or no shortcut from layer 0."
            )
        shapes: list[tuple[str, tuple[int, ...]]] = []
        for layer in range(layers):
            fan_in = inputs if layer == 0 else neurons
            fan_out = outputs if layer == layers - 1 else neurons
            shapes += [(f"layers.{layer}.weight", (fan_out, fan_in)), (f"layers.{layer}.bias", (fan_out,))]
            if layer < layers - 1 and genome.activation.parameters:
                shapes.append((f"activations.{layer}", (genome.activation.parameters,)))
        entries: list[Entry] = []
        for name, shape in shapes:
            entries.append(Entry(name, shape, entries[-1].stop if entries else 0))
        return cls(tuple(entries))

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.entries[-1].stop

    def unpack(self, theta: Tensor) -> dict[str, Tensor]:
        """The tensors by name, as views of θ."""
        return {entry.name: theta[entry.start : entry.stop].view(entry.shape) for entry in self.entries}

    def pack(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """θ from the tensors by name."""
        return torch.cat([tensors[entry.name].reshape(-1) for entry in self.entries])
