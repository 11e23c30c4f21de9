"""Figures of a genome and of a network: what is in them."""

import numpy as np
import pytest
import torch
from figured import NETWORK, assert_readable, drawn, marked, texts
from matplotlib.figure import Figure

import evopinn as ep
from evopinn.genome import OPERATORS
from evopinn.network import forward, pre_activations
from evopinn.view.figures.activations import LayerUse, derivative, draw_activation, layer_uses
from evopinn.view.figures.style import text_width
from evopinn.view.figures.trees import operator_sign

figures = ep.figures


@pytest.fixture(scope="module")
def network(transport):
    return ep.train(transport, NETWORK, epochs=3, optimizer="lbfgs", engine="autograd")


def test_a_structure_has_its_layers_shortcuts_and_names(network):
    figure = figures.structure(network).figure
    assert [len(marked(figure, f"layer {layer}")) for layer in range(5)] == [1, 1, 1, 1, 0]
    assert {"x, t", "u", "6\n$f$", "1", "0", "3"} <= set(texts(figure))
    assert any("2 shortcuts" in text and f"{network.parameters} parameters" in text for text in texts(figure))
    for start, end in ((0, 1), (1, 3)):
        (line,) = marked(figure, f"shortcut {start}-{end}")
        x, y = line.get_data()
        # Layer l is at l + 1: a shortcut leaves before its first layer and arrives before its last.
        assert start < x[0] < start + 1
        assert end < x[-1] < end + 1
        assert y[0] == y[-1] == 0
    # The sum of the first is part of what the second carries.
    (first,), (second,) = marked(figure, "shortcut 0-1"), marked(figure, "shortcut 1-3")
    assert first.get_xdata()[-1] < second.get_xdata()[0]


@pytest.mark.parametrize("given", [ep.Structure(4, 6), "layers=4 neurons=6 activation=x"])
def test_a_structure_needs_no_network(given):
    words = texts(figures.structure(given).figure)
    assert {"input", "output"} <= set(words)
    assert any("6 neurons" in word and "no shortcuts" in word for word in words)
    words = texts(figures.structure(given, coordinates=["x", "t"], fields=["u", "v"]).figure)
    assert {"x, t", "u, v", "2"} <= set(words)


@pytest.mark.parametrize("layers", [2, 11, 40])
def test_a_structure_fits_a_page(layers):
    figure = figures.structure(ep.Structure(layers, 50, ((0, layers - 1),))).figure
    assert figure.get_figwidth() <= 7.0 + 1e-9
    widths = [
        text_width("50", text.get_size()) for text in figure.axes[0].texts if text.get_text() == "50\n$f$"
    ]
    left, right = figure.axes[0].get_xlim()
    assert max(widths) < 0.54 * figure.get_figwidth() / (right - left)


def test_the_title_of_a_small_structure_fits():
    small = ep.train(
        "heat", "layers=2 neurons=5 activation=sin(x)", epochs=1, optimizer="lbfgs", engine="autograd"
    )
    figure = figures.structure(small).figure
    renderer = drawn(figure)
    title = figure.axes[0].title.get_window_extent(renderer)
    assert 0 <= title.x0 < title.x1 <= figure.bbox.width


def test_a_tree_has_operators_inputs_and_parameters():
    figure = figures.tree("a*tanh(b*x)*cos(x)+c*x").figure
    assert sorted(node.get_text() for node in marked(figure, "operator")) == [
        "$+$", r"$\cos$", r"$\operatorname{id}$", r"$\tanh$", r"$\times$",
    ]  # fmt: skip
    assert [node.get_text() for node in marked(figure, "input")] == ["$x$"] * 3
    names = {node.get_text(): node.get_position() for node in marked(figure, "parameter")}
    assert list(names) == [r"$\alpha$", r"$\beta$", r"$\gamma$"]
    nodes = {node.get_text(): node.get_position() for node in marked(figure, "operator")}
    # α stands between tanh and the product above it, β between tanh and its x.
    assert np.allclose(names[r"$\alpha$"], np.mean([nodes[r"$\tanh$"], nodes[r"$\times$"]], axis=0))
    x, y = nodes[r"$\tanh$"]
    assert names[r"$\beta$"] == (x, y - 0.5)


