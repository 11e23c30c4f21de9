"""Every row of the operator table: values and derivatives, in closed form and by autograd, against mpmath."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome.derivatives import FUNCTIONS, MAX_ORDER, UNARY_FORMS
from evopinn.genome.operators import BINARY, OPERATORS, UNARY, operator

Real = Any  # mpmath's numbers have no type stubs


def _exp(x: Real) -> Real:
    return mpmath.exp(x)


def _softplus(x: Real) -> Real:
    return mpmath.log1p(mpmath.exp(x))


def _sigmoid(x: Real) -> Real:
    return 1 / (1 + mpmath.exp(-x))


REFERENCE: dict[str, Callable[[Real], Real]] = {
    "id": lambda x: x,
    "neg": lambda x: -x,
    "inv": lambda x: 1 / x,
    "square": lambda x: x * x,
    "exp": mpmath.exp,
    "exp_plus_one": lambda x: _exp(x) + 1,
    "exp_neg_plus_one": lambda x: _exp(-x) + 1,
    "exp_minus_one": lambda x: _exp(x) - 1,
    "exp_sum": lambda x: _exp(x) + _exp(-x),
    "exp_difference": lambda x: _exp(x) - _exp(-x),
    "sin": mpmath.sin,
    "sinh": mpmath.sinh,
    "asinh": mpmath.asinh,
    "cos": mpmath.cos,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "atan": mpmath.atan,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "sigmoid": _sigmoid,
    "softsign": lambda x: x / (1 + abs(x)),
    "swish": lambda x: x * _sigmoid(x),
    "softplus": _softplus,
    "recu": lambda x: max(mpmath.mpf(0), x) ** 3,
}
BINARY_REFERENCE: dict[str, Callable[[Real, Real], Real]] = {
    "add": lambda p, q: p + q,
    "sub": lambda p, q: p - q,
    "mul": lambda p, q: p * q,
    "div": lambda p, q: p / q,
    "max": lambda p, q: p if p > q else q,
    "min": lambda p, q: p if p < q else q,
}
ROUGH_AT_ZERO = {"inv", "softsign", "recu"}
"""Unary operators that have no value or no continuous derivatives at 0."""

POINTS = [
    0.0,
    1e-8,
    -1e-8,
    0.1,
    -0.1,
    0.5,
    -0.5,
    1.0,
    -1.7,
    3.0,
    -3.0,
    10.0,
    -10.0,
    30.0,
    -30.0,
    300.0,
    -300.0,
]
PAIRS = [(0.3, 0.7), (-2.0, 1.5), (1.5, -2.0), (30.0, -0.25), (-300.0, 30.0), (0.0, 1e-3), (3.0, 300.0)]


def assert_close(ours: float, exact: Real, context: object) -> None:
    error = abs(mpmath.mpf(ours) - exact)
    assert error <= max(1e-10 * abs(exact), 1e-14), (context, ours, mpmath.nstr(exact, 17))


def exact_derivatives(name: str, point: float) -> list[Real]:
    # Differences of nearby values lose digits; what is left of 50 is ample.
    with mpmath.workdps(50):
        x = mpmath.mpf(point)
        return [mpmath.diff(REFERENCE[name], x, n) for n in range(MAX_ORDER + 1)]


def nested_autograd(
    function: Callable[[torch.Tensor], torch.Tensor], points: torch.Tensor
) -> list[torch.Tensor]:
    x = points.clone().requires_grad_()
    results = [function(x)]
    for _ in range(4):
        last = results[-1]
        if last.requires_grad:
            (gradient,) = torch.autograd.grad(
                last.sum(), x, create_graph=True, allow_unused=True, materialize_grads=True
            )
        else:
            gradient = torch.zeros_like(x)
        results.append(gradient)
    return [result.detach() for result in results]


def test_the_table_is_the_papers() -> None:
    assert sum(row.library for row in UNARY.values()) == 23
    assert sum(row.library for row in BINARY.values()) == 6
    assert set(REFERENCE) == set(UNARY) == set(UNARY_FORMS)
    assert set(BINARY_REFERENCE) == set(BINARY)
    assert set(FUNCTIONS) == set(OPERATORS)
    assert {row.arity for row in UNARY.values()} == {1}
    assert {row.arity for row in BINARY.values()} == {2}
    assert all(name == row.name for name, row in OPERATORS.items())


@pytest.mark.parametrize("name", UNARY)
def test_unary_derivatives_against_mpmath(name: str) -> None:
    row = UNARY_FORMS[name]
    points = [point for point in POINTS if point != 0 or name not in ROUGH_AT_ZERO]
    x = torch.tensor(points, dtype=torch.float64)
    ours = row.derivatives(x, MAX_ORDER)
    autograd = nested_autograd(row.function, x)
    for index, point in enumerate(x.tolist()):
        for order, exact in enumerate(exact_derivatives(name, point)):
            assert_close(float(ours[order][index]), exact, (name, point, order))
            if order < len(autograd):
                assert_close(float(autograd[order][index]), exact, (name, point, order, "autograd"))


@pytest.mark.parametrize("name", UNARY)
@given(point=st.floats(-50, 50))
@settings(deadline=None, max_examples=25)
def test_unary_autograd_agrees_with_closed_forms_everywhere(name: str, point: float) -> None:
    row = UNARY_FORMS[name]
    x = torch.tensor([point], dtype=torch.float64)
    # Near a pole both are right, but far apart from each other for the rounding of huge numbers.
    if abs(point) < 1e-3 and name in ROUGH_AT_ZERO:
        return
    for ours, theirs in zip(row.derivatives(x, 4), nested_autograd(row.function, x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_against_mpmath(name: str) -> None:
    x1, x2 = (torch.tensor(each, dtype=torch.float64) for each in zip(*PAIRS, strict=True))
    for (p, q), value in zip(PAIRS, FUNCTIONS[name](x1, x2).tolist(), strict=True):
        assert_close(value, BINARY_REFERENCE[name](mpmath.mpf(p), mpmath.mpf(q)), (name, p, q))
    assert FUNCTIONS[name](x1[:, None], x2).shape == (len(PAIRS), len(PAIRS))


@pytest.mark.parametrize("name", UNARY)
def test_nothing_overflows_where_the_function_does_not(name: str) -> None:
    x = torch.tensor([-1e4, 1e4], dtype=torch.float64)
    values = UNARY_FORMS[name].derivatives(x, MAX_ORDER)
    for order, derivative in enumerate(values):
        assert not derivative.isnan().any(), (name, order)
        if values[0].isfinite().all():
            assert derivative.isfinite().all(), (name, order)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_shape_and_dtype_are_kept(name: str, dtype: torch.dtype) -> None:
    x = torch.linspace(0.1, 1.0, 6, dtype=dtype).reshape(2, 3)
    for order in range(MAX_ORDER + 1):
        derivatives = UNARY_FORMS[name].derivatives(x, order)
        assert len(derivatives) == order + 1
        assert all(d.shape == x.shape and d.dtype == dtype for d in derivatives)
    assert FUNCTIONS[name](x).dtype == dtype


@pytest.mark.parametrize("name", ["asinh", "softplus", "sigmoid", "tanh"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_autograd_is_right_at_both_zeros(name: str, zero: float) -> None:
    # These are written with |x|, which must not show at 0.
    autograd = nested_autograd(FUNCTIONS[name], torch.tensor([zero], dtype=torch.float64))
    for order, exact in enumerate(exact_derivatives(name, 0.0)[:5]):
        assert_close(float(autograd[order]), exact, (name, zero, order))


@pytest.mark.parametrize("order", [-1, 6])
def test_orders_out_of_reach_are_refused(order: int) -> None:
    with pytest.raises(GenomeError, match="orders 0 to 5"):
        UNARY_FORMS["sin"].derivatives(torch.zeros(1), order)


def test_an_unknown_operator_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="tanh"):
        operator("tanhh")
