"""The portable engine: Taylor propagation with a hand-derived adjoint.

All derivative channels of a block of points go through a layer in one matrix product. Nothing is taped but
the user's residual on the few output channels of a block, and memory is that of one block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from evopinn.engine.layer import Activated, Channels, activate, pull_back
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problem import Problem
from evopinn.problem.fields import MultiIndex
from evopinn.problem.terms import Side, Term

CPU_BLOCK = 400
"""Points per block on a CPU: at 48 neurons and five channels, an array of a layer takes 770 kB."""

DEVICE_BLOCK = 20_000
"""Points per block elsewhere: enough to keep an accelerator busy, few enough to fit its memory."""


@dataclass(frozen=True, eq=False)
class Work:
    """A block of a term: the term on these points, and per side its channels and network input.

    Attributes:
        term: The term, restricted to the block.
        share: The term's weight over the number of all its points.
        channels: Per side, the channels that the term needs there.
        inputs: Per side, the channels of the coordinates, shape (inputs, n, d).
    """

    term: Term
    share: float
    channels: tuple[Channels, ...]
    inputs: tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass: per layer its input channels and what its activation left for the adjoint."""

    inputs: list[Tensor]
    activated: list[Activated]
    output: Tensor


class TaylorEngine:
    """Loss and gradient of a genome's network on a problem.

    Args:
        problem: The problem.
        genome: Structure and activation of the network.
        dtype: Precision of the computation.
        device: Where it runs.
        block: Points per block; by default few on a CPU, for its cache, and many elsewhere.
    """

    def __init__(
        self,
        problem: Problem,
        genome: Genome,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
        block: int | None = None,
    ) -> None:
        self.genome = genome
        self.layout = Layout.of(genome, len(problem.axes), len(problem.fields))
        block = block or (CPU_BLOCK if str(device).startswith("cpu") else DEVICE_BLOCK)
        self._work = [work for term in problem.terms(dtype, device) for work in _blocks(term, block)]
        self._starts = {end: start for start, end in genome.structure.shortcuts}

    def loss_and_gradient(self, theta: Tensor) -> tuple[float, Tensor]:
        """The loss and its gradient with respect to θ."""
        gradient = torch.zeros_like(theta)
        tensors, bars = self.layout.unpack(theta), self.layout.unpack(gradient)
        loss = theta.new_zeros(())
        for work in self._work:
            passes = [
                self._forward(tensors, channels, inputs)
                for channels, inputs in zip(work.channels, work.inputs, strict=True)
            ]
            part, output_bars = _residual(work, [each.output for each in passes])
            loss += part
            for channels, each, output_bar in zip(work.channels, passes, output_bars, strict=True):
                self._backward(tensors, bars, channels, each, output_bar)
        return float(loss), gradient

    def _forward(self, tensors: dict[str, Tensor], channels: Channels, inputs: Tensor) -> Pass:
        """The output's channels, shape (channels, n, fields)."""
        last = self.genome.structure.layers - 1
        layer_inputs, activated = [inputs], list[Activated]()
        for layer in range(last):
            z = _linear(
                layer_inputs[layer], tensors[f"layers.{layer}.weight"], tensors[f"layers.{layer}.bias"]
            )
            h, left = activate(
                self._at(channels, layer), self.genome.activation, z, self._alpha(tensors, layer)
            )
            start = self._starts.get(layer + 1)
            if start is not None:
                carried = layer_inputs[start]
                h[: len(carried), :, : carried.shape[2]] += carried
            layer_inputs.append(h)
            activated.append(left)
        output = _linear(layer_inputs[last], tensors[f"layers.{last}.weight"], tensors[f"layers.{last}.bias"])
        return Pass(layer_inputs, activated, output)

    def _backward(
        self,
        tensors: dict[str, Tensor],
        bars: dict[str, Tensor],
        channels: Channels,
        forward: Pass,
        output_bar: Tensor,
    ) -> None:
        """Add the gradient of one pass to `bars`."""
        last = self.genome.structure.layers - 1
        waiting: dict[int, Tensor] = {}
        z_bar = output_bar
        for layer in range(last, -1, -1):
            h = forward.inputs[layer]
            flat = z_bar.reshape(-1, z_bar.shape[2])
            bars[f"layers.{layer}.weight"].addmm_(flat.T, h.reshape(-1, h.shape[2]))
            bars[f"layers.{layer}.bias"].add_(z_bar[0].sum(dim=0))
            if layer == 0:
                return
            h_bar = (flat @ tensors[f"layers.{layer}.weight"]).view(h.shape)
            if layer in waiting:
                h_bar += waiting.pop(layer)
            start = self._starts.get(layer)
            if start:  # what a shortcut brings back; from the coordinates nothing is needed
                waiting[start] = h_bar
            parameters_bar = bars.get(f"activations.{layer - 1}")
            left = forward.activated[layer - 1]
            z_bar = pull_back(self._at(channels, layer - 1), left, h_bar, parameters_bar)

    def _at(self, channels: Channels, layer: int) -> Channels:
        return channels.first_layer if layer == 0 else channels

    def _alpha(self, tensors: dict[str, Tensor], layer: int) -> Tensor:
        return tensors.get(f"activations.{layer}", tensors["layers.0.bias"][:0])


def _linear(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """One matrix product for all channels; only the value has a bias."""
    z = (h.reshape(-1, h.shape[2]) @ weight.T).view(*h.shape[:2], -1)
    z[0] += bias
    return z


def _residual(work: Work, outputs: Sequence[Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """A block's share of the loss and its derivatives with respect to the output channels of each side."""
    leaves = [output.detach().requires_grad_() for output in outputs]

    def value(side: int, field: int, index: MultiIndex) -> Tensor:
        return leaves[side][work.channels[side].number[index], :, field]

    residuals = work.term.residuals([partial(value, side) for side in range(len(leaves))])
    loss = torch.stack([residual.square().sum() for residual in residuals]).sum() * work.share
    bars = torch.autograd.grad(loss, leaves, materialize_grads=True)
    return loss.detach(), bars


def _blocks(term: Term, block: int) -> list[Work]:
    """A term in blocks of points, if its points do not see one another."""
    block = block if term.pointwise else term.count
    channels = tuple(Channels.of([index for _, index in asked]) for asked in term.channels)
    works: list[Work] = []
    for start in range(0, term.count, block):
        part = term.restricted(slice(start, start + block))
        inputs = tuple(_coordinates(side, each) for side, each in zip(part.sides, channels, strict=True))
        works.append(Work(part, term.weight / term.count, channels, inputs))
    return works


def _coordinates(side: Side, channels: Channels) -> Tensor:
    """The network's input with its derivatives of order up to 1, shape (inputs, n, d)."""
    count = channels.first_layer.inputs
    inputs = side.points.new_zeros((count, *side.points.shape))
    inputs[0] = side.points
    for number, index in enumerate(channels.indices[1:count], start=1):
        inputs[number, :, _axis(index)] = 1
    return inputs


def _axis(index: MultiIndex) -> int:
    return index.index(1)
