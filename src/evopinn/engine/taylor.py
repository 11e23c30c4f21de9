"""Taylor propagation with a hand-derived adjoint.

All derivative channels of a block of points go through a layer in one matrix product. Nothing is taped but
the user's residual on the few output channels of a block, and memory is that of one block.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from evopinn.engine.plan import Block, Plan
from evopinn.engine.portable import PortableKernels
from evopinn.engine.propagation import Kernels, Pass, Weights, shared_arrays
from evopinn.engine.reading import Number, read_if_free
from evopinn.engine.receivers import GradientReceiver, JacobianReceiver, add_outer_products
from evopinn.engine.residuals import BlockResiduals
from evopinn.engine.vectors import check_vector
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problem import Problem


class TaylorEngine:
    """Loss, gradient, residuals and Jacobian of a genome's network on a problem.

    It keeps the arrays that it works on, so it serves one thread at a time.

    Args:
        problem: The problem.
        genome: Structure and activation of the network.
        dtype: Precision of the computation.
        device: Where it runs.
        block: Points times channels times neurons of a block; by default few on a CPU, for its cache, and
            many elsewhere.
    """

    name = "taylor"
    _add_outer_products = staticmethod(add_outer_products)

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
        self.plan = Plan.of(problem.terms(dtype, device), genome.structure.neurons, block)
        self._like = self.plan.blocks[0].inputs[0]
        place = torch.device(device)
        self.passes = self._bound(self._kernels(dtype, place), dtype, place)

    def loss_and_gradient(self, theta: Tensor) -> tuple[Number, Tensor]:
        """The loss and its gradient with respect to θ."""
        weights, gradient = self._weights(theta), self._like.new_zeros(self.layout.size)
        receiver = GradientReceiver(self._weights(gradient))
        loss = theta.new_zeros(())
        for block in self.plan.blocks:
            residuals = BlockResiduals(block, self._forward(weights, block))
            parts = [r.square().sum() * member.share for member, _, r in residuals.components]
            part = torch.stack(parts).sum()
            self._backward(weights, block, residuals.slopes(part), receiver)
            loss += part.detach()
        return read_if_free(loss), gradient

    def residuals(self, theta: Tensor) -> Tensor:
        """All residuals, scaled so that the loss is the sum of their squares; shape (residuals,)."""
        weights = self._weights(theta)
        found = theta.new_empty(self.plan.residuals)
        for block in self.plan.blocks:
            residuals = BlockResiduals(block, self._forward(weights, block), taped=False)
            for member, rows, residual in residuals.components:
                found[rows] = residual * math.sqrt(member.share)
        return found

    def residuals_and_jacobian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The scaled residuals r and J = ∂r/∂θ, shapes (residuals,) and (residuals, parameters)."""
        weights = self._weights(theta)
        found = theta.new_empty(self.plan.residuals)
        jacobian = theta.new_zeros(self.plan.residuals, self.layout.size)
        for block in self.plan.blocks:
            for row in self._rows(weights, block):
                found[row.rows] = row.residuals
                part = jacobian[row.rows]
                if row.pointwise:
                    receiver = JacobianReceiver(part, self.genome, self.layout, self._add_outer_products)
                else:
                    receiver = GradientReceiver(self._weights(part[0]))
                self._backward(weights, block, row.bars, receiver)
        return found, jacobian

    def jacobian_product(self, theta: Tensor, direction: Tensor) -> Tensor:
        """J·v for a direction v in θ, shape (residuals,), without J."""
        weights, along = self._weights(theta), self._weights(direction, "direction")
        found = theta.new_empty(self.plan.residuals)
        for block in self.plan.blocks:
            tangents: list[Tensor] = []
            for row in self._rows(weights, block):
                tangents = tangents or [each.tangent(weights, along) for each in self.passes[block]]
                changes = [(bar * dot).sum(dim=(0, 2)) for bar, dot in zip(row.bars, tangents, strict=True)]
                change = torch.stack(changes).sum(dim=0)
                found[row.rows] = change[: len(row.residuals)] if row.pointwise else change.sum()
        return found

    def transposed_product(self, theta: Tensor, weighting: Tensor) -> Tensor:
        """Jᵀ·w for a weighting w of the residuals, shape (parameters,), without J."""
        weights, product = self._weights(theta), self._like.new_zeros(self.layout.size)
        receiver = GradientReceiver(self._weights(product))
        check_vector("weighting", weighting, self.plan.residuals, self._like)
        for block in self.plan.blocks:
            residuals = BlockResiduals(block, self._forward(weights, block))
            parts = [
                (weighting[rows] * r).sum() * math.sqrt(member.share)
                for member, rows, r in residuals.components
            ]
            self._backward(weights, block, residuals.slopes(torch.stack(parts).sum()), receiver)
        return product

    def _kernels(self, dtype: torch.dtype, device: torch.device) -> Kernels:  # noqa: ARG002
        """What computes the element-wise part of the layers."""
        return PortableKernels(self.genome.activation)

    def _bound(self, kernels: Kernels, dtype: torch.dtype, device: torch.device) -> dict[Block, list[Pass]]:
        """Per block its passes, one a side; blocks of one shape share theirs."""
        sides = max(len(block.carried) for block in self.plan.blocks)
        takes = [shared_arrays(dtype, device) for _ in range(sides)]
        outputs = self.layout.entries[-1].shape[0]
        known: dict[object, list[Pass]] = {}
        passes: dict[Block, list[Pass]] = {}
        for block in sorted(self.plan.blocks, key=_size, reverse=True):  # so that arrays need not grow
            count = block.inputs[0].shape[1]
            key = (count, *(each.channels for each in block.carried))
            if key not in known:
                known[key] = [
                    Pass(self.genome, kernels, each.channels, inputs.shape[2], outputs, count, take)
                    for each, inputs, take in zip(block.carried, block.inputs, takes, strict=False)
                ]
            passes[block] = known[key]
        return passes

    def _weights(self, theta: Tensor, name: str = "theta") -> Weights:
        """The tensors of a vector shaped like θ; kernels see bare memory, so it must be what they expect."""
        check_vector(name, theta, self.layout.size, self._like)
        return Weights.of(self.genome, self.layout, theta.detach().contiguous())

    def _forward(self, weights: Weights, block: Block) -> list[Tensor]:
        passes = self.passes[block]
        return [each.forward(weights, inputs) for each, inputs in zip(passes, block.inputs, strict=True)]

    def _backward(
        self,
        weights: Weights,
        block: Block,
        bars: Sequence[Tensor],
        receiver: GradientReceiver | JacobianReceiver,
    ) -> None:
        for each, bar in zip(self.passes[block], bars, strict=True):
            each.backward(weights, bar, receiver)

    def _rows(self, weights: Weights, block: Block) -> Iterator["Rows"]:
        """The residuals of a block with their slopes: a component at a time, or a point where points mix."""
        residuals = BlockResiduals(block, self._forward(weights, block))
        for member, rows, residual in residuals.components:
            scaled = residual * math.sqrt(member.share)
            if member.term.pointwise:
                yield Rows(rows, scaled.detach(), residuals.slopes(scaled.sum()), pointwise=True)
            else:
                for number in range(block.count):
                    row = slice(rows.start + number, rows.start + number + 1)
                    one = scaled[number : number + 1]
                    yield Rows(row, one.detach(), residuals.slopes(one.sum()), pointwise=False)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some residuals and their slopes with respect to the network's output.

    Attributes:
        rows: Their numbers.
        residuals: The scaled residuals.
        bars: Per side, their derivatives by the output's channels, shape (channels, points, fields): each
            residual's by its own point, or those of a single residual by all points.
        pointwise: Which of the two.
    """

    rows: slice
    residuals: Tensor
    bars: Sequence[Tensor]
    pointwise: bool


def _size(block: Block) -> int:
    return block.inputs[0].shape[1] * max(len(each.channels) for each in block.carried)
