"""Mutations of an activation function: of its operators, and of the parameters on its edges.

Parameters are inherited. A parameter stays with the value that it multiplies:

- A node inserted on an edge gets a new output edge without a parameter; the old parameter stays below it, on
  the output of the subtree it was on, or next to x if the edge was a leaf's input.
- A node removed joins the edges above and below it; the joined edge has a parameter if either had one.
- The parameters inside a subtree that is removed go with it.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from numpy.random import Generator

from evopinn.genome.activation import Activation
from evopinn.genome.operators import UNARY, operator
from evopinn.genome.space import Space
from evopinn.genome.tree import Node, Path, replace_at, walk, with_parameters
from evopinn.genome.variation.sampling import Mutation, mutate_with, pick

OPERATOR_SHARE = 4 / 7
"""The share of mutations of operators: 4 to 3 of those of parameters."""


def mutate_activation(activation: Activation, space: Space, rng: Generator) -> tuple[Activation, str]:
    """Mutate operators or parameters, as 4 to 3; of that kind one type, all equally likely.

    If the type cannot apply, another of its kind does; if none of them can, one of the other kind does.
    """
    kinds = [OPERATOR_MUTATIONS, PARAMETER_MUTATIONS]
    if rng.random() >= OPERATOR_SHARE:
        kinds.reverse()
    for kind in kinds:
        if mutated := mutate_with(kind, activation, space, rng):
            return mutated
    return activation, ""


# --- Operators ----------------------------------------------------------------------------------------------


def insert_node(activation: Activation, space: Space, rng: Generator) -> Activation | None:
    """Put a random operator on a random edge.

    A binary operator takes the subtree below the edge as one input, on either side, and a random unary
    operator of x as the other. Below a leaf's input edge there is only x: a unary operator takes x itself, a
    binary one takes the identity of x.
    """
    room = space.max_operators - activation.size
    if room < 1:
        return None
    # An edge is the path of its node, and whether it is that node's input edge.
    edges = [(path, False) for path, _ in walk(activation.root)]
    input_edges = [(path, True) for path, node in walk(activation.root) if node.is_leaf]
    name = pick((*space.unary, *space.binary) if room >= 2 else space.unary, rng)
    binary = name not in UNARY
    path, below_leaf = pick(
        edges if binary and not _fits_below_leaf(room, space) else edges + input_edges, rng
    )
    node = _node_at(activation.root, path)
    below = Node("id", input_scaled=node.input_scaled) if below_leaf else node
    if binary:
        pair = (below, Node(pick(space.unary, rng)))
        new = Node(name, pair if rng.random() < 0.5 else pair[::-1])
    elif below_leaf:
        new = Node(name, input_scaled=node.input_scaled)
    else:
        new = Node(name, (below,))
    grown = Node(node.operator, (new,), node.scaled) if below_leaf else new
    return Activation(replace_at(activation.root, path, grown))


def _fits_below_leaf(room: int, space: Space) -> bool:
    """Whether a binary operator, the identity and another unary operator fit on a leaf's input edge."""
    return room >= 3 and "id" in space.unary


def remove_node(activation: Activation, space: Space, rng: Generator) -> Activation | None:  # noqa: ARG001
    """Take out a random node; a binary one leaves a random one of its inputs in its place.

    A leaf below a binary operator stays, since that operator needs both inputs: removing the operator itself
    is what takes out such a leaf.
    """
    root = activation.root
    if root.size == 1:
        return None
    paths = [
        path for path, node in walk(root) if not node.is_leaf or len(_node_at(root, path[:-1]).children) == 1
    ]
    path = pick(paths, rng)
    node = _node_at(root, path)
    if node.is_leaf:
        parent = _node_at(root, path[:-1])
        joined = Node(parent.operator, (), parent.scaled, node.scaled or node.input_scaled)
        return Activation(replace_at(root, path[:-1], joined))
    kept = pick(node.children, rng)
    return Activation(replace_at(root, path, replace(kept, scaled=kept.scaled or node.scaled)))


def change_node(activation: Activation, space: Space, rng: Generator) -> Activation | None:
    """Give a random node another operator of the same arity."""
    candidates = [path for path, node in walk(activation.root) if _alternatives(node, space)]
    if not candidates:
        return None
    path = pick(candidates, rng)
    node = _node_at(activation.root, path)
    changed = replace(node, operator=pick(_alternatives(node, space), rng))
    return Activation(replace_at(activation.root, path, changed))


def regenerate_nodes(activation: Activation, space: Space, rng: Generator) -> Activation | None:
    """Give every node another operator of the same arity; shape and parameters stay."""
    if not any(_alternatives(node, space) for _, node in walk(activation.root)):
        return None

    def rebuild(node: Node) -> Node:
        names = _alternatives(node, space)
        name = pick(names, rng) if names else node.operator
        return replace(node, operator=name, children=tuple(rebuild(child) for child in node.children))

    return Activation(rebuild(activation.root))


def _alternatives(node: Node, space: Space) -> list[str]:
    names = space.unary if operator(node.operator).arity == 1 else space.binary
    return [name for name in names if name != node.operator]


def _node_at(root: Node, path: Path) -> Node:
    node = root
    for index in path:
        node = node.children[index]
    return node


# --- Parameters ---------------------------------------------------------------------------------------------


def insert_parameter(activation: Activation, space: Space, rng: Generator) -> Activation | None:
    """Put a parameter on a random edge that has none."""
    free = _free_edges(activation)
    if activation.parameters >= space.max_parameters or not free:
        return None
    return _with_edges(activation, {*activation.parameter_edges, pick(free, rng)})


def remove_parameter(activation: Activation, space: Space, rng: Generator) -> Activation | None:  # noqa: ARG001
    """Take a random parameter away."""
    if not activation.parameters:
        return None
    return _with_edges(activation, {*activation.parameter_edges} - {pick(activation.parameter_edges, rng)})


def move_parameter(activation: Activation, space: Space, rng: Generator) -> Activation | None:  # noqa: ARG001
    """Move a random parameter to a random edge that has none."""
    free = _free_edges(activation)
    if not activation.parameters or not free:
        return None
    left = {*activation.parameter_edges} - {pick(activation.parameter_edges, rng)}
    return _with_edges(activation, left | {pick(free, rng)})


def _free_edges(activation: Activation) -> list[int]:
    return [edge for edge in range(activation.edges) if edge not in activation.parameter_edges]


def _with_edges(activation: Activation, edges: set[int]) -> Activation:
    return Activation(with_parameters(activation.root, edges))


OPERATOR_MUTATIONS: Mapping[str, Mutation[Activation]] = MappingProxyType(
    {
        "insert node": insert_node,
        "remove node": remove_node,
        "change node": change_node,
        "regenerate nodes": regenerate_nodes,
    }
)
PARAMETER_MUTATIONS: Mapping[str, Mutation[Activation]] = MappingProxyType(
    {
        "insert parameter": insert_parameter,
        "remove parameter": remove_parameter,
        "move parameter": move_parameter,
    }
)