def test_no_two_boxes_of_a_tree_are_in_one_place():
    text = "sin(cos(x)*tanh(x))/(max(x, exp(x))-min(erf(x), sin(x)*x))"
    figure = figures.tree(text).figure
    boxes = [box.get_position() for gid in ("operator", "input") for box in marked(figure, gid)]
    assert len(set(boxes)) == len(boxes) == ep.Activation.parse(text).size + 7


@pytest.mark.parametrize("name", OPERATORS)
def test_each_operator_can_be_written(name):
    assert text_width(f"${operator_sign(name)}$", 8) > 0
    assert "#" not in operator_sign(name)


def test_a_formula_is_the_latex_and_fits():
    short, long = "a*tanh(x)", "+".join(["sin(cos(x)*tanh(x))"] * 8)
    for text in (short, long):
        figure = figures.formula(text).figure
        (words,) = figure.axes[0].texts
        assert words.get_text() == f"$f(x) = {ep.Activation.parse(text).latex()}$"
        assert text_width(words.get_text(), words.get_size()) < figure.get_figwidth() <= 7.0
    own = Figure(figsize=(2, 1)).subplots()
    assert figures.formula(long, ax=own) is own
    assert text_width(own.texts[0].get_text(), own.texts[0].get_size()) < own.bbox.width / own.figure.dpi


def test_derivatives_are_those_of_closed_forms():
    x = torch.linspace(-2, 2, 9, dtype=torch.float64)
    a = torch.tensor([1.7, 0.6], dtype=torch.float64)
    tanh = np.tanh(0.6 * x.numpy())
    wanted = (1.7 * tanh, 1.7 * 0.6 * (1 - tanh**2), -2 * 1.7 * 0.36 * tanh * (1 - tanh**2))
    for order, values in enumerate(wanted):
        found = derivative(ep.Activation.parse("a*tanh(b*x)"), a, x, order)
        np.testing.assert_allclose(found.numpy(), values, rtol=1e-13, atol=1e-15)
    none = torch.zeros(0, dtype=torch.float64)
    assert derivative(ep.Activation.parse("x"), none, x, 1).tolist() == [1.0] * 9
    assert derivative(ep.Activation.parse("x"), none, x, 2).tolist() == [0.0] * 9


def test_ranges_are_those_of_the_pre_activations(network, transport):
    points = np.concatenate([side.points.numpy() for term in transport.terms() for side in term.sides])
    tensors = {name: tensor.numpy() for name, tensor in network.layout.unpack(network.theta).items()}

    def f(z, layer):
        a, b = tensors[f"activations.{layer}"]
        return a * np.tanh(b * z) * np.cos(z)

    def linear(h, layer):
        return h @ tensors[f"layers.{layer}.weight"].T + tensors[f"layers.{layer}.bias"]

    z0 = linear(points, 0)
    h1 = f(z0, 0) + np.pad(points, ((0, 0), (0, 4)))
    z1 = linear(h1, 1)
    z2 = linear(f(z1, 1), 2)
    uses = layer_uses(network, transport)
    for use, z in zip(uses, (z0, z1, z2), strict=True):
        shares = (0.005, 0.25, 0.5, 0.75, 0.995)
        np.testing.assert_allclose(use.quartiles, np.quantile(z, shares), rtol=1e-9)
        np.testing.assert_allclose(use.parameters, tensors[f"activations.{use.layer}"])
    given = network.layout.unpack(network.theta)
    inputs = torch.as_tensor(points)
    assert (
        pre_activations(network.genome, given, inputs)[-1] == forward(network.genome, given, inputs)
    ).all()


def test_an_activation_is_shown_per_layer_where_it_is_used(network, transport):
    figure = figures.activation(network, problem=transport)
    uses = layer_uses(network, transport)
    *orders, ranges = figure.subfigs[0].axes + figure.subfigs[1].axes
    for order, ax in enumerate(orders):
        for use in uses:
            (line,) = (line for line in ax.lines if line.get_gid() == f"layer {use.layer}")
            x, y = line.get_data()
            assert (x[0], x[-1]) == pytest.approx(use.range)
            wanted = derivative(network.genome.activation, use.parameters, torch.as_tensor(x), order)
            np.testing.assert_allclose(y, wanted)
        common = {line.get_label(): line for line in ax.lines if line.get_gid() is None}
        assert list(common) == ["tanh", "sin", "swish"]
        x, y = common["sin"].get_data()
        np.testing.assert_allclose(y, (np.sin, np.cos, lambda x: -np.sin(x))[order](x), atol=1e-12)
        assert ax.get_xlabel() == "pre-activation $x$"
        assert ax.get_title() == f"$f{order * chr(39)}(x)$"
    for use in uses:
        (bar,) = (line for line in ranges.lines if line.get_gid() == f"layer {use.layer}")
        assert list(bar.get_xdata()) == [use.quartiles[1], use.quartiles[3]]
    labels = [label.get_text() for label in ranges.get_yticklabels()]
    assert labels[2] == rf"2  $\alpha={uses[2].parameters[0]:.2f}$  $\beta={uses[2].parameters[1]:.2f}$"


