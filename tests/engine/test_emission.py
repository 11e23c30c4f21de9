"""What is written for a function: nothing twice, and nothing that is not valid where it is used."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from llvmlite import ir
from vector_loops import applied, loop

from evopinn.engine.fused.emitter import Vector
from evopinn.engine.fused.functions import FUNCTIONS, sincos


def lines_after(*functions: Callable[[Vector], Vector]) -> int:
    """The length of a kernel that computes all of these."""

    def total(x: Vector) -> Vector:
        results = [function(x) for function in functions]
        return results[-1]

    return loop(total, "float64").count("\n")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_asked_for_twice_is_written_once(name):
    once = FUNCTIONS[name]
    assert lines_after(once, once) == lines_after(once)


@pytest.mark.parametrize(
    ("first", "second", "more"), [("sin", "cos", 0), ("exp", "expm1", 10), ("sinh", "cosh", 6)]
)
def test_kindred_functions_share(first, second, more):
    first, second = FUNCTIONS[first], FUNCTIONS[second]
    assert lines_after(first, second) <= lines_after(first) + more


def test_operands_of_sums_and_products_may_change_places():
    assert lines_after(lambda x: (x + 2.0) * (2.0 + x)) == lines_after(lambda x: (x + 2.0) * (x + 2.0))


def test_what_a_branch_has_written_is_not_used_behind_it():
    def function(x: Vector) -> Vector:
        emitter = x.emitter
        [replaced] = emitter.unless_any(x > 1.0, [x], lambda: [x * 3.0])
        return replaced + x * 3.0

    x = np.array([0.5, 0.25, -1.0, 0.0, 1.0, -2.0, 0.75, 0.125, 2.0, 0.5])
    np.testing.assert_array_equal(applied(function, x), np.where(x > 1, 3 * x, x) + 3 * x)


def test_operators():
    def function(x: Vector) -> Vector:
        emitter = x.emitter
        inside = (x > -1.0) & (x <= 1.75) | (x < -3.0)
        return emitter.select(inside, 1.0 / (2.0 - x) - 3.0 * -x, emitter.copysign(x - 0.5, 1.0 + x))

    x = np.array([-4.0, -3.0, -2.0, -1.0, -0.5, 0.0, 1.5, 3.0])
    inside = (x > -1) & (x <= 1.75) | (x < -3)
    with np.errstate(divide="ignore"):
        expected = np.where(inside, 1 / (2 - x) + 3 * x, np.copysign(x - 0.5, 1 + x))
    np.testing.assert_allclose(applied(function, x), expected, rtol=1e-15)


def test_constants_too_large_for_float32_are_infinite():
    assert applied(lambda x: x + 1e300, np.zeros(1, "float32")).tolist() == [math.inf]


def test_sincos_is_both():
    x = np.linspace(-10, 10, 40)
    for part, name in enumerate(("sin", "cos")):
        np.testing.assert_array_equal(applied(lambda v, i=part: sincos(v)[i], x), applied(FUNCTIONS[name], x))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_number_in_all_lanes(dtype):
    def function(x: Vector) -> Vector:
        builder = x.emitter.builder
        return x - x.emitter.broadcast(builder.function.args[0], ir.Constant(ir.IntType(64), 2))

    x = np.arange(32, dtype=dtype)
    np.testing.assert_array_equal(applied(function, x), x - 2)
