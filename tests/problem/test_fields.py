import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evopinn.errors import ProblemError
from evopinn.problem.fields import FieldValues, derivative_name, multi_index

VALUES = {
    (0, 0): torch.tensor([1.0, 2.0]),
    (2, 0): torch.tensor([3.0, 4.0]),
    (1, 1): torch.tensor([5.0, 6.0]),
}


@pytest.fixture
def u() -> FieldValues:
    return FieldValues("u", ("x", "t"), VALUES.__getitem__)


@given(st.lists(st.sampled_from(["x", "y", "t"]), min_size=1, max_size=4))
def test_a_derivative_is_known_by_the_letters_of_its_name_in_any_order(letters):
    index = multi_index("".join(letters), ("x", "y", "t"))
    assert index == (letters.count("x"), letters.count("y"), letters.count("t"))
    assert (
        multi_index(derivative_name("u", index, ("x", "y", "t")).removeprefix("u."), ("x", "y", "t")) == index
    )


@pytest.mark.parametrize(
    ("name", "coordinates", "expected"),
    [
        ("theta", ("r", "theta"), (0, 1)),
        ("rtheta", ("r", "theta"), (1, 1)),
        ("theta_theta_r", ("r", "theta"), (1, 2)),
        ("x1_x1", ("x1", "x2"), (2, 0)),
    ],
)
def test_coordinates_may_have_several_letters(name, coordinates, expected):
    assert multi_index(name, coordinates) == expected


@pytest.mark.parametrize(
    ("name", "coordinates", "message"),
    [
        ("z", ("x", "t"), r"\bcoordinates x, t\b.* u\.t or u\.xx\b"),
        ("xz", ("x", "t"), r"\bcoordinates x, t\b.* u\.t or u\.xx\b"),
        ("x_", ("x", "t"), r"\bcoordinates x, t\b.* u\.t or u\.xx\b"),
        ("xxxxx", ("x", "t"), r"\border 5\b.*\bat most order 4\b"),
        ("aa", ("a", "aa"), "several ways"),
    ],
)
def test_a_name_that_is_no_derivative_is_refused(name, coordinates, message):
    with pytest.raises(ProblemError, match=message):
        multi_index(name, coordinates)


def test_derivatives_are_attributes(u):
    assert torch.equal(u.xx, VALUES[2, 0])
    assert torch.equal(u.xt, VALUES[1, 1])
    assert torch.equal(u.tx, VALUES[1, 1])


@pytest.mark.parametrize(
    "operation",
    [
        lambda u: u + 2,
        lambda u: 2 + u,
        lambda u: u - 2,
        lambda u: 2 - u,
        lambda u: u * 2,
        lambda u: 2 * u,
        lambda u: u / 2,
        lambda u: 2 / u,
        lambda u: u**2,
        lambda u: u**0.5,
        lambda u: 2**u,
        lambda u: -u,
        abs,
        lambda u: u + u,
        lambda u: u < 1.5,
        lambda u: u <= 1,
        lambda u: u > 1.5,
        lambda u: u >= 2,
        torch.sin,
        torch.exp,
        lambda u: torch.maximum(u, torch.zeros(2)),
        lambda u: torch.stack([torch.zeros(2), u * 1]),
    ],
)
def test_a_field_behaves_as_its_values(u, operation):
    assert torch.equal(operation(u), operation(VALUES[0, 0]))


def test_arrays_are_taken_as_tensors(u):
    assert torch.equal(u * np.array([2.0, 3.0], dtype=np.float32), torch.tensor([2.0, 6.0]))
    assert torch.equal(np.array([2.0, 3.0], dtype=np.float32) - u, torch.tensor([1.0, 1.0]))


def test_numpy_functions_give_tensors_that_autograd_follows():
    values = torch.tensor([0.5, 1.0], requires_grad=True)
    u = FieldValues("u", ("x",), lambda _: values)
    result = np.sin(u) + np.power(u, 2)
    (gradient,) = torch.autograd.grad(result.sum(), values)
    assert torch.allclose(gradient, torch.cos(values) + 2 * values)


def test_probing_for_a_protocol_is_no_mistake(u):
    assert not hasattr(u, "__array_interface__")
