"""Passes of channels through the network and back, on reused arrays.

All channels of a block go through a layer in one matrix product; a kernel computes the activation. Going
back, the adjoints z̄ of a layer's channels meet its inputs h: their products are the weights' gradient or the
rows of a Jacobian, depending on the accumulator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from evopinn.engine.channels import Channels
from evopinn.genome import Genome
from evopinn.network import Layout


@dataclass(frozen=True, eq=False)
class Weights:
    """The tensors of θ, or of anything shaped like it, per layer.

    Attributes:
        weights: Shapes (fan out, fan in).
        biases: Shapes (fan out,).
        parameters: Those of the activation per hidden layer; empty where it has none.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    parameters: tuple[Tensor, ...]

    @classmethod
    def of(cls, layout: Layout, theta: Tensor) -> "Weights":
        """Views of θ."""
        return cls(
            tuple(layer.weight.of(theta) for layer in layout.layers),
            tuple(layer.bias.of(theta) for layer in layout.layers),
            tuple(layer.activation.of(theta) for layer in layout.layers[:-1]),
        )


@dataclass(frozen=True, eq=False)
class LayerArrays:
    """The arrays of a hidden layer's element-wise part; all layers share those of the backward pass.

    Attributes:
        z: Channels before the activation, without bias, shape (inputs, n, width).
        carried: What a shortcut adds behind it, shape (channels, n, width), if one ends there.
        a: Channels behind it and the shortcut, shape (channels, n, width).
        a_bar: Adjoints of a.
        z_bar: Adjoints of z.
        parameter_bars: Adjoints of the parameters at each element, shape (parameters, n, width).
        z_dot: Tangents of z.
        a_dot: Tangents of a.
    """

    z: Tensor
    carried: Tensor | None
    a: Tensor
    a_bar: Tensor
    z_bar: Tensor
    parameter_bars: Tensor
    z_dot: Tensor
    a_dot: Tensor


class BoundLayer(Protocol):
    """The element-wise part of a layer, on fixed arrays."""

    def forward(self, bias: Tensor, parameters: Tensor) -> None:
        """From z to a."""
        ...

    def adjoint(self, parameters: Tensor) -> Tensor:
        """From a_bar to z_bar, after `forward`; returns the parameters' adjoints, shape (parameters,)."""
        ...

    def adjoint_by_element(self, parameters: Tensor) -> Tensor:
        """The same; returns the parameters' adjoints at each element, shape (parameters, n, width)."""
        ...

    def tangent(self, parameters: Tensor, parameter_dots: Tensor) -> None:
        """From z_dot to a_dot, without shortcut, after `forward`."""
        ...


ArraySource = Callable[[str, tuple[int, ...]], Tensor]
"""Gives an array of a name and shape; arrays of one name may share memory."""


class Kernels(Protocol):
    """The maker of the element-wise parts of a genome's layers."""

    def bind(
        self, channels: Channels, arrays: LayerArrays, own: ArraySource, shared: ArraySource
    ) -> BoundLayer:
        """The element-wise part on these arrays.

        Args:
            channels: The channels of the layer.
            arrays: Its arrays.
            own: For further arrays that no other layer writes to.
            shared: For further arrays that others may write to between calls.
        """
        ...


class Accumulator(Protocol):
    """Takes the results of the backward pass.

    Attributes:
        by_element: Whether it takes the adjoints of an activation's parameters at each element.
    """

    by_element: bool

    def layer(self, number: int, z_bar: Tensor, h: Tensor) -> None:
        """Adjoints of a layer's z, shape (channels, n, fan out), and its inputs, (channels, n, fan in)."""
        ...

    def parameters(self, number: int, bars: Tensor) -> None:
        """Adjoints of an activation's parameters, shape (parameters,) or (parameters, n, width)."""
        ...


