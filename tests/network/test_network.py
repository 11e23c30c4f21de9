import math

import numpy as np
import pytest
import torch

from evopinn.errors import GenomeError
from evopinn.genome import Genome
from evopinn.network import Layout, Network, forward

PLAIN = Genome.parse("layers=3 neurons=20 activation=tanh(x)")
RICH = Genome.parse("layers=6 neurons=22 shortcuts=0-2,2-3,3-5 activation=a*tanh(b*x)*cos(x)")


def by_hand(genome, theta, points):
    """The same network in NumPy, written from the paper's description, layer by layer."""
    theta, h, position = theta.numpy(), points.numpy(), 0

    def take(*shape):
        nonlocal position
        size = math.prod(shape)
        position += size
        return theta[position - size : position].reshape(shape)

    inputs = []
    width = genome.structure.neurons
    for layer in range(genome.structure.layers):
        for start, end in genome.structure.shortcuts:
            if end == layer:
                h = h + np.pad(inputs[start], ((0, 0), (0, width - inputs[start].shape[1])))
        inputs.append(h)
        last = layer == genome.structure.layers - 1
        weight, bias = take(2 if last else width, h.shape[1]), take(2 if last else width)
        z = h @ weight.T + bias
        if last:
            return z
        a, b = take(2) if genome.activation.parameters else (1, 1)
        h = a * np.tanh(b * z) * np.cos(z) if genome.activation.parameters else np.tanh(z)
    raise AssertionError("unreachable")


@pytest.mark.parametrize("genome", [PLAIN, RICH], ids=["plain", "rich"])
def test_a_network_is_what_the_paper_describes(genome):
    layout = Layout.of_network(genome, inputs=3, outputs=2)
    theta = torch.as_tensor(np.random.default_rng(0).uniform(-0.5, 0.5, layout.size))
    points = torch.as_tensor(np.random.default_rng(1).uniform(-1, 1, (7, 3)))
    expected = by_hand(genome, theta, points)
    assert np.allclose(
        forward(genome, layout.unpack(theta), points).numpy(), expected, rtol=1e-13, atol=1e-13
    )


def test_the_layout_covers_theta_without_gaps():
    layout = Layout.of_network(RICH, 3, 2)
    assert [slot.start for slot in layout.slots[1:]] == [slot.span.stop for slot in layout.slots[:-1]]
    theta = torch.arange(layout.size, dtype=torch.float64)
    assert torch.equal(layout.pack(layout.unpack(theta)), theta)
    weights = 3 * 22 + 4 * 22 * 22 + 22 * 2
    assert layout.size == weights + 5 * 22 + 2 + 5 * 2


def test_tensors_are_views_so_gradients_flow_to_theta():
    layout = Layout.of_network(RICH, 3, 2)
    theta = layout.initial(seed=0).requires_grad_()
    forward(RICH, layout.unpack(theta), torch.ones(4, 3, dtype=torch.float64)).sum().backward()
    assert theta.grad is not None
    assert (theta.grad != 0).float().mean() > 0.9


def test_the_start_follows_the_paper():
    layout = Layout.of_network(RICH, 3, 2)
    tensors = layout.unpack(layout.initial(seed=5))
    for name, tensor in tensors.items():
        if name.endswith("bias"):
            assert (tensor == 0).all()
        elif name.startswith("activations"):
            assert (tensor == 1).all()
        else:
            bound = math.sqrt(6 / tensor.shape[1])
            assert tensor.abs().max() <= bound
    hidden = torch.cat([tensors[f"layers.{i}.weight"].reshape(-1) for i in range(1, 5)])
    bound = math.sqrt(6 / 22)
    assert hidden.abs().max() > 0.99 * bound
    assert hidden.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.03)


def test_a_seed_means_one_start():
    layout = Layout.of_network(RICH, 3, 2)
    assert torch.equal(layout.initial(7), layout.initial(7))
    assert not torch.equal(layout.initial(7), layout.initial(8))
    assert torch.equal(layout.initial(7, torch.float32), layout.initial(7).float())


def test_the_module_is_an_ordinary_one():
    layout = Layout.of_network(RICH, 3, 2)
    theta = layout.initial(0)
    network = Network(RICH, 3, 2, theta)
    points = torch.rand(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.equal(network(points), forward(RICH, layout.unpack(theta), points))
    assert set(network.state_dict()) == layout.shapes.keys()
    assert sum(p.numel() for p in network.parameters()) == layout.size
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    network(points).square().sum().backward()
    optimizer.step()
    assert not torch.equal(network.theta, theta)
    other = Network(RICH, 3, 2, torch.zeros(layout.size, dtype=torch.float64))
    other.load_state_dict(network.state_dict())
    assert torch.equal(other.theta, network.theta)
    assert "a*tanh(b*x)*cos(x)" in repr(network)


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3)])
def test_points_may_have_any_number_of_leading_axes(shape):
    network = Network(RICH, 3, 2, Layout.of_network(RICH, 3, 2).initial(0))
    points = torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = network(points.reshape(-1, 3)).reshape(*shape[:-1], 2)
    assert torch.allclose(network(points), expected, rtol=1e-12)


def test_the_module_works_with_torch_func():
    network = Network(RICH, 3, 2, Layout.of_network(RICH, 3, 2).initial(0))
    points = torch.rand(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    jacobians = torch.func.vmap(torch.func.jacrev(network))(points)
    assert jacobians.shape == (5, 2, 3)


def test_a_shortcut_must_be_able_to_carry_the_coordinates():
    narrow = Genome.parse("layers=4 neurons=3 shortcuts=0-1 activation=tanh(x)")
    with pytest.raises(GenomeError, match=r"neurons=3.* 4 coordinates"):
        Layout.of_network(narrow, inputs=4, outputs=1)
    assert Layout.of_network(narrow, inputs=3, outputs=1).size > 0
