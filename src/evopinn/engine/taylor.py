"""Taylor propagation with a hand-derived adjoint.

All derivative channels of a block of points go through a layer in one matrix product. Nothing is taped but
the user's residual on the few output channels of a block, and memory is that of one block.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from evopinn.engine.accumulators import GradientAccumulator, JacobianAccumulator, add_outer_products
from evopinn.engine.plan import BlockTerm, EvaluationPlan, PointBlock
from evopinn.engine.portable import PortableKernels
from evopinn.engine.propagation import Kernels, Pass, Weights, shared_arrays
from evopinn.engine.protocol import Scalar, check_vector, read_if_free
from evopinn.errors import ProblemError
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problem import Problem
from evopinn.problem.fields import MultiIndex
from evopinn.problem.scales import Affine


class TaylorEngine:
    """Loss, gradient, residuals and Jacobian of a genome's network on a problem.

    It reuses its arrays, so it serves one thread at a time.

    Args:
        problem: The problem.
        genome: Structure and activation of the network.
        dtype: Precision of the computation.
        device: The device of the computation.
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
        self.layout = Layout.of(genome, problem)
        terms, scales = problem.terms(dtype, device), problem.scales
        self.plan = EvaluationPlan.of(terms, genome.structure.neurons, block, scales)
        self._fields = scales.fields
        self._like = self.plan.blocks[0].inputs[0]
        place = torch.device(device)
        self.passes = self._bound(self._kernels(dtype, place), dtype, place)

    def loss_and_gradient(self, theta: Tensor) -> tuple[Scalar, Tensor]:
        """The loss and its gradient with respect to θ."""
        weights, gradient = self._weights(theta), self._like.new_zeros(self.layout.size)
        accumulator = GradientAccumulator(self._weights(gradient))
        loss = theta.new_zeros(())
        for block in self.plan.blocks:
            residuals = self._residuals(weights, block)
            parts = [r.square().sum() * member.share for member, _, r in residuals.components]
            part = torch.stack(parts).sum()
            self._backward(weights, block, residuals.slopes(part), accumulator)
            loss += part.detach()
        return read_if_free(loss), gradient

    def residuals(self, theta: Tensor) -> Tensor:
        """All residuals, scaled so that the loss is the sum of their squares; shape (residuals,)."""
        weights = self._weights(theta)
        found = theta.new_empty(self.plan.residuals)
        for block in self.plan.blocks:
            residuals = self._residuals(weights, block, taped=False)
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
                    accumulator = JacobianAccumulator(part, self.layout, self._add_outer_products)
                else:
                    accumulator = GradientAccumulator(self._weights(part[0]))
                self._backward(weights, block, row.bars, accumulator)
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
        accumulator = GradientAccumulator(self._weights(product))
        check_vector("weighting", weighting, self.plan.residuals, self._like)
        for block in self.plan.blocks:
            residuals = self._residuals(weights, block)
            parts = [
                (weighting[rows] * r).sum() * math.sqrt(member.share)
                for member, rows, r in residuals.components
            ]
            self._backward(weights, block, residuals.slopes(torch.stack(parts).sum()), accumulator)
        return product

    def _kernels(self, dtype: torch.dtype, device: torch.device) -> Kernels:  # noqa: ARG002
        """The maker of the element-wise parts of the layers."""
        return PortableKernels(self.genome.activation)

    def _bound(
        self, kernels: Kernels, dtype: torch.dtype, device: torch.device
    ) -> dict[PointBlock, list[Pass]]:
        """Per block its passes, one a side; blocks of one shape share theirs."""
        sides = max(len(block.carried) for block in self.plan.blocks)
        takes = [shared_arrays(dtype, device) for _ in range(sides)]
        outputs = self.layout.outputs
        known: dict[object, list[Pass]] = {}
        passes: dict[PointBlock, list[Pass]] = {}
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
        """The tensors of a vector shaped like θ; it must fit, as kernels read raw memory."""
        check_vector(name, theta, self.layout.size, self._like)
        return Weights.of(self.layout, theta.detach().contiguous())

    def _forward(self, weights: Weights, block: PointBlock) -> list[Tensor]:
        passes = self.passes[block]
        return [each.forward(weights, inputs) for each, inputs in zip(passes, block.inputs, strict=True)]

    def _residuals(self, weights: Weights, block: PointBlock, taped: bool = True) -> "BlockResiduals":
        return BlockResiduals(block, self._forward(weights, block), self._fields, taped)

    def _backward(
        self,
        weights: Weights,
        block: PointBlock,
        bars: Sequence[Tensor],
        accumulator: GradientAccumulator | JacobianAccumulator,
    ) -> None:
        for each, bar in zip(self.passes[block], bars, strict=True):
            each.backward(weights, bar, accumulator)

    def _rows(self, weights: Weights, block: PointBlock) -> Iterator["ResidualRows"]:
        """The residuals of a block with their slopes: a component or, where points mix, a point at a time."""
        residuals = self._residuals(weights, block)
        for member, rows, residual in residuals.components:
            scaled = residual * math.sqrt(member.share)
            if member.term.pointwise:
                yield ResidualRows(rows, scaled.detach(), residuals.slopes(scaled.sum()), pointwise=True)
            else:
                for number in range(block.count):
                    row = slice(rows.start + number, rows.start + number + 1)
                    one = scaled[number : number + 1]
                    yield ResidualRows(row, one.detach(), residuals.slopes(one.sum()), pointwise=False)


