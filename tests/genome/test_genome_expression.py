"""Laws of activation functions, over random trees of all operators."""

import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import GenomeError, UnknownNameError
from evopinn.genome import BINARY, UNARY, Activation, Node
from evopinn.genome.activation import MAX_NAMED_PARAMETERS
from evopinn.genome.tree import MAX_DEPTH, replace_at, walk, with_parameters

leaves = st.builds(Node, st.sampled_from(list(UNARY)), scaled=st.booleans(), input_scaled=st.booleans())
# Operators whose notation could be mistaken for one another come up more often, bare as well as scaled.
tricky_leaves = st.builds(
    Node,
    st.sampled_from(["id", "neg", "exp", "exp_sum", "inv"]),
    scaled=st.booleans(),
    input_scaled=st.booleans(),
)
tricky_unary = st.sampled_from(
    ["neg", "exp", "exp_plus_one", "exp_neg_plus_one", "id", "inv", "square", "exp_sum"]
)


def _larger(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    unary = st.builds(
        Node, st.one_of(tricky_unary, st.sampled_from(list(UNARY))), st.tuples(children), scaled=st.booleans()
    )
    binary = st.builds(
        Node, st.sampled_from(list(BINARY)), st.tuples(children, children), scaled=st.booleans()
    )
    return st.one_of(unary, binary)


def _writable(node: Node) -> bool:
    flags = sum(n.scaled + n.input_scaled for _, n in walk(node))
    return flags <= MAX_NAMED_PARAMETERS


trees = st.recursive(st.one_of(leaves, tricky_leaves), _larger, max_leaves=8).filter(_writable)
big_trees = st.recursive(leaves, _larger, max_leaves=40).filter(_writable)


@given(trees)
@settings(deadline=None, max_examples=400)
def test_text_reads_back_as_the_same_tree(root: Node) -> None:
    activation = Activation(root)
    assert Activation.parse(activation.text) == activation
    assert Activation.parse(activation.text.replace(" ", "")) == activation
    assert str(activation) == activation.text


@given(big_trees)
@settings(deadline=None, max_examples=30)
def test_text_of_a_big_tree_reads_back(root: Node) -> None:
    assert Activation.parse(Activation(root).text).root == root


def _exp_pair(p: Node, q: Node) -> list[Node]:
    return [Node(op, (Node("exp", (p,)), Node("exp", (q,)))) for op in ("add", "sub")]


@given(trees)
@settings(deadline=None, max_examples=60)
def test_trees_that_look_like_patterns_read_back(root: Node) -> None:
    if root.depth > MAX_DEPTH - 4:
        return
    negative = Node("neg", (root,))
    candidates = [*_exp_pair(root, negative), *_exp_pair(negative, root), *_exp_pair(root, root)]
    candidates += [
        Node("exp_plus_one", (negative,)),
        Node("exp_minus_one", (negative,)),
        Node("neg", (negative,)),
    ]
    for candidate in candidates:
        # The two halves of a pair have parameters of their own, which tells them apart from a pattern.
        if _writable(candidate):
            assert Activation.parse(Activation(candidate).text).root == candidate


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("scaled", [False, True])
def test_the_deepest_trees_read_back(name: str, scaled: bool) -> None:
    root = Node(name, scaled=scaled, input_scaled=scaled)
    for _ in range(MAX_DEPTH - 1):
        root = Node(name, (root,), scaled=scaled)
    activation = Activation(root)
    assert Activation.parse(activation.text) == activation
    assert len(activation.text) < 40 * MAX_DEPTH
    assert len(activation.latex()) < 80 * MAX_DEPTH
    with pytest.raises(GenomeError, match="deep"):
        Node(name, (root,))


@given(trees)
@settings(deadline=None, max_examples=100)
def test_json_reads_back_as_the_same_tree(root: Node) -> None:
    activation = Activation(root)
    assert Activation.from_json(json.loads(json.dumps(activation.to_json()))) == activation


@given(trees, trees)
@settings(deadline=None, max_examples=100)
def test_keys_are_equal_exactly_if_trees_are(first: Node, second: Node) -> None:
    a, b = Activation(first), Activation(second)
    assert (a.key == b.key) == (first == second)
    assert (a.text == b.text) == (first == second)
    assert a.key == Activation.parse(a.text).key
    assert hash(a) == hash(Activation.parse(a.text))


@given(trees)
@settings(deadline=None, max_examples=100)
def test_moving_a_parameter_changes_the_key(root: Node) -> None:
    activation = Activation(root)
    keys = {Activation(with_parameters(root, {edge})).key for edge in range(activation.edges)}
    assert len(keys) == activation.edges


@given(trees)
@settings(deadline=None, max_examples=100)
def test_edges_and_parameters_are_counted(root: Node) -> None:
    activation = Activation(root)
    nodes = [node for _, node in walk(root)]
    binary = sum(node.operator in BINARY for node in nodes)
    assert activation.size == len(nodes)
    assert activation.edges == 2 * binary + (len(nodes) - binary) + 1
    assert activation.parameters == sum(node.scaled + node.input_scaled for node in nodes)
    assert with_parameters(root, activation.parameter_edges) == root
    assert len(activation.parameter_edges) == activation.parameters


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("a*tanh(b*x)*cos(x)", (1, 2)),
        ("a*(cos(x)*(b*atan(x))*sigmoid(c*x))", (0, 4, 7)),
        ("sin(a*x)*sigmoid(x)", (2,)),
        ("a*asinh(swish(b*x))", (0, 2)),
        ("atan(a*swish(b*x))", (1, 2)),
        ("sin(tanh(a*x))", (2,)),
        ("a*sigmoid(b*x)", (0, 1)),
    ],
)
def test_edges_are_numbered_in_preorder(text: str, edges: tuple[int, ...]) -> None:
    assert Activation.parse(text).parameter_edges == edges


