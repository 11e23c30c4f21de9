"""The residuals of a block from the network's output, and their slopes with respect to it.

This is the one place where automatic differentiation is at work: on the user's function, with each derivative
that it asks for as a leaf of the tape.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from evopinn.engine.plan import Block, Member
from evopinn.errors import ProblemError
from evopinn.problem.fields import MultiIndex


class BlockResiduals:
    """The residuals of all members of a block.

    Args:
        block: The block.
        outputs: Per side the network's channels, shape (channels, padded count, fields).
        taped: Whether slopes will be asked for.

    Attributes:
        components: Each component of each member's residual, shape (count,), with the numbers of its rows.
    """

    def __init__(self, block: Block, outputs: Sequence[Tensor], taped: bool = True) -> None:
        self._block = block
        self._outputs = outputs
        self._taped = taped
        self._leaves: dict[tuple[int, int, int], Tensor] = {}
        values = [partial(self._value, side) for side in range(len(outputs))]
        self.components: list[tuple[Member, slice, Tensor]] = [
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
        """The derivative of a field; zero for one that another one of its combination stands for."""
        carried = self._block.carried[side]
        if index in carried.combining.absent:
            return self._outputs[side].new_zeros(self._block.count)
        if index not in carried.number:
            raise ProblemError(
                f"asks for the derivative {index} only for some values of the fields; "
                "ask for it always, for instance with torch.where in the place of if."
            )
        channel = carried.number[index]
        key = (side, channel, field)
        if key not in self._leaves:
            leaf = self._outputs[side][channel, : self._block.count, field].detach()
            self._leaves[key] = leaf.requires_grad_(self._taped)
        return self._leaves[key]
