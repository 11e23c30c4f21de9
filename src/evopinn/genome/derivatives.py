"""Closed forms: what an operator computes, and its successive derivatives.

A unary operator's derivatives are a generator that yields f, f', f'', ... in turn. Whoever needs two of them
pays for two, and what they share (an exponential, a reciprocal) is computed once. The forms are chosen to
neither overflow nor cancel far from the origin: exponentials there decay, and rational functions are written
in ratios that stay bounded. They call functions of torch only, so that an engine can run them on symbols.

A binary operator's partial derivatives are a generator of `((i, j), tensor)`, where i and j count the
derivatives with respect to the first and the second input; pairs that it leaves out vanish identically.
"""

import math
from collections.abc import Iterator
from itertools import count

import torch
from torch import Tensor

Partial = tuple[tuple[int, int], Tensor]

# exp(-x²) underflows long before |x| = 40; beyond, only its polynomial factor could still overflow.
_GAUSSIAN_REACH = 40.0
_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)


def constant(like: Tensor, value: float) -> Tensor:
    """A tensor of one value with the shape, dtype and device of another."""
    return torch.full_like(like, value)


def _sign(x: Tensor) -> Tensor:
    """±1 with the sign of x, never 0, and constant to autograd.

    `sign(x) * x` is |x| with a derivative of ±1 also at 0, so that an odd or even function written in it
    keeps its true derivatives there; `torch.abs` would give 0.
    """
    return torch.copysign(torch.ones_like(x), x.detach())


# --- Functions that torch lacks, has slowly, or has with a wrong derivative somewhere -----------------------


def identity(x: Tensor) -> Tensor:
    """The input itself."""
    return x


def exp_plus_one(x: Tensor) -> Tensor:
    """e^x + 1."""
    return torch.exp(x) + 1.0


def exp_neg_plus_one(x: Tensor) -> Tensor:
    """e^-x + 1."""
    return torch.exp(-x) + 1.0


def exp_sum(x: Tensor) -> Tensor:
    """e^x + e^-x, as 2·cosh: autograd's derivative near 0 is then 2·sinh, no difference of exponentials."""
    return 2.0 * torch.cosh(x)


def exp_difference(x: Tensor) -> Tensor:
    """e^x - e^-x, as 2·sinh: exact to the last digits near 0."""
    return 2.0 * torch.sinh(x)


def asinh(x: Tensor) -> Tensor:
    """The inverse hyperbolic sine through log1p.

    As accurate as `torch.asinh` and several times as fast on a CPU, as long as nobody records a graph of it.
    """
    sign = _sign(x)
    a = sign * x
    inverse = torch.reciprocal(a)
    # sqrt(1 + a²) − 1 = a / (1/a + sqrt(1 + 1/a²)), which neither cancels near 0 nor overflows far out.
    return sign * torch.log1p(a + a / (inverse + torch.sqrt(1.0 + inverse * inverse)))


def softsign(x: Tensor) -> Tensor:
    """The soft sign, x / (1 + |x|)."""
    return x / (1.0 + torch.abs(x))