class BlockResiduals:
    """The residuals of all members of a block, and their slopes with respect to the network's output.

    This is the only place that uses automatic differentiation: on the user's function, with each derivative
    that it asks for as a leaf of the tape.

    Args:
        block: The block.
        outputs: Per side the network's channels, shape (channels, padded count, fields).
        fields: The maps from the network's outputs to the fields; empty for none.
        taped: Whether slopes will be asked for.

    Attributes:
        components: Each component of each member's residual, shape (count,), with the numbers of its rows.
    """

    def __init__(
        self, block: PointBlock, outputs: Sequence[Tensor], fields: Sequence[Affine], taped: bool = True
    ) -> None:
        self._block = block
        self._outputs = outputs
        self._fields = fields
        self._taped = taped
        self._leaves: dict[tuple[int, int, int], Tensor] = {}
        values = [partial(self._value, side) for side in range(len(outputs))]
        self.components: list[tuple[BlockTerm, slice, Tensor]] = [
            (member, rows, residual)
            for member in block.members
            for rows, residual in zip(member.rows, member.term.residuals(values), strict=True)
        ]

    def slopes(self, total: Tensor) -> list[Tensor]:
        """Derivatives of a sum of residuals by the output's channels of each side."""
        leaves = list(self._leaves.values())
        found = torch.autograd.grad(total, leaves, retain_graph=True, materialize_grads=True)
        bars = [torch.zeros_like(output) for output in self._outputs]
        for (side, channel, field), slope in zip(self._leaves, found, strict=True):
            bars[side][channel, : self._block.count, field] = slope
        return bars

    def _value(self, side: int, field: int, index: MultiIndex) -> Tensor:
        """The derivative of a field; zero for one that another of its combination represents."""
        carried = self._block.carried[side]
        if index in carried.derivatives.absent:
            return self._outputs[side].new_zeros(self._block.count)
        if index not in carried.number:
            raise ProblemError(
                f"asks for the derivative {index} only for some values of the fields; "
                "ask for it always, for instance with torch.where instead of if."
            )
        channel = carried.number[index]
        key = (side, channel, field)
        if key not in self._leaves:
            leaf = self._outputs[side][channel, : self._block.count, field].detach()
            self._leaves[key] = leaf.requires_grad_(self._taped)
        return self._mapped(self._leaves[key], field, is_value=not any(index))

    def _mapped(self, output: Tensor, field: int, is_value: bool) -> Tensor:
        """A field or a derivative of it from the network's output."""
        if not self._fields:
            return output
        scaled = self._fields[field].size * output
        return self._fields[field].shift + scaled if is_value else scaled


@dataclass(frozen=True, eq=False)
class ResidualRows:
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


def _size(block: PointBlock) -> int:
    return block.inputs[0].shape[1] * max(len(each.channels) for each in block.carried)
