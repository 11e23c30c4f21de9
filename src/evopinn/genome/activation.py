"""Activation functions: trees that can be called, read, written and compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evopinn.checks import shown
from evopinn.errors import GenomeError
from evopinn.genome.parser import parse_tree
from evopinn.genome.printer import PARAMETER_NAMES, print_latex, print_tree
from evopinn.genome.tree import MAX_DEPTH, Node, canonical, edge_flags

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")

MAX_NAMED_PARAMETERS = len(PARAMETER_NAMES)


@dataclass(frozen=True)
class Activation:
    """A parametric activation function f(x; a, b, ...), as an immutable tree.

    Attributes:
        root: The operator at the top of the tree.

    Examples:
        >>> import torch
        >>> f = Activation.parse("a*tanh(b*x)*cos(x)")
        >>> f.size, f.parameters, f.parameter_edges
        (3, 2, (1, 2))
        >>> f(torch.zeros(5), torch.ones(2))
        tensor([0., 0., 0., 0., 0.])
    """

    root: Node

    def __post_init__(self) -> None:
        """Refuse a tree that has no text form."""
        if not isinstance(self.root, Node):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise GenomeError(f"the root is {self.root!r}, not a Node; `Activation.parse` reads text.")
        if self.parameters > MAX_NAMED_PARAMETERS:
            raise GenomeError(
                f"an activation can have at most {MAX_NAMED_PARAMETERS} parameters; "
                f"this one has {self.parameters}."
            )

    def __call__(self, x: "Tensor", parameters: "Tensor | Sequence[Tensor]" = ()) -> "Tensor":
        """f(x) element by element.

        Args:
            x: Any shape, dtype and device.
            parameters: Shape `(self.parameters,)`, or as many tensors that broadcast against x.

        Returns:
            A tensor of x's shape, differentiable in x and in the parameters to any order.
        """
        given = len(parameters)
        if given != self.parameters:
            raise GenomeError(f"{self.text} has {self.parameters} parameters, but {given} were given.")
        from evopinn.genome.derivatives import FUNCTIONS  # loads torch, which reading and writing need not

        return self.computed(x, parameters, FUNCTIONS)

    def computed(self, x: T, parameters: Iterable[Any], operators: Mapping[str, Callable[..., Any]]) -> T:
        """The same with other operators by name, on whatever these take: symbols, or JAX's arrays."""
        return _computed(self.root, x, iter(parameters), operators)

    @property
    def size(self) -> int:
        """The number of operators."""
        return self.root.size

    @cached_property
    def parameter_edges(self) -> tuple[int, ...]:
        """The edges that carry a parameter, in order: parameter k is on edge `parameter_edges[k]`."""
        return tuple(edge for edge, scaled in enumerate(edge_flags(self.root)) if scaled)

    @property
    def parameters(self) -> int:
        """The number of learnable parameters."""
        return len(self.parameter_edges)

    @cached_property
    def edges(self) -> int:
        """The number of edges: one for each operator's output and one for each leaf's input."""
        return len(edge_flags(self.root))

    @cached_property
    def key(self) -> str:
        """A string that two activation functions share if and only if their trees are equal."""
        return canonical(self.root)

    @cached_property
    def text(self) -> str:
        """The text form; `Activation.parse` reads it back to the same tree."""
        return print_tree(self.root)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> "Activation":
        """Read an activation function from its text form.

        Besides names of operators (`tanh(x)`, `max(x, sin(x))`) it may contain +, -, *, /, `**2` and the
        patterns `1/E`, `exp(E)+1`, `exp(-E)+1`, `exp(E)-1`, `exp(E)+exp(-E)`, `exp(E)-exp(-E)`, each of which
        is one operator. Single letters other than x and e (and alpha, beta, gamma) are learnable parameters:
        `a*E` puts one on the output edge of E, `tanh(b*x)` on the input edge of a leaf. `x` by itself is the
        identity operator.

        Raises:
            GenomeSyntaxError: Says which character is wrong, and why.
        """
        root = parse_tree(text)
        return cls(root)

    def latex(self) -> str:
        r"""The formula in LaTeX, parameters as \alpha, \beta, \gamma, ..."""
        return print_latex(self.root)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `json.dump` takes."""
        return _node_to_json(self.root)

    @classmethod
    def from_json(cls, data: object) -> "Activation":
        """The activation function of `to_json`'s data."""
        return cls(_node_from_json(data))


def _computed(
    node: Node, x: Any, parameters: Iterator[Any], operators: Mapping[str, Callable[..., Any]]
) -> Any:
    """The value on a node's output edge; takes its parameters in edge order."""
    scale = next(parameters) if node.scaled else None
    if node.is_leaf:
        operands = [next(parameters) * x if node.input_scaled else x]
    else:
        operands = [_computed(child, x, parameters, operators) for child in node.children]
    result = operators[node.operator](*operands)
    return result if scale is None else scale * result


def _node_to_json(node: Node) -> dict[str, Any]:
    data: dict[str, Any] = {"operator": node.operator}
    if node.children:
        data["children"] = [_node_to_json(child) for child in node.children]
    if node.scaled:
        data["scaled"] = True
    if node.input_scaled:
        data["input_scaled"] = True
    return data


def _node_from_json(data: object, depth: int = 1) -> Node:
    if depth > MAX_DEPTH:
        raise GenomeError(f"a tree can be at most {MAX_DEPTH} operators deep; this one is deeper.")
    if not isinstance(data, Mapping):
        raise GenomeError(f"an operator is an object with the field 'operator', not {shown(data)}.")
    fields = dict(cast(Mapping[str, object], data))
    name, children = fields.pop("operator", None), fields.pop("children", [])
    scaled, input_scaled = fields.pop("scaled", False), fields.pop("input_scaled", False)
    if fields:
        raise GenomeError(f"an operator has no field {next(iter(fields))!r}.")
    if not isinstance(name, str):
        raise GenomeError(f"an operator needs a name in the field 'operator', not {shown(name)}.")
    if not isinstance(children, list | tuple):
        raise GenomeError(f"the children of {name} are a list of operators, not {shown(children)}.")
    if not isinstance(scaled, bool) or not isinstance(input_scaled, bool):
        raise GenomeError(f"'scaled' and 'input_scaled' of {name} are true or false.")
    nodes = tuple(_node_from_json(child, depth + 1) for child in cast(Sequence[object], children))
    return Node(name, nodes, scaled, input_scaled)
