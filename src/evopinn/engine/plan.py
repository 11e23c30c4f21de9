"""The plan of an evaluation, made before a training: points, channels, blocks.

Terms on the same points share a pass through the network. Each set of points carries the channels that its
terms ask for and no others: a boundary value needs no second derivatives. Points with independent residuals
are divided into blocks, so that the arrays of a layer stay in cache and memory does not grow with their
number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from evopinn.engine.channels import Channels
from evopinn.engine.combinations import CarriedDerivatives, carried_derivatives
from evopinn.problem.fields import MultiIndex
from evopinn.problem.scales import UNSCALED, Scales
from evopinn.problem.terms import Side, Term

BLOCK_ON_CPU = 160_000
"""Elements (points times channels times neurons) of a block on a CPU: an array of a layer takes 1.3 MB."""

BLOCK_ELSEWHERE = 4_000_000
"""Elements elsewhere: enough to keep an accelerator busy, few enough to fit its memory."""

POINTS_MULTIPLE = 16
"""Points of a pass come in multiples of this: kernels work on whole vectors of neighbouring elements."""


@dataclass(frozen=True)
class CarriedChannels:
    """The channels that a pass through the network carries for one side of its terms.

    Attributes:
        derivatives: Single derivatives and combinations.
    """

    derivatives: CarriedDerivatives

    @cached_property
    def channels(self) -> Channels:
        """The closed set of channels."""
        return Channels.of(self.derivatives.singles, self.derivatives.combinations)

    @cached_property
    def number(self) -> dict[MultiIndex, int]:
        """The channel that supplies each multi-index; members of a combination but its pivot have none."""
        singles = dict(self.channels.number)
        behind = len(self.channels.singles)
        return singles | {pivot: behind + k for k, pivot in enumerate(self.derivatives.pivots)}


@dataclass(frozen=True, eq=False)
class BlockTerm:
    """A term within a block.

    Attributes:
        term: The term, restricted to the block's points.
        share: Its weight over the number of all its points: the factor of its squares in the loss.
        rows: Per component of its residual, the numbers of its rows among all residuals.
    """

    term: Term
    share: float
    rows: tuple[slice, ...]


@dataclass(frozen=True, eq=False)
class PointBlock:
    """Points that go through the network together.

    Attributes:
        members: The terms on these points.
        count: The number of points.
        carried: Per side, the channels that the pass carries.
        inputs: Per side, the channels of the coordinates, shape (inputs, padded count, d).
    """

    members: tuple[BlockTerm, ...]
    count: int
    carried: tuple[CarriedChannels, ...]
    inputs: tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class EvaluationPlan:
    """All blocks of an evaluation.

    Attributes:
        blocks: The blocks.
        residuals: The number of residuals of all terms, components and points.
    """

    blocks: tuple[PointBlock, ...]
    residuals: int

    @classmethod
    def of(
        cls, terms: Sequence[Term], neurons: int, block: int | None = None, scales: Scales = UNSCALED
    ) -> "EvaluationPlan":
        """The plan for the terms of a problem.

        Args:
            terms: The terms.
            neurons: The width of the network.
            block: Points times channels times neurons of a block; by default few on a CPU, for its cache,
                many elsewhere.
            scales: The maps of the coordinates.
        """
        device = terms[0].sides[0].points.device
        block = block or (BLOCK_ON_CPU if device.type == "cpu" else BLOCK_ELSEWHERE)
        rows = max(1, block // neurons)
        placed: list[Placed] = []
        start = 0
        for term in terms:
            placed.append((term, start))
            start += term.components * term.count
        blocks = [block for group in _on_the_same_points(placed) for block in _blocks(group, rows, scales)]
        return cls(tuple(blocks), start)

    @property
    def size(self) -> int:
        """Points times channels that pass through a layer in an evaluation, without padding."""
        return sum(block.count * len(each.channels) for block in self.blocks for each in block.carried)


Placed = tuple[Term, int]
"""A term and the number of its first residual."""


def _on_the_same_points(terms: Sequence[Placed]) -> list[list[Placed]]:
    groups: list[list[Placed]] = []
    for term, start in terms:
        for group in groups:
            first = group[0][0]
            if term.pointwise and first.pointwise and _same_sides(term.sides, first.sides):
                group.append((term, start))
                break
        else:
            groups.append([(term, start)])
    return groups


def _same_sides(first: Sequence[Side], second: Sequence[Side]) -> bool:
    return len(first) == len(second) and all(
        torch.equal(a.points, b.points) for a, b in zip(first, second, strict=True)
    )


def _blocks(group: Sequence[Placed], rows: int, scales: Scales) -> list[PointBlock]:
    """A group of terms in blocks of points, if its points are independent."""
    terms = [term for term, _ in group]
    first = terms[0]
    carried = tuple(CarriedChannels(carried_derivatives(terms, side)) for side in range(len(first.sides)))
    most = max(len(each.channels) for each in carried)
    size = (
        max(POINTS_MULTIPLE, rows // most // POINTS_MULTIPLE * POINTS_MULTIPLE)
        if first.pointwise
        else first.count
    )
    size = -(-first.count // -(-first.count // size))  # blocks of about equal size
    blocks: list[PointBlock] = []
    for start in range(0, first.count, size):
        part = slice(start, min(start + size, first.count))
        members = tuple(_member(term, offset, part) for term, offset in group)
        inputs = tuple(
            _coordinates(side.points[part], each.channels, scales)
            for side, each in zip(first.sides, carried, strict=True)
        )
        blocks.append(PointBlock(members, part.stop - part.start, carried, inputs))
    return blocks


def _member(term: Term, offset: int, part: slice) -> BlockTerm:
    firsts = [offset + component * term.count for component in range(term.components)]
    rows = tuple(slice(first + part.start, first + part.stop) for first in firsts)
    return BlockTerm(term.restricted(part), term.weight / term.count, rows)


def _coordinates(points: Tensor, channels: Channels, scales: Scales) -> Tensor:
    """The network's input with its derivatives of order up to 1, shape (inputs, padded n, d).

    The last point is repeated as padding; its results are not used.
    """
    missing = -len(points) % POINTS_MULTIPLE
    padded = torch.cat([points, points[-1:].expand(missing, -1)])
    count = channels.first_layer.inputs
    inputs = points.new_zeros((count, *padded.shape))
    inputs[0] = scales.inputs(padded)
    for number, index in enumerate(channels.singles[1:count], start=1):
        axis = index.index(1)
        inputs[number, :, axis] = 1 / scales.sizes[axis] if scales.coordinates else 1
    return inputs
