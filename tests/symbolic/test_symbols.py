"""Symbols and recorded arrays: what is recorded is what is done, and what cannot be recorded is refused."""

import copy
import math

import numpy as np
import pytest
import torch

from evopinn.errors import ProblemError
from evopinn.symbolic import RecordedArray, Recording, Vocabulary, evaluated, in_order, inputs, whole_power

OPERATIONS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "lt", "le", "gt", "ge", "atan2"), 2),
    **dict.fromkeys(("neg", "abs", "sin", "exp", "asin"), 1),
    "where": 3,
}
PLAIN = Vocabulary(OPERATIONS)
X, Y = PLAIN.input("x"), PLAIN.input("y")
AT = {"x": 0.3, "y": 1.7}


def value(symbol, at=AT):
    def rule(each, operands):
        if each.operation == "input":
            return torch.tensor(at[each.value], dtype=torch.float64)
        if each.is_constant():
            return torch.tensor(each.value, dtype=torch.float64)
        return getattr(torch, each.operation)(*operands)

    return float(evaluated(symbol, rule, {}))


WRITTEN = [
    lambda x, y: (x + y) * (2 - x) / (y - 1) - 3 / x,
    lambda x, y: -x + (+y) ** 2 + 2**x - abs(x - y) + 1,
    lambda x, y: torch.sin(x) + y.sin() - torch.subtract(x, torch.multiply(2.0, y)),
    lambda x, y: torch.where(x < y, x, y) + torch.where(x >= y, x, 2.0 * y),
    lambda x, y: torch.full_like(x, 3.0) * x + torch.ones_like(y) - torch.zeros_like(x),
    lambda x, y: torch.tensor(2.0) * x - torch.tensor(3.0) / y + torch.arcsin(x),
]


@pytest.mark.parametrize("function", WRITTEN)
def test_a_function_of_tensors_is_recorded_as_it_computes(function):
    expected = function(*(torch.tensor(AT[name], dtype=torch.float64) for name in "xy"))
    assert value(function(X, Y)) == pytest.approx(float(expected), rel=1e-14)


def test_numpys_functions_and_scalars_are_recorded():
    recorded = np.sin(X) * np.float64(2) + np.power(Y, 2) - np.arctan2(X, np.float32(0.5))
    assert value(recorded) == pytest.approx(2 * math.sin(0.3) + 1.7**2 - math.atan2(0.3, 0.5))


def test_equal_expressions_are_the_same_symbol():
    assert torch.sin(X + Y) is np.sin(X + Y)
    assert X + Y is not Y + X
    assert PLAIN.input("x") is X
    assert PLAIN.input("x", varies=False) is not X
    assert PLAIN.constant(1) is PLAIN.constant(1.0)
    assert PLAIN.constant(0.0) is not PLAIN.constant(-0.0)
    assert Vocabulary(OPERATIONS).input("x") is not X


def test_a_number_varies_with_nothing():
    number = PLAIN.input("p", varies=False)
    assert not (number * 2 + 1).varies
    assert (number * X).varies


@pytest.mark.parametrize(
    "needs_numbers",
    [
        lambda: bool(X > 0),
        lambda: X == 0.5,
        lambda: X != Y,
        lambda: X[0],
        lambda: float(X),
        lambda: len(X),
        lambda: X + np.ones(3),
        lambda: torch.lgamma(X),
        lambda: torch.clamp(X, min=0),
        lambda: X.cumsum(0),
        lambda: np.add(X, 1, dtype=float),
    ],
)
def test_what_has_no_word_is_refused(needs_numbers):
    with pytest.raises((TypeError, NotImplementedError, AttributeError)):
        needs_numbers()


def test_symbols_are_told_apart_by_identity_in_sets_and_dictionaries():
    many = [PLAIN.input(number) for number in range(2000)]
    assert len(set(many)) == len(dict.fromkeys(many)) == 2000
    assert copy.copy(X).operation == "input"


def test_rules_replace_what_is_recorded():
    simple = Vocabulary(OPERATIONS, {"pow": whole_power, "square": lambda a: a * a})
    x = simple.input("x")
    assert x**3 is (x * x) * x
    assert torch.square(x) is x**2
    for exponent in (0.5, -1, 0, x):
        with pytest.raises(NotImplementedError, match="power"):
            x**exponent


def test_inputs_have_what_a_vocabulary_gives_them():
    marked = Vocabulary(
        OPERATIONS, attributes=lambda value, name: f"{value}.{name}" if name == "dot" else None
    )
    x = marked.input("x")
    assert x.dot is marked.input("x.dot")
    assert x.sin() is torch.sin(x)
    with pytest.raises(AttributeError, match="no cumsum"):
        x.cumsum(0)


def test_walks_go_once_through_what_is_shared():
    total = X
    for _ in range(200):  # written out it would have 2^200 operations
        total = total + total
    visited = []
    evaluated(total, lambda symbol, operands: visited.append(symbol), {})
    assert len(visited) == 201
    assert len(in_order([total])) == 200
    assert inputs(total * Y) == {X, Y}


def test_operands_come_first_and_what_is_known_is_left_out():
    inner = torch.sin(X)
    outer = torch.exp(inner * Y)
    assert in_order([outer, inner]) == [inner, inner * Y, outer]
    assert in_order([outer], {inner}) == [inner * Y, outer]


def recorded(function, *values):
    recording = Recording()
    arrays = [recording.input(torch.as_tensor(each), number) for number, each in enumerate(values)]
    return function(*arrays), recording


def operations(recording):
    return [call.operation for call in recording.calls]


def test_recorded_arrays_compute_what_tensors_do():
    x, y = np.linspace(0, 1, 5), np.linspace(2, 3, 5)

    def function(x, y):
        low, high = torch.stack([x, 2 - y]).unbind()
        z = torch.zeros_like(x)
        z[1:] = (x * y)[1:]
        return torch.cumsum(low, 0) + high.mean() - z / 3

    found, recording = recorded(function, x, y)
    expected = function(torch.as_tensor(x), torch.as_tensor(y))
    assert isinstance(found, RecordedArray)
    assert found.as_subclass(torch.Tensor).tolist() == expected.tolist()
    assert "setitem" in operations(recording)  # although its result is None


def test_operators_are_known_whichever_way_round():
    found, recording = recorded(lambda x: 3 - (2 * x) / 4, np.ones(3))
    assert [
        (call.operation, [each.value for each in call.operands if each.is_constant()])
        for call in recording.calls
    ] == [("mul", [2.0]), ("div", [4.0]), ("sub", [3.0])]
    assert found.symbol.operands[0].is_constant(3.0)


def test_what_is_done_in_place_is_no_operator():
    _, recording = recorded(lambda x: (1 * x).add_(x), np.ones(3))
    assert operations(recording) == ["mul", "add_"]


def test_options_make_another_operation():
    _, recording = recorded(lambda x: torch.add(x, x, alpha=2), np.ones(3))
    assert operations(recording) == ["add with alpha"]


def test_arrays_from_elsewhere_equal_nothing():
    elsewhere = torch.ones(3)
    (one, other), _ = recorded(lambda x: (x * elsewhere, x * elsewhere), np.ones(3))
    assert one.symbol is not other.symbol


@pytest.mark.parametrize(
    "look", [bool, float, int, lambda x: x.item(), lambda x: x.tolist(), lambda x: x.numpy(), np.asarray]
)
def test_nobody_looks_at_values(look):
    with pytest.raises(ProblemError, match="values"):
        recorded(look, np.ones(1))
