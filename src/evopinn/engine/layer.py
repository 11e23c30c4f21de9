"""Derivative channels through an activation, forward and back.

A block of points carries one channel per multi-index α of a set that is closed under Faà di Bruno's formula:
the pre-activations z and their derivatives ∂^α z with respect to the coordinates. The activation maps them to

    a_α = Σ c · f⁽ᵏ⁾(z) · z_β₁ ··· z_β_k,

for instance a_x = f'·z_x and a_xx = f'·z_xx + f''·z_x². The adjoint, with bars for derivatives of the loss,
first gathers what belongs to each derivative of f,

    g_k = Σ_α ā_α Σ c · z_β₁ ··· z_β_k    over the terms with k blocks,

which gives z̄ = Σ_k g_k f⁽ᵏ⁺¹⁾ and, for a parameter p of f, p̄ = Σ_points Σ_k g_k ∂f⁽ᵏ⁾/∂p; and for the other
channels z̄_β = Σ over the terms with β of ā_α c f⁽ᵏ⁾ times the other factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from evopinn.engine.partitions import chain_rule, closure
from evopinn.engine.series import at, sum_of_products
from evopinn.engine.tree import Traced, parameter_series, trace
from evopinn.genome import Activation
from evopinn.problem.fields import MultiIndex

Factors = tuple[int, ...]
"""Numbers of the channels z_β that a term multiplies."""


@dataclass(frozen=True)
class Channels:
    """A closed set of multi-indices, lowest order first, and Faà di Bruno's formula on it.

    Attributes:
        indices: The multi-indices; number 0 is the value itself.
        highest_input: Channels of a higher order than this are zero before the activation: 1 in the first
            layer, where z is linear in the coordinates.
    """

    indices: tuple[MultiIndex, ...]
    highest_input: int | None = None

    @classmethod
    def of(cls, wanted: Sequence[MultiIndex]) -> "Channels":
        """The smallest closed set that has these multi-indices."""
        return cls(closure(wanted))

    @cached_property
    def number(self) -> dict[MultiIndex, int]:
        """The number of each multi-index."""
        return {index: number for number, index in enumerate(self.indices)}

    @cached_property
    def first_layer(self) -> "Channels":
        """The same channels in the first layer, where those of second and higher order start as zero."""
        return Channels(self.indices, highest_input=1)

    @cached_property
    def inputs(self) -> int:
        """How many channels may differ from zero before the activation."""
        highest = self.highest_input
        return sum(1 for index in self.indices if highest is None or sum(index) <= highest)

    @cached_property
    def order(self) -> int:
        """The highest order among the multi-indices."""
        return sum(self.indices[-1])

    @cached_property
    def terms(self) -> tuple[tuple[int, float, Factors], ...]:
        """All terms but f itself: (number of α, c, numbers of β₁, ..., β_k)."""
        found: list[tuple[int, float, Factors]] = []
        for number, index in enumerate(self.indices[1:], start=1):
            for product in chain_rule(index):
                factors = tuple(self.number[block] for block in product.blocks)
                if max(factors) < self.inputs:
                    found.append((number, float(product.coefficient), factors))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Activated:
    """What the adjoint needs of a forward pass through an activation.

    Attributes:
        z: The channels before it, shape (inputs, n, width).
        traced: The activation's derivatives at z.
    """

    z: Tensor
    traced: Traced


def activate(
    channels: Channels, activation: Activation, z: Tensor, parameters: Tensor
) -> tuple[Tensor, Activated]:
    """All channels behind the activation, shape (channels, n, width).

    Args:
        channels: Which channels there are.
        activation: f.
        z: The channels before it, shape (channels.inputs, n, width).
        parameters: The layer's parameters of f.
    """
    traced = trace(activation, z[0], parameters, channels.order + 1)
    series = traced.value
    a = z.new_empty((len(channels.indices), *z.shape[1:]))
    a[0] = _present(series[0], z)
    for number in range(1, len(channels.indices)):
        total = sum_of_products(
            (coefficient, (at(series, len(factors)), *(z[factor] for factor in factors)))
            for alpha, coefficient, factors in channels.terms
            if alpha == number
        )
        a[number] = _present(total, z)
    return a, Activated(z, traced)


def pull_back(
    channels: Channels, activated: Activated, a_bar: Tensor, parameters_bar: Tensor | None
) -> Tensor:
    """The adjoint of `activate`.

    Args:
        channels: Which channels there are.
        activated: From the forward pass.
        a_bar: Derivatives of the loss with respect to its result, shape (channels, n, width).
        parameters_bar: Those with respect to the parameters are added to this.

    Returns:
        Those with respect to z, shape (channels.inputs, n, width).
    """
    z, series = activated.z, activated.traced.value
    z_bar = torch.empty_like(z)
    gathered = _gathered(channels, z, a_bar)
    z_bar[0] = _present(sum_of_products((1, (g, at(series, k + 1))) for k, g in enumerate(gathered)), z)
    for number in range(1, channels.inputs):
        total = sum_of_products(
            (
                coefficient * factors.count(number),
                (a_bar[alpha], at(series, len(factors)), *(z[other] for other in _without(factors, number))),
            )
            for alpha, coefficient, factors in channels.terms
            if number in factors
        )
        z_bar[number] = _present(total, z)
    if parameters_bar is not None:
        by_parameter = parameter_series(activated.traced, z[0], channels.order)
        for position, each in enumerate(by_parameter):
            total = sum_of_products((1, (g, at(each, k))) for k, g in enumerate(gathered))
            if total is not None:
                parameters_bar[position] += total.sum()
    return z_bar


def _gathered(channels: Channels, z: Tensor, a_bar: Tensor) -> list[Tensor | None]:
    """g_k for k = 0, ..., order."""
    higher = (
        sum_of_products(
            (coefficient, (a_bar[alpha], *(z[factor] for factor in factors)))
            for alpha, coefficient, factors in channels.terms
            if len(factors) == k
        )
        for k in range(1, channels.order + 1)
    )
    return [a_bar[0], *higher]


def _without(factors: Factors, number: int) -> Factors:
    position = factors.index(number)
    return factors[:position] + factors[position + 1 :]


def _present(value: Tensor | None, like: Tensor) -> Tensor:
    return like.new_zeros(()) if value is None else value