def test_value_and_order_of_parameters() -> None:
    x = torch.linspace(-2, 2, 9, dtype=torch.float64)
    a, b, c = torch.tensor([2.0, 3.0, 0.5], dtype=torch.float64)
    f = Activation.parse("a*(cos(x)*(b*atan(x))*sigmoid(c*x))")
    expected = a * torch.cos(x) * b * torch.atan(x) * torch.sigmoid(c * x)
    torch.testing.assert_close(f(x, torch.stack((a, b, c))), expected)
    torch.testing.assert_close(f(x, [a, b, c]), expected)


@given(trees)
@settings(deadline=None, max_examples=100)
def test_parameters_of_one_change_nothing(root: Node) -> None:
    x = torch.linspace(0.2, 0.8, 4, dtype=torch.float64)
    scaled, plain = Activation(root), Activation(with_parameters(root, ()))
    ones = torch.ones(scaled.parameters, dtype=torch.float64)
    torch.testing.assert_close(scaled(x, ones), plain(x), equal_nan=True)


def test_activations_are_differentiable_in_x_and_parameters() -> None:
    f = Activation.parse("a*tanh(b*x)*cos(x)")
    x = torch.linspace(-1, 1, 5, dtype=torch.float64, requires_grad=True)
    parameters = torch.tensor([0.7, 1.3], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, (x, parameters))
    assert torch.autograd.gradgradcheck(f, (x, parameters))


def test_the_wrong_number_of_parameters_is_refused() -> None:
    with pytest.raises(GenomeError, match=r"^tanh\(a\*x\) .*1 .*2 "):
        Activation.parse("tanh(a*x)")(torch.zeros(1), torch.ones(2))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a*tanh(b*x)*cos(x)", r"\alpha \cdot \tanh(\beta \cdot x) \cdot \cos(x)"),
        ("x/(exp(x)+exp(-x))", r"\frac{x}{e^{x} + e^{-x}}"),
        ("a*(-tanh(b*x))", r"\alpha \cdot (-\tanh(\beta \cdot x))"),
        ("1/(exp(-a*x)+1)", r"\frac{1}{e^{-\alpha \cdot x} + 1}"),
        ("exp(x)**2", r"(e^{x})^{2}"),
        ("exp_sum(tanh(x))", r"2 \cosh(\tanh(x))"),
        ("max(x, a*sin(x))", r"\max(x, \alpha \cdot \sin(x))"),
        ("x-(sin(x)-cos(x))", r"x - (\sin(x) - \cos(x))"),
    ],
)
def test_latex_reads_like_the_paper(text: str, latex: str) -> None:
    assert Activation.parse(text).latex() == latex


@given(trees)
@settings(deadline=None, max_examples=100)
def test_latex_is_balanced(root: Node) -> None:
    latex = Activation(root).latex()
    assert latex.count("{") == latex.count("}")
    assert latex.count("(") == latex.count(")")
    assert "#" not in latex


def test_malformed_trees_are_refused() -> None:
    x = Node("id")
    with pytest.raises(UnknownNameError, match="tanh"):
        Node("tanhh")
    with pytest.raises(GenomeError, match=r"mul .*two .*1"):
        Node("mul", (x,))
    with pytest.raises(GenomeError, match=r"sin .*one .*2"):
        Node("sin", (x, x))
    with pytest.raises(GenomeError, match=r"max .*two .*0"):
        Node("max")
    with pytest.raises(GenomeError, match=r"sin .*leaf"):
        Node("sin", (x,), input_scaled=True)
    wide = x
    for _ in range(6):
        wide = Node("add", (wide, wide), scaled=True)
    with pytest.raises(GenomeError, match=r"\b50 .*\b63\b"):
        Activation(wide)


@pytest.mark.parametrize(
    "data",
    [
        None,
        "tanh(x)",
        {},
        {"operator": 3},
        {"operator": "tanh", "scale": True},
        {"operator": "tanh", "scaled": 1},
        {"operator": "tanh", "children": "x"},
        {"operator": "tanh", "children": [None]},
    ],
)
def test_malformed_json_is_refused(data: object) -> None:
    with pytest.raises(GenomeError):
        Activation.from_json(data)


def test_bottomless_json_is_refused() -> None:
    data: dict[str, object] = {"operator": "sin"}
    for _ in range(5000):
        data = {"operator": "sin", "children": [data]}
    with pytest.raises(GenomeError, match="deep"):
        Activation.from_json(data)


def test_replacing_a_node_leaves_the_original_alone() -> None:
    root = Activation.parse("tanh(x)*cos(x)").root
    changed = replace_at(root, (1,), Node("sin"))
    assert Activation(changed).text == "tanh(x)*sin(x)"
    assert Activation(root).text == "tanh(x)*cos(x)"


def test_a_value_by_hand() -> None:
    x = torch.tensor(0.3, dtype=torch.float64)
    value = float(Activation.parse("x/(exp(x)+exp(-x))")(x))
    assert value == pytest.approx(0.3 / (math.exp(0.3) + math.exp(-0.3)), rel=1e-14)
