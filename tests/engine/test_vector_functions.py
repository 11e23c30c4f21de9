"""Vectorised functions against mpmath, in units of the last place, and at the ends of the number range."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from vector_loops import applied

from evopinn.engine.fused.emitter import FORMATS
from evopinn.engine.fused.functions import FUNCTIONS

DTYPES = ("float64", "float32")
inf, nan = math.inf, math.nan

# --- Accuracy -----------------------------------------------------------------------------------------------

# The largest error, in units of the last place, that `functions` states.
ULPS = {
    "abs": 0.0,
    "asinh": 1.5,
    "atan": 2.0,
    "cos": 1.5,
    "cosh": 2.0,
    "erf": 2.0,
    "erfc": 3.5,
    "exp": 1.1,
    "expm1": 2.0,
    "log1p": 1.5,
    "neg": 0.0,
    "sigmoid": 3.0,
    "sin": 1.5,
    "sinh": 2.0,
    "sqrt": 0.5,
    "tanh": 3.0,
}
EXACT = {
    "abs": abs,
    "neg": lambda x: -x,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)) if x > 0 else mp.exp(x) / (1 + mp.exp(x)),
}
EXPONENTIALS = ("cosh", "erf", "erfc", "exp", "expm1", "sigmoid", "sinh", "tanh")


def exact(name: str, x: float) -> mpf:
    """The function in extended precision; far out it is the limit, or beyond the range."""
    function = EXACT.get(name) or getattr(mp, name)
    if name in EXPONENTIALS:  # which would run out of memory, or of patience
        x = max(-3000.0, min(3000.0, x))
    digits = 400 if name in ("sin", "cos") and abs(x) > 1e20 else 40
    with mp.workdps(digits):
        return +function(mpf(x))


def units(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The errors of y = f(x) in units of the last place, denormal numbers included."""
    limits = np.finfo(x.dtype)
    largest, half_unit = mpf(float(limits.max)), mp.ldexp(1, limits.maxexp - limits.nmant - 2)
    errors = np.empty(len(x))
    for i, (at, value) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        true = exact(name, at)
        exponent = max(mp.frexp(true)[1] - 1, limits.minexp)
        if abs(true) >= largest + half_unit:
            errors[i] = 0.0 if value == math.copysign(inf, true) else inf
        elif math.isfinite(value):
            errors[i] = abs(mpf(value) - true) / mp.ldexp(1, exponent - limits.nmant)
        else:
            errors[i] = inf
    return errors


