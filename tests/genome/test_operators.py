"""Every row of the operator table: derivatives, in closed form and by autograd, against mpmath."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome.operators import BINARY, MAX_ORDER, OPERATORS, UNARY, operator

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
    assert set(REFERENCE) == set(UNARY)
    assert set(BINARY_REFERENCE) == set(BINARY)
    assert all(name == row.name for name, row in OPERATORS.items())


@pytest.mark.parametrize("name", UNARY)
def test_unary_derivatives_against_mpmath(name: str) -> None:
    row = UNARY[name]
    x = torch.tensor(POINTS, dtype=torch.float64)
    x = x[row.smooth(x)]
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
    row = UNARY[name]
    x = torch.tensor([point], dtype=torch.float64)
    # Near a pole both are right, but far apart from each other for the rounding of huge numbers.
    if abs(point) < 1e-3 and not bool(row.smooth(torch.zeros(1))):
        return
    for ours, theirs in zip(row.derivatives(x, 4), nested_autograd(row.function, x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", BINARY)
def test_binary_partials_against_mpmath_and_autograd(name: str) -> None:
    row = BINARY[name]
    for p, q in PAIRS:
        x1 = torch.tensor([p], dtype=torch.float64, requires_grad=True)
        x2 = torch.tensor([q], dtype=torch.float64, requires_grad=True)
        assert bool(row.smooth(x1, x2))
        ours = row.partials(x1.detach(), x2.detach(), MAX_ORDER)
        assert set(ours) == {(i, j) for i in range(6) for j in range(6) if i + j <= MAX_ORDER}
        for (i, j), tensor in ours.items():
            with mpmath.workdps(60):
                point = (mpmath.mpf(p), mpmath.mpf(q))
                exact = (
                    mpmath.diff(BINARY_REFERENCE[name], point, (i, j))
                    if i + j
                    else BINARY_REFERENCE[name](*point)
                )
            assert_close(float(tensor), exact, (name, p, q, i, j))
        value = row.function(x1, x2)
        first, second = torch.autograd.grad(value.sum(), (x1, x2))
        torch.testing.assert_close(value.detach(), ours[0, 0])
        torch.testing.assert_close((first, second), (ours[1, 0], ours[0, 1]), check_stride=False)


@pytest.mark.parametrize("name", ["max", "min"])
def test_a_tie_is_shared_as_autograd_has_it(name: str) -> None:
    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    partials = BINARY[name].partials(x.detach(), y.detach(), 1)
    assert torch.autograd.grad(BINARY[name].function(x, y).sum(), (x, y)) == (partials[1, 0], partials[0, 1])
    assert not bool(BINARY[name].smooth(x, y))


@pytest.mark.parametrize("name", UNARY)
def test_nothing_overflows_where_the_function_does_not(name: str) -> None:
    x = torch.tensor([-1e4, 1e4], dtype=torch.float64)
    values = UNARY[name].derivatives(x, MAX_ORDER)
    for order, derivative in enumerate(values):
        assert not derivative.isnan().any(), (name, order)
        if values[0].isfinite().all():
            assert derivative.isfinite().all(), (name, order)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_shape_and_dtype_are_kept(name: str, dtype: torch.dtype) -> None:
    x = torch.linspace(0.1, 1.0, 6, dtype=dtype).reshape(2, 3)
    for order in range(MAX_ORDER + 1):
        derivatives = UNARY[name].derivatives(x, order)
        assert len(derivatives) == order + 1
        assert all(d.shape == x.shape and d.dtype == dtype for d in derivatives)
    assert UNARY[name].function(x).dtype == dtype
    assert UNARY[name].smooth(x).dtype == torch.bool


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_broadcast(name: str) -> None:
    x1, x2 = torch.linspace(1, 2, 3)[:, None], torch.linspace(3, 4, 2)
    assert all(tensor.shape == (3, 2) for tensor in BINARY[name].partials(x1, x2, 2).values())
    assert BINARY[name].smooth(x1, x2).shape == (3, 2)


@pytest.mark.parametrize("name", ["asinh", "softplus", "sigmoid", "tanh"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_autograd_is_right_at_both_zeros(name: str, zero: float) -> None:
    # These are written with |x|, which must not show at 0.
    autograd = nested_autograd(UNARY[name].function, torch.tensor([zero], dtype=torch.float64))
    for order, exact in enumerate(exact_derivatives(name, 0.0)[:5]):
        assert_close(float(autograd[order]), exact, (name, zero, order))


def test_domain_guards() -> None:
    x = torch.tensor([-1.0, 0.0, 2.0])
    for name in ("inv", "softsign", "recu"):
        assert UNARY[name].smooth(x).tolist() == [True, False, True]
    assert UNARY["tanh"].smooth(x).all()
    assert BINARY["div"].smooth(torch.ones(3), x).tolist() == [True, False, True]
    assert BINARY["add"].smooth(torch.ones(3), x).all()


@pytest.mark.parametrize("order", [-1, 6])
def test_orders_out_of_reach_are_refused(order: int) -> None:
    with pytest.raises(GenomeError, match="orders 0 to 5"):
        UNARY["sin"].derivatives(torch.zeros(1), order)
    with pytest.raises(GenomeError, match="orders 0 to 5"):
        BINARY["mul"].partials(torch.zeros(1), torch.zeros(1), order)


def test_an_unknown_operator_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="tanh"):
        operator("tanhh")