def swish(x: Tensor) -> Tensor:
    """The fixed swish, x · sigmoid(x)."""
    return x * torch.sigmoid(x)


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x) without a threshold; torch's own is linear past 20, where its second derivative is 0.

    Below -700, where e^-x would overflow in nested derivatives, it is constant and as good as zero.
    """
    return torch.logaddexp(torch.clamp(x, min=-700.0), torch.zeros_like(x))


def recu(x: Tensor) -> Tensor:
    """max(0, x)³, the rectified cubic unit."""
    return torch.relu(x) ** 3


# --- Derivatives of the unary operators ---------------------------------------------------------------------


def _zeros(x: Tensor) -> Iterator[Tensor]:
    while True:
        yield constant(x, 0.0)


def identity_series(x: Tensor) -> Iterator[Tensor]:
    """x, 1, 0, ..."""
    yield x
    yield constant(x, 1.0)
    yield from _zeros(x)


def neg_series(x: Tensor) -> Iterator[Tensor]:
    """-x, -1, 0, ..."""
    yield -x
    yield constant(x, -1.0)
    yield from _zeros(x)


def inv_series(x: Tensor) -> Iterator[Tensor]:
    """The n-th derivative of 1/x is (-1)^n n! / x^(n+1)."""
    reciprocal = torch.reciprocal(x)
    term = reciprocal
    for n in count(1):
        yield term
        term = -n * term * reciprocal


def square_series(x: Tensor) -> Iterator[Tensor]:
    """x², 2x, 2, 0, ..."""
    yield x * x
    yield 2.0 * x
    yield constant(x, 2.0)
    yield from _zeros(x)


def _exponentials(x: Tensor) -> Iterator[Tensor]:
    exponential = torch.exp(x)
    while True:
        yield exponential


def exp_series(x: Tensor) -> Iterator[Tensor]:
    """e^x, and again."""
    yield from _exponentials(x)


def exp_plus_one_series(x: Tensor) -> Iterator[Tensor]:
    """e^x + 1, e^x, e^x, ..."""
    exponential = torch.exp(x)
    yield exponential + 1.0
    while True:
        yield exponential


def exp_neg_plus_one_series(x: Tensor) -> Iterator[Tensor]:
    """e^-x + 1, -e^-x, e^-x, ..."""
    decaying = torch.exp(-x)
    yield decaying + 1.0
    while True:
        yield -decaying
        yield decaying


def exp_minus_one_series(x: Tensor) -> Iterator[Tensor]:
    """e^x - 1 (exact near 0), e^x, e^x, ..."""
    yield torch.expm1(x)
    yield from _exponentials(x)


def exp_sum_series(x: Tensor) -> Iterator[Tensor]:
    """e^x + e^-x, e^x - e^-x, and so on in turn."""
    even, odd = exp_sum(x), exp_difference(x)
    while True:
        yield even
        yield odd


def exp_difference_series(x: Tensor) -> Iterator[Tensor]:
    """e^x - e^-x, e^x + e^-x, and so on in turn."""
    even, odd = exp_sum(x), exp_difference(x)
    while True:
        yield odd
        yield even


def sin_series(x: Tensor) -> Iterator[Tensor]:
    """The sine, cosine, minus sine, minus cosine, ..."""
    sine, cosine = torch.sin(x), torch.cos(x)
    while True:
        yield from (sine, cosine, -sine, -cosine)


def cos_series(x: Tensor) -> Iterator[Tensor]:
    """The cosine, minus sine, minus cosine, sine, ..."""
    sine, cosine = torch.sin(x), torch.cos(x)
    while True:
        yield from (cosine, -sine, -cosine, sine)


def sinh_series(x: Tensor) -> Iterator[Tensor]:
    """The hyperbolic sine and cosine in turn."""
    odd, even = torch.sinh(x), torch.cosh(x)
    while True:
        yield odd
        yield even


def cosh_series(x: Tensor) -> Iterator[Tensor]:
    """The hyperbolic cosine and sine in turn."""
    odd, even = torch.sinh(x), torch.cosh(x)
    while True:
        yield even
        yield odd


def asinh_series(x: Tensor) -> Iterator[Tensor]:
    """In s = 1/sqrt(1 + x²) and the bounded ratio t = x·s."""
    yield torch.asinh(x)
    s = torch.rsqrt(1.0 + x * x)
    yield s
    t = x * s
    s2 = s * s
    yield -t * s2
    t2 = t * t
    yield (2.0 * t2 - s2) * s2 * s
    yield t * (9.0 * s2 - 6.0 * t2) * s2 * s2
    yield (24.0 * t2 * t2 - 72.0 * t2 * s2 + 9.0 * s2 * s2) * s2 * s2 * s


def tanh_series(x: Tensor) -> Iterator[Tensor]:
    """In t = tanh(x) and s = 1 - t², where s comes from a decaying exponential, so that its tail is exact."""
    t = torch.tanh(x)
    yield t
    decaying = torch.exp(-2.0 * torch.abs(x))
    ratio = 2.0 / (1.0 + decaying)
    s = decaying * ratio * ratio
    yield s
    ts = t * s
    yield -2.0 * ts
    yield s * (4.0 - 6.0 * s)
    yield ts * (24.0 * s - 8.0)
    yield s * (16.0 + s * (120.0 * s - 120.0))


def atan_series(x: Tensor) -> Iterator[Tensor]:
    """In q = 1/(1 + x²) and the bounded ratios w = x·q and v = x²·q."""
    yield torch.atan(x)
    q = torch.reciprocal(1.0 + x * x)
    yield q
    w = x * q
    yield -2.0 * w * q
    v = x * w
    q2 = q * q
    yield (6.0 * v - 2.0 * q) * q2
    yield 24.0 * w * (q - v) * q2
    yield 24.0 * (5.0 * v * v - 10.0 * v * q + q2) * q2 * q


def _gaussian_series(x: Tensor, scale: float) -> Iterator[Tensor]:
    """Derivatives of scale · exp(-x²): Hermite polynomials times the Gaussian."""
    x = torch.clamp(x, -_GAUSSIAN_REACH, _GAUSSIAN_REACH)
    x2 = x * x
    g = scale * torch.exp(-x2)
    yield g
    yield -2.0 * x * g
    yield (4.0 * x2 - 2.0) * g
    yield x * (12.0 - 8.0 * x2) * g
    yield (x2 * (16.0 * x2 - 48.0) + 12.0) * g


def erf_series(x: Tensor) -> Iterator[Tensor]:
    """The error function, then a Gaussian and its derivatives."""
    yield torch.erf(x)
    yield from _gaussian_series(x, _TWO_OVER_SQRT_PI)


def erfc_series(x: Tensor) -> Iterator[Tensor]:
    """The complementary error function, then minus a Gaussian and its derivatives."""
    yield torch.erfc(x)
    yield from _gaussian_series(x, -_TWO_OVER_SQRT_PI)


def sigmoid_series(x: Tensor) -> Iterator[Tensor]:
    """In p = s·(1 - s) and d = 1 - 2·s with s = sigmoid(x), both from a decaying exponential."""
    yield torch.sigmoid(x)
    decaying = torch.exp(-torch.abs(x))
    ratio = torch.reciprocal(1.0 + decaying)
    p = decaying * ratio * ratio
    yield p
    pd = p * torch.copysign((1.0 - decaying) * ratio, -x)
    yield pd
    yield p * (1.0 - 6.0 * p)
    yield pd * (1.0 - 12.0 * p)
    yield p * (1.0 + p * (120.0 * p - 30.0))


def softsign_series(x: Tensor) -> Iterator[Tensor]:
    """In q = 1/(1 + |x|): x·q, q², and then the n-th derivative times -(n + 1)·sign(x)·q is the next."""
    q = torch.reciprocal(1.0 + torch.abs(x))
    yield x * q
    term = q * q
    step = torch.sign(x) * q
    for n in count(2):
        yield term
        term = -n * term * step


def swish_series(x: Tensor) -> Iterator[Tensor]:
    """With s = sigmoid: the n-th derivative of x·s is x·s⁽ⁿ⁾ + n·s⁽ⁿ⁻¹⁾."""
    lower = constant(x, 0.0)
    for n, derivative in enumerate(sigmoid_series(x)):
        yield x * derivative + n * lower if n else x * derivative
        lower = derivative


def softplus_series(x: Tensor) -> Iterator[Tensor]:
    """The soft ramp, then the sigmoid and its derivatives."""
    yield torch.relu(x) + torch.log1p(torch.exp(-torch.abs(x)))
    yield from sigmoid_series(x)


def recu_series(x: Tensor) -> Iterator[Tensor]:
    """r³, 3r², 6r, 6 (where x > 0), 0, ... with r = max(0, x)."""
    r = torch.relu(x)
    yield r * r * r
    yield 3.0 * r * r
    yield 6.0 * r
    yield 6.0 * torch.where(x > 0, torch.ones_like(x), torch.zeros_like(x))
    yield from _zeros(x)


# --- Partial derivatives of the binary operators ------------------------------------------------------------


def add_partials(x1: Tensor, x2: Tensor, order: int) -> Iterator[Partial]:
    """x1 + x2."""
    yield (0, 0), x1 + x2
    if order:
        yield (1, 0), constant(x1, 1.0)
        yield (0, 1), constant(x1, 1.0)


def sub_partials(x1: Tensor, x2: Tensor, order: int) -> Iterator[Partial]:
    """x1 - x2."""
    yield (0, 0), x1 - x2
    if order:
        yield (1, 0), constant(x1, 1.0)
        yield (0, 1), constant(x1, -1.0)


def mul_partials(x1: Tensor, x2: Tensor, order: int) -> Iterator[Partial]:
    """x1 · x2."""
    yield (0, 0), x1 * x2
    if order >= 1:
        yield (1, 0), x2
        yield (0, 1), x1
    if order >= 2:
        yield (1, 1), constant(x1, 1.0)


def div_partials(x1: Tensor, x2: Tensor, order: int) -> Iterator[Partial]:
    """x1 / x2: linear in x1, and in x2 the derivatives of 1/x2."""
    for j, derivative in zip(range(order + 1), inv_series(x2), strict=False):
        yield (0, j), x1 * derivative
        if j < order:
            yield (1, j), derivative


def _selection_partials(value: Tensor, first: Tensor, second: Tensor, order: int) -> Iterator[Partial]:
    """Partials of an operator that passes one input on; at a tie both share, as torch's autograd has it."""
    yield (0, 0), value
    if order:
        share = 0.5 * (1.0 + first.to(value.dtype) - second.to(value.dtype))
        yield (1, 0), share
        yield (0, 1), 1.0 - share


def max_partials(x1: Tensor, x2: Tensor, order: int) -> Iterator[Partial]:
    """max(x1, x2)."""
    yield from _selection_partials(torch.maximum(x1, x2), x1 > x2, x2 > x1, order)


def min_partials(x1: Tensor, x2: Tensor, order: int) -> Iterator[Partial]:
    """min(x1, x2)."""
    yield from _selection_partials(torch.minimum(x1, x2), x1 < x2, x2 < x1, order)
