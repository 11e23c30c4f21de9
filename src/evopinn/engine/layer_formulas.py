"""Formulas of a layer's element-wise part: all channels through the activation, forwards and back.

Forward, from the channels z_β before the activation f and its parameters p to those behind it,

    a_α = Σ c · f⁽ᵏ⁾(z) · z_β₁ ··· z_β_k.

The adjoint, with bars for derivatives of the loss, first gathers what belongs to each derivative of f,

    g_k = Σ_α ā_α Σ c · z_β₁ ··· z_β_k    over the terms with k factors,

which gives z̄ = Σ_k g_k f⁽ᵏ⁺¹⁾ and, for a parameter p, p̄ = Σ_k g_k ∂f⁽ᵏ⁾/∂p; and for the other channels
z̄_β = Σ over the terms with β of ā_α c f⁽ᵏ⁾ times the other factors. The tangent, with dots for the change
along a direction, is the same linear map forwards: ȧ_α = Σ_β ∂a_α/∂z_β ż_β + Σ_p ∂a_α/∂p ṗ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evopinn.engine.activation_series import ActivationSeries
from evopinn.engine.channels import Channels, Factors
from evopinn.engine.series import Series, at, sum_of_products
from evopinn.engine.simplification import constant, variable
from evopinn.genome import Activation
from evopinn.symbolic import Symbol


@dataclass(frozen=True)
class LayerFormulas:
    """The formulas of an activation on a set of channels.

    Attributes:
        activation: f.
        channels: The channels.
    """

    activation: Activation
    channels: Channels

    @cached_property
    def z(self) -> tuple[Symbol, ...]:
        """The channels before the activation."""
        return _arrays("z", self.channels.inputs)

    @cached_property
    def z_dot(self) -> tuple[Symbol, ...]:
        """Their tangents."""
        return _arrays("z_dot", self.channels.inputs)

    @cached_property
    def a_bar(self) -> tuple[Symbol, ...]:
        """Adjoints of the channels behind the activation."""
        return _arrays("a_bar", len(self.channels))

    @cached_property
    def parameters(self) -> tuple[Symbol, ...]:
        """The parameters of f."""
        return _numbers("p", self.activation.parameters)

    @cached_property
    def parameter_dots(self) -> tuple[Symbol, ...]:
        """Their tangents."""
        return _numbers("p_dot", self.activation.parameters)

    @cached_property
    def forward(self) -> tuple[Symbol, ...]:
        """The channels behind the activation."""
        f = self._series.value
        return _present([f[0], *(self._summed(number, f) for number in range(1, len(self.channels)))])

    @cached_property
    def adjoint(self) -> tuple[Symbol, ...]:
        """Adjoints of the channels before the activation, then per parameter its adjoint at each element."""
        f = self._series.value
        gathered = [self.a_bar[0], *(self._gathered(k) for k in range(1, self.channels.order + 1))]
        value = sum_of_products((1, (g, at(f, k + 1))) for k, g in enumerate(gathered))
        higher = [
            sum_of_products(
                (
                    c * factors.count(number),
                    (self.a_bar[alpha], at(f, len(factors)), *self._product(_without(factors, number))),
                )
                for alpha, c, factors in self.channels.terms
                if number in factors
            )
            for number in range(1, self.channels.inputs)
        ]
        parameters = [
            sum_of_products((1, (g, at(series, k))) for k, g in enumerate(gathered))
            for series in self._by_parameter
        ]
        return _present([value, *higher, *parameters])

    @cached_property
    def tangent(self) -> tuple[Symbol, ...]:
        """Tangents of the channels behind the activation."""
        f = self._series.value
        # The change of f⁽ᵏ⁾ along the direction.
        changes = tuple(
            sum_of_products(
                [
                    (1.0, (at(f, k + 1), self.z_dot[0])),
                    *(
                        (1.0, (at(s, k), p))
                        for s, p in zip(self._by_parameter, self.parameter_dots, strict=True)
                    ),
                ]
            )
            for k in range(self.channels.order + 1)
        )
        values = [changes[0]]
        for number in range(1, len(self.channels)):
            terms = [
                (c, (at(f, len(factors)), self.z_dot[factor], *self._product(others)))
                for alpha, c, factors in self.channels.terms
                if alpha == number
                for place, factor in enumerate(factors)
                for others in [factors[:place] + factors[place + 1 :]]
            ]
            values.append(sum_of_products([(1.0, (self._summed(number, changes),)), *terms]))
        return _present(values)

    def _summed(self, alpha: int, f: Series) -> Symbol | None:
        """Σ_k f⁽ᵏ⁾ · (what the terms of a channel with k factors multiply it with)."""
        return sum_of_products(
            (1.0, (at(f, k), self._polynomials[alpha, k]))
            for k in range(1, self.channels.order + 1)
            if (alpha, k) in self._polynomials
        )

    def _gathered(self, k: int) -> Symbol | None:
        """g_k, the adjoint of f⁽ᵏ⁾."""
        return sum_of_products(
            (1.0, (self.a_bar[alpha], polynomial))
            for (alpha, order), polynomial in self._polynomials.items()
            if order == k
        )

    @cached_property
    def _polynomials(self) -> dict[tuple[int, int], Symbol | None]:
        """Per channel and number k of factors, Σ c · z_β₁ ··· z_β_k; both passes use them."""
        keys = dict.fromkeys((alpha, len(factors)) for alpha, _, factors in self.channels.terms)
        return {
            (number, k): sum_of_products(
                (c, self._product(factors))
                for alpha, c, factors in self.channels.terms
                if (alpha, len(factors)) == (number, k)
            )
            for number, k in keys
        }

    @cached_property
    def _series(self) -> ActivationSeries:
        return ActivationSeries(self.activation, self.z[0], self.parameters, self.channels.order + 1)

    @cached_property
    def _by_parameter(self) -> Sequence[Series]:
        return self._series.by_parameter(self.channels.order)

    def _product(self, factors: Factors) -> tuple[Symbol, ...]:
        """The product of some channels as one factor, so that it is found again wherever it occurs."""
        product: Symbol | None = None
        for factor in factors:
            product = self.z[factor] if product is None else product * self.z[factor]
        return () if product is None else (product,)


def _arrays(name: str, count: int) -> tuple[Symbol, ...]:
    return tuple(variable(f"{name}{number}") for number in range(count))


def _numbers(name: str, count: int) -> tuple[Symbol, ...]:
    return tuple(variable(f"{name}{number}", varies=False) for number in range(count))


def _without(factors: Factors, number: int) -> Factors:
    position = factors.index(number)
    return factors[:position] + factors[position + 1 :]


def _present(values: Sequence[Symbol | None]) -> tuple[Symbol, ...]:
    return tuple(constant(0.0) if value is None else value for value in values)
