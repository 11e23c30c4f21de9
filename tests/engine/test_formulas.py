"""Formulas: symbols, series through a tree, and the programs that run them."""

from collections import Counter

import numpy as np
import pytest
import torch

from evopinn.engine.activation_series import ActivationSeries
from evopinn.engine.channels import Channels
from evopinn.engine.layer_formulas import LayerFormulas
from evopinn.engine.program import Program, saved_for
from evopinn.engine.simplification import OPERATIONS, constant, variable
from evopinn.genome import BINARY, Activation
from evopinn.genome.derivatives import UNARY_FORMS


def computed(symbols, arrays, numbers=None):
    """The values of formulas by their program."""
    program = Program.of(symbols)
    like = next(iter(arrays.values()))
    buffers = [torch.full_like(like, torch.nan) for _ in range(program.buffers)]
    outputs = [torch.full_like(like, torch.nan) for _ in symbols]
    program.bind(arrays, buffers, outputs)(numbers or {})
    return outputs


def test_formulas_are_simplified_as_they_are_written():
    x, y = variable("x"), variable("y")
    assert (x + y) * 2.0 is 2.0 * (x + y)
    assert -torch.neg(x) is x
    assert x**3 is x * x * x
    assert torch.square(x) is x * x
    assert x * 1.0 is x
    assert (x + 0.0) is x
    assert (x * constant(2.0)) * 3.0 is 6.0 * x


@pytest.mark.parametrize("name", UNARY_FORMS)
def test_closed_forms_run_on_symbols(name):
    x = variable("x")
    symbols = UNARY_FORMS[name].derivatives(x, 5)
    values = torch.linspace(-3, 3, 31, dtype=torch.float64)
    found = computed(symbols, {x: values})
    for each, expected in zip(found, UNARY_FORMS[name].derivatives(values, 5), strict=True):
        assert torch.allclose(each, expected, rtol=1e-13, atol=1e-13, equal_nan=True)


def test_products_join_sums():
    x, y, z = (variable(name) for name in "xyz")
    steps = Program.of([x + y * z, x - 3.0 * y, x - 2.0 * (y * y)]).steps
    assert Counter(step.function.__name__ for step in steps) == {"addcmul": 2, "add": 1}


def test_what_is_saved_is_not_computed_again():
    x = variable("x")
    first, second = torch.sin(x) * 2.0, torch.sin(x) + torch.exp(x)
    saved = saved_for([second], [first])
    assert saved == (torch.sin(x),)
    assert [step.function.__name__ for step in Program.of([second], saved).steps] == ["exp", "add"]


def test_comparisons_are_not_saved_as_numbers():
    x = variable("x")
    chosen = torch.where(x > 0, torch.sin(x), torch.cos(x))
    assert all(symbol.operation != "gt" for symbol in saved_for([chosen * x], [chosen + x]))


def test_buffers_take_turns():
    x = variable("x")
    chain = x
    for _ in range(10):
        chain = torch.sin(chain)
    assert Program.of([chain]).buffers == 1


def test_every_operation_has_its_torch_function():
    for operation in OPERATIONS:
        assert callable(getattr(torch, operation))


@pytest.mark.parametrize(
    "text",
    [
        "a*tanh(b*x)*cos(c*x)",
        "x/(exp(a*x)+exp(-a*x))",
        "max(a*sin(x), b*x)",
        "min(sin(a*x), b*cos(x))",
        "a*(b*x-sin(c*tanh(x)))",
        "atan(a*swish(b*x))/(c*(exp(x)+1))",
        "a*x",
        "id(a*x)**2",
        "a*(1/(exp(-b*x)+1)) + c*(-x)",
        "softplus(a*softsign(b*erf(x)))",
        *(f"a*{name}(b*sin(c*x), d*tanh(exp(f*x)))" for name in BINARY),
        *(f"{name}(exp(a*x), x)" for name in BINARY),
        *(f"{name}(x, exp(a*x))" for name in BINARY),
    ],
)
def test_series_through_a_tree_against_nested_autograd(text):
    activation = Activation.parse(text)
    order = 4
    z = torch.as_tensor(np.random.default_rng(0).uniform(0.1, 2, 20)).requires_grad_()
    parameters = torch.as_tensor(
        np.random.default_rng(1).uniform(0.5, 1.5, activation.parameters)
    ).requires_grad_()
    argument = variable("z")
    names = [variable(f"p{k}", varies=False) for k in range(activation.parameters)]
    series = ActivationSeries(activation, argument, names, order + 1)
    given = {argument: z.detach()}, dict(zip(names, parameters.detach().unbind(), strict=True))

    def values(derivatives):
        present = (list(derivatives) + [None] * (order + 2))[: order + 1]
        return computed([constant(0.0) if each is None else each for each in present], *given)

    found = values(series.value)
    by_parameter = [values(each) for each in series.by_parameter(order)]
    derivative = activation(z, parameters)
    for k in range(order + 1):
        assert torch.allclose(found[k], derivative, rtol=1e-9, atol=1e-11), k
        for position, own in enumerate(by_parameter):
            expected = _point_gradients(derivative, parameters)[:, position]
            assert torch.allclose(own[k], expected, rtol=1e-9, atol=1e-11), (k, position)
        derivative = (
            torch.autograd.grad(derivative.sum(), z, create_graph=True, materialize_grads=True)[0]
            if derivative.requires_grad
            else torch.zeros_like(z)
        )


def _point_gradients(values, parameters):
    if not values.requires_grad:
        return torch.zeros(len(values), len(parameters), dtype=values.dtype)
    rows = [
        torch.autograd.grad(value, parameters, retain_graph=True, materialize_grads=True)[0]
        for value in values
    ]
    return torch.stack(rows)


def test_the_layer_without_parameters_has_no_parameter_adjoints():
    formulas = LayerFormulas(Activation.parse("tanh(x)"), Channels.of([(2, 0)]))
    assert len(formulas.adjoint) == formulas.channels.inputs == 3
