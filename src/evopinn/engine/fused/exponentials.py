"""The exponential and related functions: hyperbolic, logistic and error functions.

All reduce their argument to k ln 2 + r and take exp(r) from its even and odd part, cosh(r) and sinh(r).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evopinn.engine.fused.coefficients import TABLES
from evopinn.engine.fused.vectors import Bits, Vector

_LOG2_E: Final = 1 / math.log(2)
# Beyond these, exponentials are zero even as denormals, or infinite.
_EXP_RANGE: Final = {"float64": (-746.0, 710.0), "float32": (-104.0, 89.0)}
_HYPERBOLIC_END: Final = {"float64": 710.6, "float32": 89.6}
# Below this, functions like x at zero are x.
TINY: Final = 1e-30


# Polynomials, their coefficients, bounds: shared with the other functions


def polynomial(x: Vector, terms: Sequence[float]) -> Vector:
    """Σ c_k x^k by Horner's scheme."""
    fma = x.emitter.fma
    total = x.emitter.constant(terms[-1])
    for coefficient in reversed(terms[:-1]):
        total = fma(total, x, coefficient)
    return total


def split_polynomial(x: Vector, terms: Sequence[float]) -> Vector:
    """Σ c_k x^k as even and odd part: half the chain of dependent steps, one operation more."""
    even, odd = (polynomial(x * x, terms[start::2]) for start in (0, 1))
    return x.emitter.fma(odd, x, even)


def coefficients(x: Vector) -> Mapping[str, tuple[float, ...]]:
    """The tables for the format of x."""
    return TABLES[x.emitter.format.name]


def clamped(x: Vector, low: float, high: float) -> Vector:
    """X within bounds; nan stays nan."""
    select = x.emitter.select
    x = select(x > high, high, x)
    return select(x < low, low, x)


# Exponentials


@dataclass(frozen=True)
class _Reduced:
    """x = k ln 2 + r with |r| ≤ ln 2 / 2: k plus an offset in the last bits of `shifted`; r and u = r²."""

    shifted: Vector
    r: Vector
    u: Vector

    @property
    def _even(self) -> Vector:
        return polynomial(self.u, coefficients(self.u)["cosh"])

    @property
    def _odd(self) -> Vector:
        return polynomial(self.u, coefficients(self.u)["sinh"])

    @property
    def coshm1(self) -> Vector:
        """cosh(r) - 1."""
        return self.u * self._even

    @property
    def sinh(self) -> Vector:
        """The hyperbolic sine of r."""
        return self.r.emitter.fma(self.r * self.u, self._odd, self.r)

    @property
    def expm1(self) -> Vector:
        """exp(r) - 1."""
        fma = self.r.emitter.fma
        return fma(self.u, fma(self.r, self._odd, self._even), self.r)

    @property
    def power(self) -> Vector:
        """2^k, if the offset is the exponents' bias: the integer moves to where an exponent is stored."""
        return _at_exponent(self.shifted.bits)

    @property
    def two_powers(self) -> tuple[Vector, Vector]:
        """Two factors of 2^k, if the offset is twice the bias: k may be beyond normal exponents."""
        both = self.shifted.bits
        half = both >> 1  # what this brings down from above k is shifted out again
        return _at_exponent(half), _at_exponent(both - half)


def _at_exponent(biased: Bits) -> Vector:
    return (biased << biased.emitter.format.fraction).vector


def _reduced(x: Vector, offset: int, correction: Vector | None = None) -> _Reduced:
    """Reduce x, or x + correction with a correction below its last place; x is not too large."""
    fma, magic = x.emitter.fma, x.emitter.format.magic + offset
    high, low = coefficients(x)["ln2"]
    shifted = fma(x, _LOG2_E, magic)
    k = shifted - magic
    r = fma(k, -low, fma(k, -high, x))
    if correction is not None:
        r = r + correction
    return _Reduced(shifted, r, r * r)


def _exponential(x: Vector) -> _Reduced:
    """The part that exp and expm1 of one argument share."""
    form = x.emitter.format
    return _reduced(clamped(x, *_EXP_RANGE[form.name]), 2 * form.bias)


def exp(x: Vector) -> Vector:
    """The exponential, 2^k (1 + expm1(r))."""
    reduced = _exponential(x)
    first, second = reduced.two_powers
    return x.emitter.fma(first, reduced.expm1, first) * second


def expm1(x: Vector) -> Vector:
    """One less than the exponential: 2^k p + (2^k - 1), halved in between, since 2^k may overflow."""
    emitter = x.emitter
    reduced = _exponential(x)
    first, second = reduced.two_powers
    scale = 0.5 * first * second
    result = 2.0 * emitter.fma(scale, reduced.expm1, scale - 0.5)
    return emitter.select(emitter.abs(x) > TINY, result, x)


