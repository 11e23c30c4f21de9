"""What the approximations of functions share: polynomials, their coefficients, bounds."""

from collections.abc import Mapping, Sequence

from evopinn.engine.fused.coefficients import TABLES
from evopinn.engine.fused.lanes import Vector


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