def test_an_activation_without_parameters_has_one_curve_over_all_ranges(transport):
    result = ep.train(
        transport, "layers=3 neurons=5 activation=sin(x)", epochs=1, optimizer="lbfgs", engine="autograd"
    )
    figure = figures.activation(result, problem=transport)
    lows, highs = zip(*(use.range for use in layer_uses(result, transport)), strict=True)
    (line, *_) = marked(figure, "all layers")
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (min(lows), max(highs))
    assert len(marked(figure, "all layers")) == 3


def test_an_activation_of_no_network_is_shown_around_zero_with_parameters_of_one():
    figure = figures.activation("a*sin(x)", beside=["tanh"])
    assert len(figure.axes) == 3
    x, y = marked(figure, "all layers")[0].get_data()
    assert (x[0], x[-1]) == (-3, 3)
    np.testing.assert_allclose(y, np.sin(x), atol=1e-15)


def test_an_activation_whose_problem_is_gone_is_shown_with_the_parameters(network):
    figure = figures.activation(network)  # "transport" is in no catalogue
    assert any(text.startswith("not measured") for text in texts(figure))
    assert marked(figure, "layer 1")[0].get_xdata()[0] == -3
    with pytest.raises(ep.EvopinnError, match="'transport'"):
        figures.activation(network, problem="transport")


def test_an_activation_that_explodes_has_a_logarithmic_axis():
    scales = [ax.get_yscale() for ax in figures.activation("exp(exp(x))").axes]
    assert scales == ["symlog"] * 3


@pytest.mark.parametrize(("range_", "waves"), [((-3.0, 3.0), True), ((-35.0, 170.0), False)])
def test_what_oscillates_is_not_shown_beside_over_many_periods(range_, waves):
    low, high = range_
    uses = [LayerUse(0, torch.zeros(0), (low, -1.0, 0.0, 1.0, high))]
    figure = draw_activation(ep.Activation.parse("asinh(x)"), uses)
    for ax in figure.subfigs[0].axes:
        common = [line.get_label() for line in ax.lines if line.get_gid() is None]
        assert common == (["tanh", "sin", "swish"] if waves else ["tanh", "swish"])


def test_few_pre_activations_far_away_do_not_set_the_axis():
    far = LayerUse(0, torch.zeros(0), (-35.0, -4.0, -2.0, 1.0, 170.0))
    assert far.range == (-4.0 - 6 * 5, 1.0 + 6 * 5)
    near = LayerUse(0, torch.zeros(0), (-3.0, -1.0, 0.0, 1.0, 4.0))
    assert near.range == (-3.0, 4.0)
    figure = draw_activation(ep.Activation.parse("asinh(x)"), [far])
    assert all(ax.get_xlim() == far.range for ax in figure.subfigs[0].axes)
    low, high = figure.subfigs[1].axes[0].get_xlim()  # which has all of them
    assert low < -35 < 170 < high


def test_labels_of_a_logarithmic_axis_do_not_lie_on_each_other():
    uses = [LayerUse(0, torch.zeros(0), (-26.0, -1.0, 0.0, 1.0, 26.0))]
    figure = draw_activation(ep.Activation.parse("exp(x)-exp(-x)"), uses)
    assert figure.subfigs[0].axes[0].get_yscale() == "symlog"
    assert_readable(figure)


def test_too_many_activations_beside_are_refused():
    with pytest.raises(ep.EvopinnError, match=r"beside has 4 .* 3\."):
        figures.activation("sin(x)", beside=["tanh"] * 4)
    with pytest.raises(ep.EvopinnError, match=r"\btanh\b"):
        figures.activation("sin(x)", beside=["tahn"])