def _hyperbolic(x: Vector) -> tuple[_Reduced, Vector, Vector]:
    """The reduced |x|, and 2^(k-2) ± 2^(-k-2): quarters, since 2^k may overflow."""
    emitter, form = x.emitter, x.emitter.format
    a = emitter.abs(x)
    end = _HYPERBOLIC_END[form.name]
    offset = form.bias - 2
    reduced = _reduced(emitter.select(a > end, end, a), offset)
    growing = reduced.power
    # where the decaying power is nothing next to the other, its exponent must not run out
    limit = form.magic + offset + 64
    capped = emitter.select(reduced.shifted > limit, limit, reduced.shifted)
    decaying = _at_exponent(2 * offset - capped.bits)
    return reduced, growing + decaying, growing - decaying


def cosh(x: Vector) -> Vector:
    """The hyperbolic cosine of k ln 2 + r, by that of each."""
    reduced, plus, minus = _hyperbolic(x)
    return 2.0 * (plus + x.emitter.fma(minus, reduced.sinh, plus * reduced.coshm1))


def sinh(x: Vector) -> Vector:
    """The hyperbolic sine of k ln 2 + r, by that of each."""
    emitter = x.emitter
    reduced, plus, minus = _hyperbolic(x)
    result = 2.0 * (minus + emitter.fma(plus, reduced.sinh, minus * reduced.coshm1))
    a = emitter.abs(x)
    return emitter.copysign(emitter.select(a > TINY, result, a), x)


def tanh(x: Vector) -> Vector:
    """The hyperbolic tangent, (1 - e) / (1 + e) with e = exp(-2|x|) and the sign of x.

    e and 2/(1 + e) are written as the derivatives have them, so that they are computed once.
    """
    emitter = x.emitter
    decaying = -2.0 * emitter.abs(x)
    reduced = _exponential(decaying)
    first, second = reduced.two_powers
    scale = first * second
    ratio = 2.0 / (1.0 + exp(decaying))
    return emitter.copysign(0.5 * emitter.fma(scale, reduced.expm1, scale - 1.0) * ratio, x)


def sigmoid(x: Vector) -> Vector:
    """The logistic function, 1/(1 + e) or e/(1 + e) with e = exp(-|x|), so that nothing cancels."""
    emitter = x.emitter
    e = exp(-emitter.abs(x))
    return emitter.select(x > 0.0, 1.0, e) * (1.0 / (1.0 + e))


# Error functions

_ERF_END: Final = 0.75
_ERF_ONE: Final = 6.0
_ERFC_END: Final = {"float64": 28.0, "float32": 10.5}


def _erf_near(x: Vector) -> Vector:
    """erf(x) for |x| ≤ 0.75."""
    return x.emitter.fma(x, polynomial(x * x, coefficients(x)["erf"]), x)


def erfc(x: Vector) -> Vector:
    """The complement 1 - erf(x), for large |x| as exp(-x²) times a polynomial in w = 1/(|x| + 3)."""
    emitter, form = x.emitter, x.emitter.format
    fma, select = emitter.fma, emitter.select
    a = emitter.abs(x)
    end = _ERFC_END[form.name]
    inside = select(a > end, end, a)
    d = inside + 3.0
    w = 1.0 / d
    rounded = inside * inside
    # small relative errors of the result, added to the exponent: rounding of x², of 1/d, of d
    rounding = fma(-inside, inside, rounded) + fma(-w, inside - (d - 3.0), fma(-w, d, 1.0))
    reduced = _reduced(-rounded, 2 * form.bias, rounding)
    first, second = reduced.two_powers
    constant, *rest = coefficients(x)["erfc"]
    t = w - 5 / 32
    shape = first * (w * fma(t, split_polynomial(t, rest), constant))
    tail = fma(shape, reduced.expm1, shape) * second
    return select(a > _ERF_END, select(x > 0.0, tail, 2.0 - tail), 1.0 - _erf_near(x))


def erf(x: Vector) -> Vector:
    """The error function: a polynomial near zero, 1 less exp(-x²) times another for large |x|."""
    emitter, form = x.emitter, x.emitter.format
    a = emitter.abs(x)
    inside = emitter.select(a > _ERF_ONE, _ERF_ONE, a)
    reduced = _reduced(-(inside * inside), form.bias)
    w = 1.0 / (inside + 3.0)
    shape = reduced.power * (w * split_polynomial(w - 3 / 16, coefficients(x)["erf_tail"]))
    tail = emitter.fma(shape, reduced.expm1, shape)
    return emitter.copysign(emitter.select(a > _ERF_END, 1.0 - tail, _erf_near(a)), x)