def samples(name: str, dtype: str) -> np.ndarray:
    """Numbers of all magnitudes, denormal ones too, more of them where functions are interesting."""
    rng = np.random.default_rng(sum(map(ord, name)))
    low, high, far = (-323, 308, 760) if dtype == "float64" else (-45, 38, 110)
    signs = rng.choice([-1.0, 1.0], 400)
    x = np.concatenate(
        [
            signs[:300] * 10.0 ** rng.uniform(low, high, 300),
            signs * 10.0 ** rng.uniform(-9, 3, 400),
            rng.uniform(-4, 4, 700),
            rng.uniform(-far, far, 200),
            rng.integers(-(10**5), 10**5, 100) * (math.pi / 2),
            rng.uniform(-1, -0.999, 50),
        ]
    ).astype(dtype)
    if name in ("log1p", "sqrt"):
        x = x[x > (-1 if name == "log1p" else 0)]
    return x[x != 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_accurate_as_stated(name, dtype):
    x = samples(name, dtype)
    errors = units(name, x, applied(FUNCTIONS[name], x))
    worst = int(np.argmax(errors))
    assert errors[worst] <= ULPS[name], f"{errors[worst]:.2f} units at {x[worst]!r}"


# --- The ends of the range ----------------------------------------------------------------------------------

pi = math.pi
LIMITS = {  # of nan, -inf, inf, and signed zeros
    "abs": (nan, inf, inf, 0.0, 0.0),
    "asinh": (nan, -inf, inf, -0.0, 0.0),
    "atan": (nan, -pi / 2, pi / 2, -0.0, 0.0),
    "cos": (nan, nan, nan, 1.0, 1.0),
    "cosh": (nan, inf, inf, 1.0, 1.0),
    "erf": (nan, -1.0, 1.0, -0.0, 0.0),
    "erfc": (nan, 2.0, 0.0, 1.0, 1.0),
    "exp": (nan, 0.0, inf, 1.0, 1.0),
    "expm1": (nan, -1.0, inf, -0.0, 0.0),
    "log1p": (nan, nan, inf, -0.0, 0.0),
    "neg": (nan, inf, -inf, 0.0, -0.0),
    "sigmoid": (nan, 0.0, 1.0, 0.5, 0.5),
    "sin": (nan, nan, nan, -0.0, 0.0),
    "sinh": (nan, -inf, inf, -0.0, 0.0),
    "sqrt": (nan, nan, inf, -0.0, 0.0),
    "tanh": (nan, -1.0, 1.0, -0.0, 0.0),
}
LIKE_X_AT_ZERO = ("asinh", "atan", "expm1", "log1p", "sin", "sinh", "tanh")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_limits_and_signed_zeros(name, dtype):
    y = applied(FUNCTIONS[name], np.array([nan, -inf, inf, -0.0, 0.0], dtype))
    expected = np.array(LIMITS[name], dtype)
    np.testing.assert_array_equal(y, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(y)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LIKE_X_AT_ZERO)
def test_denormal_numbers_pass_unchanged(name, dtype):
    smallest = np.finfo(dtype).smallest_subnormal
    x = np.array([smallest, -smallest, 3 * smallest, -5 * smallest], dtype)
    np.testing.assert_array_equal(applied(FUNCTIONS[name], x), x)


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("exp", [709.7, -708.5, -740.0, -745.1]),  # to the largest number, to denormal ones
        ("cosh", [710.2, -710.47]),
        ("sinh", [710.2, -710.47]),
        ("expm1", [709.7, -40.0]),
        ("erfc", [26.5, 27.2]),
        ("sigmoid", [-740.0, 40.0]),
        ("asinh", [1e300, -1.7e308, 2.0**28, 1.3e8]),
        ("atan", [1e300, -1e300]),
        ("log1p", [1e300, 1.7e308, -1 + 2.0**-53]),
    ],
)
def test_far_out(name, x):
    x = np.array(x)
    y = applied(FUNCTIONS[name], x)
    assert np.isfinite(y).all()
    assert (units(name, x, y) <= ULPS[name]).all()


def test_float32_far_out():
    x = np.array([89.3, -89.3], "float32")
    for name in ("cosh", "sinh"):
        y = applied(FUNCTIONS[name], x)
        assert np.isfinite(y).all()
        assert (units(name, x, y) <= ULPS[name]).all()
    largest = np.array([3.4e38, -3.4e38], "float32")
    assert (units("asinh", largest, applied(FUNCTIONS["asinh"], largest)) <= ULPS["asinh"]).all()


def test_outside_the_domain():
    np.testing.assert_array_equal(
        applied(FUNCTIONS["log1p"], np.array([-1.0, -1.5, -1e300])), [-inf, nan, nan]
    )
    np.testing.assert_array_equal(applied(FUNCTIONS["sqrt"], np.array([-1.0, -1e-300])), [nan, nan])


# --- Sine and cosine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("large", [slice(None), slice(3, 4), slice(0, 0)], ids=["all", "one lane", "none"])
def test_large_arguments_by_the_c_library(name, dtype, large):
    lanes = FORMATS[dtype].lanes
    x = np.linspace(-3.0, 3.0, 2 * lanes).astype(dtype)
    small = applied(FUNCTIONS[name], x)
    x[large] = np.geomspace(2e9, 1e38, 2 * lanes)[large]
    y = applied(FUNCTIONS[name], x)
    assert (units(name, x, y) <= ULPS[name]).all()
    unchanged = np.abs(x) <= 3
    np.testing.assert_array_equal(y[unchanged], small[unchanged])  # whatever the neighbouring lanes are


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_next_to_zeros(name):
    """The double numbers closest to multiples of π/2, by its continued fraction and otherwise."""
    with mp.workdps(60):
        multiples = [*range(1, 200), *convergents(mp.pi / 2, below=6 * 10**8)]
        x = np.array([float(k * mp.pi / 2) for k in multiples])
    assert (units(name, x, applied(FUNCTIONS[name], x)) <= ULPS[name]).all()


def convergents(x: mpf, below: int) -> list[int]:
    """Denominators k for which k x is closest to an integer, and so x k to a number with few digits."""
    found, (previous, last) = [], (0, 1)
    while last < below:
        found.append(last)
        x = 1 / (x - mp.floor(x))
        previous, last = last, int(mp.floor(x)) * last + previous
    return found
