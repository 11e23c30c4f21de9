"""Derivative channels: derivatives that pass through the network together with its value.

A channel is a derivative ∂^α of the network's layers with respect to the coordinates, or a fixed combination
Σ c_j ∂^α_j of derivatives of one order. A set of channels is closed under Faà di Bruno's formula: what the
activation makes of each channel needs only channels of the set,

    a_α = Σ c · f⁽ᵏ⁾(z) · z_β₁ ··· z_β_k,

for instance a_x = f'·z_x and a_xx = f'·z_xx + f''·z_x². In a combination the terms with one factor are f'
times the same combination of z, and the others have factors of lower order: so u_tt − u_xx is one channel,
a = f'·z_(tt−xx) + f''·(z_t² − z_x²).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evopinn.engine.partitions import chain_rule, closure
from evopinn.problem.fields import MultiIndex

LinearCombination = tuple[tuple[MultiIndex, float], ...]
"""Σ c_j ∂^α_j as pairs (α_j, c_j)."""

Factors = tuple[int, ...]
"""Numbers of the channels z_β that a term multiplies."""


@dataclass(frozen=True)
class Channels:
    """A closed set of channels.

    Attributes:
        singles: Multi-indices, lowest order first; number 0 is the value itself.
        combinations: Combinations of further multi-indices, numbered behind the singles.
        highest_input: Channels of a higher order than this are zero before the activation: 1 in the first
            layer, where z is linear in the coordinates.
    """

    singles: tuple[MultiIndex, ...]
    combinations: tuple[LinearCombination, ...] = ()
    highest_input: int | None = None

    @classmethod
    def of(cls, wanted: Sequence[MultiIndex], combinations: Sequence[LinearCombination] = ()) -> "Channels":
        """The smallest closed set that has these multi-indices and combinations."""
        lower = [
            block
            for combination in combinations
            for index, _ in combination
            for product in chain_rule(index)
            for block in product.blocks
            if product.order > 1
        ]
        return cls(closure([*wanted, *lower]), tuple(combinations))

    def __len__(self) -> int:
        return len(self.singles) + len(self.combinations)

    @cached_property
    def number(self) -> dict[MultiIndex, int]:
        """The number of each single multi-index."""
        return {index: number for number, index in enumerate(self.singles)}

    @cached_property
    def first_layer(self) -> "Channels":
        """The same channels in the first layer, where those of second and higher order start as zero."""
        return Channels(self.singles, self.combinations, highest_input=1)

    @cached_property
    def inputs(self) -> int:
        """The number of channels that may differ from zero before the activation; they come first."""
        highest = self.highest_input
        if highest is None:
            return len(self)
        return sum(1 for index in self.singles if sum(index) <= highest)

    @cached_property
    def order(self) -> int:
        """The highest order of derivative."""
        indices = [*self.singles, *(index for each in self.combinations for index, _ in each)]
        return max(sum(index) for index in indices)

    @cached_property
    def terms(self) -> tuple[tuple[int, float, Factors], ...]:
        """All terms but f itself: (number of the channel, c, numbers of β₁, ..., β_k)."""
        found: list[tuple[int, float, Factors]] = []
        for number, combination in self._numbered():
            # What is left of a combination where each term has one factor is f' times the combination of z.
            gathered: dict[Factors, float] = {(number,): 1.0}
            for index, coefficient in combination:
                for product in chain_rule(index):
                    if product.order > 1:
                        factors = tuple(self.number[block] for block in product.blocks)
                        gathered[factors] = gathered.get(factors, 0.0) + coefficient * product.coefficient
            found += [(number, c, factors) for factors, c in gathered.items() if max(factors) < self.inputs]
        return tuple(found)

    def _numbered(self) -> list[tuple[int, LinearCombination]]:
        singles = [(number, ((index, 1.0),)) for number, index in enumerate(self.singles)]
        behind = len(singles)
        return [*singles[1:], *((behind + k, each) for k, each in enumerate(self.combinations))]
