"""The network of a genome as a function of its tensors.

With layers 0 ... L−1, h₀ the coordinates, f the activation with the parameters αₗ of its layer:

    zₗ = Wₗ hₗ + bₗ,    hₗ₊₁ = f(zₗ; αₗ) + Σ hᵢ  over the shortcuts i-(l+1),    output = z at layer L−1.

On a scaled problem h₀ is the scaled coordinates, and the fields are shift + size · output.
"""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from evopinn.genome import Genome
from evopinn.network.layout import activation_name, bias_name, weight_name
from evopinn.problem.scales import UNSCALED, Scales


def forward(
    genome: Genome, tensors: Mapping[str, Tensor], points: Tensor, scales: Scales = UNSCALED
) -> Tensor:
    """Evaluate a network.

    Args:
        genome: Structure and activation.
        tensors: Weights, biases and activation parameters by their names in the layout.
        points: Shape (..., inputs).
        scales: The maps of coordinates and fields.

    Returns:
        The fields, shape (..., outputs).
    """
    return scales.outputs(pre_activations(genome, tensors, scales.inputs(points))[-1])


def pre_activations(genome: Genome, tensors: Mapping[str, Tensor], points: Tensor) -> list[Tensor]:
    """Evaluate a network and return each layer's values before its activation: z₀, ..., z at layer L−1.

    Args:
        genome: Structure and activation.
        tensors: Weights, biases and activation parameters by their names in the layout.
        points: Shape (..., inputs); on a scaled problem those of `Scales.inputs`.

    Returns:
        One for each layer, shape (..., neurons), and the output at the end, shape (..., outputs).
    """
    return list(layer_by_layer(genome, tensors, points))


def layer_by_layer(genome: Genome, tensors: Mapping[str, Tensor], points: Tensor) -> Iterator[Tensor]:
    """The same one after another: each layer is computed from the values of the one before as they are then.

    So a start can change a layer's weights, and its values with them, before the next layer is computed.
    """
    structure = genome.structure
    starts = {end: start for start, end in structure.shortcuts}
    none = points.new_zeros(0)
    inputs = [points]
    for layer in range(structure.layers):
        z = torch.nn.functional.linear(inputs[-1], tensors[weight_name(layer)], tensors[bias_name(layer)])
        yield z
        if layer == structure.layers - 1:
            break
        h = genome.activation(z, tensors.get(activation_name(layer), none))
        if layer + 1 in starts:
            h = h + _widened(inputs[starts[layer + 1]], structure.neurons)
        inputs.append(h)


def _widened(h: Tensor, neurons: int) -> Tensor:
    """The values that a shortcut carries; the coordinates, at layer 0, are padded with zeros to the width."""
    missing = neurons - h.shape[-1]
    return torch.nn.functional.pad(h, (0, missing)) if missing else h
