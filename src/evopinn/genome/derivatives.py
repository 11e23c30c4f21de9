"""Closed forms of the unary operators and of their derivatives; the only module of genomes that loads torch.

A unary operator's derivatives are a generator that yields f, f', f'', ... in turn. Whoever needs two of them
pays for two, and what they share (an exponential, a reciprocal) is computed once. The forms are chosen to
neither overflow nor cancel far from the origin: exponentials there decay, and rational functions are written
in ratios that stay bounded. They call functions of torch only, so that an engine can run them on symbols.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count, cycle, islice, repeat
from types import MappingProxyType

import torch
from torch import Tensor

from evopinn.errors import GenomeError
from evopinn.genome.operators import BINARY

MAX_ORDER = 5
"""The highest order of derivative that the closed forms give."""

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

    As accurate as `torch.asinh` and several times as fast on a CPU, as long as autograd records no graph of
    it.
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

    Below -700, where e^-x would overflow in nested derivatives, it is constant and practically zero.
    """
    return torch.logaddexp(torch.clamp(x, min=-700.0), torch.zeros_like(x))


def recu(x: Tensor) -> Tensor:
    """max(0, x)³, the rectified cubic unit."""
    return torch.relu(x) ** 3


# --- Derivatives of the unary operators ---------------------------------------------------------------------


def _zeros(x: Tensor) -> Iterator[Tensor]:
    return repeat(constant(x, 0.0))


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


def exp_series(x: Tensor) -> Iterator[Tensor]:
    """e^x, and again."""
    return repeat(torch.exp(x))


def exp_plus_one_series(x: Tensor) -> Iterator[Tensor]:
    """e^x + 1, e^x, e^x, ..."""
    exponential = torch.exp(x)
    yield exponential + 1.0
    yield from repeat(exponential)


def exp_neg_plus_one_series(x: Tensor) -> Iterator[Tensor]:
    """e^-x + 1, -e^-x, e^-x, ..."""
    decaying = torch.exp(-x)
    yield decaying + 1.0
    yield from cycle((-decaying, decaying))


def exp_minus_one_series(x: Tensor) -> Iterator[Tensor]:
    """e^x - 1 (exact near 0), e^x, e^x, ..."""
    yield torch.expm1(x)
    yield from exp_series(x)


def exp_sum_series(x: Tensor) -> Iterator[Tensor]:
    """e^x + e^-x, e^x - e^-x, and so on in turn."""
    return cycle((exp_sum(x), exp_difference(x)))


def exp_difference_series(x: Tensor) -> Iterator[Tensor]:
    """e^x - e^-x, e^x + e^-x, and so on in turn."""
    return cycle((exp_difference(x), exp_sum(x)))


def sin_series(x: Tensor) -> Iterator[Tensor]:
    """The sine, cosine, minus sine, minus cosine, ..."""
    sine, cosine = torch.sin(x), torch.cos(x)
    return cycle((sine, cosine, -sine, -cosine))


def cos_series(x: Tensor) -> Iterator[Tensor]:
    """The cosine, minus sine, minus cosine, sine, ..."""
    sine, cosine = torch.sin(x), torch.cos(x)
    return cycle((cosine, -sine, -cosine, sine))


def sinh_series(x: Tensor) -> Iterator[Tensor]:
    """The hyperbolic sine and cosine in turn."""
    return cycle((torch.sinh(x), torch.cosh(x)))


def cosh_series(x: Tensor) -> Iterator[Tensor]:
    """The hyperbolic cosine and sine in turn."""
    return cycle((torch.cosh(x), torch.sinh(x)))


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


# --- The table ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClosedForm:
    """The function of a unary operator, with its derivatives.

    Attributes:
        function: f on tensors of any shape, dtype and device; differentiable to any order by nested autograd.
        series: A generator of f(x), f'(x), f''(x), ...; see `derivatives`.
    """

    function: Callable[[Tensor], Tensor]
    series: Callable[[Tensor], Iterator[Tensor]]

    def derivatives(self, x: Tensor, order: int) -> tuple[Tensor, ...]:
        """(f(x), f'(x), ..., f⁽ⁿ⁾(x)) for n = `order`, each of x's shape, in closed form.

        They may share memory with each other and with x, so treat them as read-only.

        Examples:
            >>> UNARY_FORMS["sin"].derivatives(torch.zeros(1), 2)
            (tensor([0.]), tensor([1.]), tensor([-0.]))
        """
        if not 0 <= order <= MAX_ORDER:
            raise GenomeError(f"derivatives are known for orders 0 to {MAX_ORDER}, not {order}.")
        return tuple(islice(self.series(x), order + 1))


UNARY_FORMS: Mapping[str, ClosedForm] = MappingProxyType(
    {
        "id": ClosedForm(identity, identity_series),
        "neg": ClosedForm(torch.neg, neg_series),
        "inv": ClosedForm(torch.reciprocal, inv_series),
        "square": ClosedForm(torch.square, square_series),
        "exp": ClosedForm(torch.exp, exp_series),
        "exp_plus_one": ClosedForm(exp_plus_one, exp_plus_one_series),
        "exp_neg_plus_one": ClosedForm(exp_neg_plus_one, exp_neg_plus_one_series),
        "exp_minus_one": ClosedForm(torch.expm1, exp_minus_one_series),
        "exp_sum": ClosedForm(exp_sum, exp_sum_series),
        "exp_difference": ClosedForm(exp_difference, exp_difference_series),
        "sin": ClosedForm(torch.sin, sin_series),
        "sinh": ClosedForm(torch.sinh, sinh_series),
        "asinh": ClosedForm(torch.asinh, asinh_series),
        "cos": ClosedForm(torch.cos, cos_series),
        "cosh": ClosedForm(torch.cosh, cosh_series),
        "tanh": ClosedForm(torch.tanh, tanh_series),
        "atan": ClosedForm(torch.atan, atan_series),
        "erf": ClosedForm(torch.erf, erf_series),
        "erfc": ClosedForm(torch.erfc, erfc_series),
        "sigmoid": ClosedForm(torch.sigmoid, sigmoid_series),
        "softsign": ClosedForm(softsign, softsign_series),
        "swish": ClosedForm(swish, swish_series),
        "softplus": ClosedForm(softplus, softplus_series),
        "recu": ClosedForm(recu, recu_series),
    }
)
"""The closed form of each unary operator, by its name."""

FUNCTIONS: Mapping[str, Callable[..., Tensor]] = MappingProxyType(
    {
        **{name: form.function for name, form in UNARY_FORMS.items()},
        **{name: partial(row.function, torch) for name, row in BINARY.items()},
    }
)
"""The value of each operator, unary or binary, by its name."""