class Pass:
    """A forward and backward pass through a network for blocks of one shape.

    Args:
        genome: Structure and activation.
        kernels: The maker of the element-wise parts.
        channels: The channels carried.
        inputs: Number of coordinates.
        outputs: Number of fields.
        count: Number of points.
        take: Gives the arrays.
    """

    def __init__(
        self,
        genome: Genome,
        kernels: Kernels,
        channels: Channels,
        inputs: int,
        outputs: int,
        count: int,
        take: ArraySource,
    ) -> None:
        self._starts = {end: start for start, end in genome.structure.shortcuts}
        self._last = genome.structure.layers - 1
        self._parameters = genome.activation.parameters
        self.channels = channels
        width = genome.structure.neurons
        size = len(channels)
        self._h: list[Tensor] = [take("coordinates", (channels.first_layer.inputs, count, inputs))]
        self._layers: list[BoundLayer] = []
        self._arrays: list[LayerArrays] = []
        carried_on = {start for start in self._starts.values() if start}
        names = self._names_of_adjoints()
        for layer in range(self._last):
            at_layer = channels.first_layer if layer == 0 else channels
            before, behind = (at_layer.inputs, count, width), (size, count, width)
            start = self._starts.get(layer + 1)
            arrays = LayerArrays(
                z=take(f"z{layer}", before),
                carried=self._h[start] if start else None,
                a=take(f"h{layer + 1}", behind),
                a_bar=take(names[layer + 1], behind),
                z_bar=take("z_bar", before),
                parameter_bars=take("parameter_bars", (self._parameters, count, width)),
                z_dot=take("z_dot", before),
                a_dot=take(
                    f"h_dot{layer + 1}" if layer + 1 in carried_on else f"passing_dot{layer % 2}", behind
                ),
            )
            self._layers.append(kernels.bind(at_layer, arrays, _numbered(take, layer), take))
            self._arrays.append(arrays)
            self._h.append(arrays.a)
        self._output = take("output", (size, count, outputs))
        self._output_dot = take("output_dot", (size, count, outputs))

    def _names_of_adjoints(self) -> dict[int, str]:
        """Per layer's input the array of its adjoints.

        The adjoints of a shortcut wait in an array of their own until the layer of its start adds the rest in
        place.
        """
        names: dict[int, str] = {}
        for layer in range(self._last, 0, -1):
            own = f"h_bar{layer}" if self._starts.get(layer) else "h_bar"
            names[layer] = next((names[end] for end in self._ends(layer)), own)
        return names

    def _ends(self, start: int) -> list[int]:
        return [end for end, each in self._starts.items() if each == start]

    def forward(self, theta: Weights, inputs: Tensor) -> Tensor:
        """The output's channels, shape (channels, n, fields)."""
        self._h[0] = inputs
        for layer in range(self._last):
            _product(self._h[layer], theta.weights[layer], self._arrays[layer].z)
            self._layers[layer].forward(theta.biases[layer], theta.parameters[layer])
            if self._starts.get(layer + 1) == 0:  # the coordinates, padded with zeros to the width
                self._h[layer + 1][: len(inputs), :, : inputs.shape[2]] += inputs
        _product(self._h[self._last], theta.weights[self._last], self._output)
        self._output[0] += theta.biases[self._last]
        return self._output

    def backward(self, theta: Weights, output_bar: Tensor, accumulator: Accumulator) -> None:
        """From the output's adjoints to all others, after `forward`."""
        z_bar = output_bar
        for layer in range(self._last, -1, -1):
            accumulator.layer(layer, z_bar, self._h[layer])
            if layer == 0:
                return
            arrays, element_wise = self._arrays[layer - 1], self._layers[layer - 1]
            ends = self._ends(layer)
            if ends:
                _flat(arrays.a_bar).addmm_(_flat(z_bar), theta.weights[layer])
                for end in ends[1:]:
                    arrays.a_bar.add_(self._arrays[end - 1].a_bar)
            else:
                torch.mm(_flat(z_bar), theta.weights[layer], out=_flat(arrays.a_bar))
            adjoint = element_wise.adjoint_by_element if accumulator.by_element else element_wise.adjoint
            bars = adjoint(theta.parameters[layer - 1])
            if self._parameters:
                accumulator.parameters(layer - 1, bars)
            z_bar = arrays.z_bar

    def tangent(self, theta: Weights, direction: Weights) -> Tensor:
        """The change of the output's channels along a direction in θ, after `forward`."""
        h_dot: list[Tensor | None] = [None]
        for layer in range(self._last):
            arrays = self._arrays[layer]
            self._linear_change(theta, direction, layer, h_dot[layer], arrays.z_dot)
            self._layers[layer].tangent(theta.parameters[layer], direction.parameters[layer])
            start = self._starts.get(layer + 1)
            carried = None if start is None else h_dot[start]
            if carried is not None:
                arrays.a_dot.add_(carried)
            h_dot.append(arrays.a_dot)
        self._linear_change(theta, direction, self._last, h_dot[self._last], self._output_dot)
        return self._output_dot

    def _linear_change(
        self, theta: Weights, direction: Weights, layer: int, h_dot: Tensor | None, z_dot: Tensor
    ) -> None:
        _product(self._h[layer], direction.weights[layer], z_dot)
        if h_dot is not None:
            _flat(z_dot).addmm_(_flat(h_dot), theta.weights[layer].T)
        z_dot[0] += direction.biases[layer]


def _numbered(take: ArraySource, layer: int) -> ArraySource:
    return lambda name, shape: take(f"{name}{layer}", shape)


def _product(h: Tensor, weight: Tensor, out: Tensor) -> None:
    """One matrix product for all channels."""
    torch.mm(_flat(h), weight.T, out=_flat(out))


def _flat(channels: Tensor) -> Tensor:
    return channels.view(-1, channels.shape[2])


def shared_arrays(dtype: torch.dtype, device: torch.device) -> ArraySource:
    """Gives arrays; those of one name share memory, which grows to the largest."""
    known: dict[str, Tensor] = {}

    def take(name: str, shape: tuple[int, ...]) -> Tensor:
        size = 1
        for each in shape:
            size *= each
        if name not in known or len(known[name]) < size:
            known[name] = torch.zeros(size, dtype=dtype, device=device)
        return known[name][:size].view(shape)

    return take
