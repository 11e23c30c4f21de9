"""Compiled kernels against the same formulas run by torch, also where numbers end."""

import numpy as np
import pytest
import torch

from evopinn.engine.channels import Channels
from evopinn.engine.fused.engine import FusedKernels
from evopinn.engine.portable import PortableKernels
from evopinn.engine.propagation import LayerArrays, shared_arrays
from evopinn.genome import Activation
from evopinn.genome.operators import BINARY, UNARY

SPECIAL = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-310,
    -1e-310,
    1e300,
    -1e300,
    np.inf,
    -np.inf,
    np.nan,
    1e16,
    -3e9,
    710.0,
    -745.0,
)
CHANNELS = Channels.of([(1, 0)], [(((0, 2), 1.0), ((2, 0), -1.0))])
TEXTS = [
    *(f"{name}(a*x)" for name in UNARY),
    *(f"{name}(a*sin(x), b*exp(x))" for name in BINARY),
    "a*tanh(b*x)*cos(x)",
    "x/(exp(a*x)+exp(-a*x))",
    "a*asinh(swish(b*x))",
    "exp(exp(x))-a*x",
]
POINTS, WIDTH = 16, 3


def arrays_of(dtype, parameters, carried=None):
    rows = len(CHANNELS)
    shape = (rows, POINTS, WIDTH)
    empty = [torch.zeros(shape, dtype=dtype) for _ in range(6)]
    z, a, a_bar, z_bar, z_dot, a_dot = empty
    bars = torch.zeros(parameters, POINTS, WIDTH, dtype=dtype)
    return LayerArrays(z, carried, a, a_bar, z_bar, bars, z_dot, a_dot)


def run(make, activation, dtype, z, a_bar, z_dot, bias, carried):
    """All that a layer computes from the same inputs."""
    arrays = arrays_of(dtype, activation.parameters, carried)
    arrays.z.copy_(z)
    arrays.a_bar.copy_(a_bar)
    arrays.z_dot.copy_(z_dot)
    take = shared_arrays(dtype, torch.device("cpu"))
    layer = make.bind(CHANNELS, arrays, take, take)
    parameters = torch.linspace(0.75, 1.25, activation.parameters, dtype=dtype)
    layer.forward(bias, parameters)
    layer.tangent(parameters, 0.5 * parameters)
    by_element = layer.adjoint_by_element(parameters).clone()
    sums = layer.adjoint(parameters).clone()
    return {"a": arrays.a, "a_dot": arrays.a_dot, "z_bar": arrays.z_bar, "p_bar": by_element, "sums": sums}


def both(text, dtype, z0, carried=None):
    activation = Activation.parse(text)
    generator = torch.Generator().manual_seed(2)
    z, a_bar, z_dot = (
        torch.randn(len(CHANNELS), POINTS, WIDTH, generator=generator, dtype=torch.float64).to(dtype)
        for _ in range(3)
    )
    bias = (
        torch.full((WIDTH,), -0.0, dtype=dtype)
        if z0 is not None
        else torch.linspace(-1, 1, WIDTH, dtype=dtype)
    )
    if z0 is not None:
        z[0] = z0
    kinds = (PortableKernels(activation), FusedKernels(activation, dtype))
    return (run(kind, activation, dtype, z, a_bar, z_dot, bias, carried) for kind in kinds)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-4)])
@pytest.mark.parametrize("text", TEXTS)
def test_ordinary_numbers(text, dtype, tolerance):
    expected, found = both(text, dtype, None)
    for name, value in expected.items():
        scale = value.abs().max() if value.numel() else 0
        assert torch.allclose(found[name], value, rtol=tolerance, atol=tolerance * float(scale)), name


@pytest.mark.parametrize("text", TEXTS)
def test_where_numbers_end(text):
    """What is finite is the same, and what is infinite or not a number is neither finite in the kernel."""
    special = torch.tensor(SPECIAL, dtype=torch.float64)
    z0 = special.repeat(POINTS * WIDTH // len(SPECIAL) + 1)[: POINTS * WIDTH].view(POINTS, WIDTH)
    expected, found = both(text, torch.float64, z0)
    for name in ("a", "a_dot", "z_bar", "p_bar"):
        for channel, (value, ours) in enumerate(zip(expected[name], found[name], strict=True)):
            assert torch.equal(torch.isfinite(ours), torch.isfinite(value)), (name, channel)
            finite = torch.isfinite(value)
            assert torch.allclose(ours[finite], value[finite], rtol=1e-11, atol=1e-300), (name, channel)


def test_signed_zeros_keep_their_sign():
    z0 = torch.tensor([0.0, -0.0, 0.0], dtype=torch.float64).expand(POINTS, WIDTH)
    for text in ("sin(x)", "tanh(x)", "asinh(x)", "atan(x)", "erf(x)", "sinh(x)", "x"):
        _, found = both(text, torch.float64, z0)
        assert torch.equal(torch.signbit(found["a"][0]), torch.signbit(z0)), text


def test_a_shortcut_is_added():
    carried = torch.randn(len(CHANNELS), POINTS, WIDTH, dtype=torch.float64)
    without, _ = both("a*sin(x)", torch.float64, None)
    expected, found = both("a*sin(x)", torch.float64, None, carried)
    assert torch.equal(expected["a"], without["a"] + carried)
    assert torch.allclose(found["a"], expected["a"], rtol=1e-13, atol=1e-13)
