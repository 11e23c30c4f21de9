"""The immutable binary tree behind an activation function, with learnable parameters on its edges.

A node is an operator. A leaf is a unary operator without children: it takes x. Values flow along edges, from
x up to the root: every node has an output edge, and a leaf has an input edge too. A learnable parameter
multiplies what flows along its edge. Edges are numbered in preorder: a node's output edge, then its
children's; for a leaf its output edge, then its input edge. Parameters are numbered in the order of their
edges.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from evopinn.errors import GenomeError
from evopinn.genome.operators import operator

MAX_DEPTH = 24
"""The deepest tree allowed: well past any that can be trained, and safe for recursive functions."""

Path = tuple[int, ...]
"""The position of a node: the number of the child to take at each step down from the root."""


@dataclass(frozen=True)
class Node:
    """An operator with its inputs.

    Attributes:
        operator: Name of a row of the operator table.
        children: The inputs, in order; empty for a leaf, which takes x.
        scaled: Whether a learnable parameter sits on the output edge.
        input_scaled: Whether one sits on the input edge; only a leaf has one.

    Examples:
        >>> Node("tanh", scaled=True, input_scaled=True)  # a*tanh(b*x)
        Node(operator='tanh', children=(), scaled=True, input_scaled=True)
    """

    operator: str
    children: tuple["Node", ...] = ()
    scaled: bool = False
    input_scaled: bool = False
    depth: int = field(init=False, compare=False, repr=False)
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse unknown operators and wrong numbers of inputs."""
        arity = operator(self.operator).arity
        given = len(self.children)
        if given != arity and not (given == 0 and arity == 1):
            takes = "two inputs" if arity == 2 else "one input, or none for x"
            raise GenomeError(f"operator {self.operator} takes {takes}, but was given {given}.")
        if self.input_scaled and self.children:
            raise GenomeError(
                f"{self.operator} is not a leaf and has no input edge; scale the output of its child instead."
            )
        object.__setattr__(self, "depth", 1 + max((child.depth for child in self.children), default=0))
        object.__setattr__(self, "size", 1 + sum(child.size for child in self.children))
        if self.depth > MAX_DEPTH:
            raise GenomeError(
                f"a tree can be at most {MAX_DEPTH} operators deep; this one has depth {self.depth}."
            )

    @property
    def is_leaf(self) -> bool:
        """Whether this node takes x."""
        return not self.children


def walk(root: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """All nodes with their paths, in preorder."""
    yield path, root
    for index, child in enumerate(root.children):
        yield from walk(child, (*path, index))


def replace_at(root: Node, path: Path, new: Node) -> Node:
    """The tree with the node at `path`, and all below it, replaced by `new`."""
    if not path:
        return new
    index, *rest = path
    changed = replace_at(root.children[index], tuple(rest), new)
    return replace(root, children=(*root.children[:index], changed, *root.children[index + 1 :]))


def edge_flags(root: Node) -> tuple[bool, ...]:
    """For each edge, in order, whether it carries a parameter."""
    flags: list[bool] = []
    for _, node in walk(root):
        flags.append(node.scaled)
        if node.is_leaf:
            flags.append(node.input_scaled)
    return tuple(flags)


def with_parameters(root: Node, edges: Collection[int]) -> Node:
    """The tree with parameters on exactly these edges."""
    numbers = count()

    def rebuild(node: Node) -> Node:
        scaled = next(numbers) in edges
        if node.is_leaf:
            return Node(node.operator, (), scaled, next(numbers) in edges)
        return Node(node.operator, tuple(rebuild(child) for child in node.children), scaled)

    return rebuild(root)


def canonical(root: Node) -> str:
    """A string that two trees share if and only if they are equal; `*` marks an edge with a parameter.

    Unlike the text form it does not depend on how operators are written, so it can be stored and hashed.

    Examples:
        >>> canonical(Node("mul", (Node("tanh", scaled=True, input_scaled=True), Node("cos"))))
        'mul(*tanh(*x),cos(x))'
    """
    inputs = (
        ",".join(canonical(child) for child in root.children)
        if root.children
        else "*x" * root.input_scaled or "x"
    )
    return f"{'*' * root.scaled}{root.operator}({inputs})"
