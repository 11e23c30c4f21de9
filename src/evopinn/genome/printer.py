"""The printer of activation functions, as text and as LaTeX.

The text is what a person would write, if it reads back as the same tree; if it would be read as another
operator (`exp(x)+exp(-x)` is one), it is the function form (`add(exp(x), exp(-x))`). So
`parse_tree(print_tree(t)) == t` for every tree t.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from string import ascii_letters

from evopinn.genome.operators import Binding, Notation, operator
from evopinn.genome.parser import parse_tree
from evopinn.genome.tree import Node

PARAMETER_NAMES = tuple(letter for letter in ascii_letters if letter not in "xe")
"""The names of the parameters, in the order of their edges; `x` is the input, and `e` looks like a number."""

_GREEK = tuple(rf"\{name}" for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"))


@dataclass(frozen=True)
class _Printed:
    text: str
    binding: Binding

    def within(self, required: Binding) -> str:
        return self.text if self.binding >= required else f"({self.text})"


def print_tree(root: Node) -> str:
    """The text of a tree, parameters named a, b, c, d, f, ... in the order of their edges.

    Examples:
        >>> print_tree(Node("mul", (Node("tanh", scaled=True, input_scaled=True), Node("cos"))))
        'a*tanh(b*x)*cos(x)'
    """
    return _render(root, iter(PARAMETER_NAMES), "*", _text_body).text


def print_latex(root: Node) -> str:
    r"""The LaTeX of a tree, parameters named \alpha, \beta, \gamma, ... in the order of their edges.

    Examples:
        >>> print_latex(Node("mul", (Node("tanh", scaled=True, input_scaled=True), Node("cos"))))
        '\\alpha \\cdot \\tanh(\\beta \\cdot x) \\cdot \\cos(x)'
    """
    return _render(root, greek_letters(), r" \cdot ", _latex_body).text


def greek_letters() -> Iterator[str]:
    r"""Names of parameters in LaTeX, in the order of their edges, without end: \alpha, \beta, \gamma, ..."""
    yield from _GREEK
    number = len(_GREEK)
    while True:
        number += 1
        yield rf"\theta_{{{number}}}"


def _render(
    node: Node,
    names: Iterator[str],
    times: str,
    body: Callable[[Node, tuple[_Printed, ...]], _Printed],
) -> _Printed:
    """The phrase of a node: `body` writes its operator around the phrases of its inputs."""
    own = next(names) if node.scaled else ""
    if node.is_leaf:
        name = next(names) if node.input_scaled else ""
        inputs = (_Printed(f"{name}{times}x", Binding.PRODUCT) if name else _Printed("x", Binding.ATOM),)
    else:
        inputs = tuple(_render(child, names, times, body) for child in node.children)
    phrase = body(node, inputs)
    return _Printed(f"{own}{times}{phrase.within(Binding.POWER)}", Binding.PRODUCT) if own else phrase


def _fill(notation: Notation, inputs: tuple[_Printed, ...]) -> _Printed:
    # Operands contain no "#", so that filling in one never disturbs the place of the next.
    text = notation.template
    for number, (phrase, required) in enumerate(zip(inputs, notation.operands, strict=True), start=1):
        text = text.replace(f"#{number}", phrase.within(required))
    return _Printed(text, notation.binding)


def _is_bare(node: Node) -> bool:
    """Whether the text of a node is just x."""
    return node.operator == "id" and node.is_leaf and not node.input_scaled


def _text_body(node: Node, inputs: tuple[_Printed, ...]) -> _Printed:
    if _is_bare(node):
        return inputs[0]
    row = operator(node.operator)
    if row.arity == 1 and not node.is_leaf and _is_bare(node.children[0]):
        # tanh(x) is a leaf, so an identity below another operator has to be named.
        inputs = (replace(inputs[0], text=inputs[0].text.removesuffix("x") + "id(x)"),)
    if row.text.is_call:
        return _fill(row.text, inputs)
    if not row.text.repeats or node.is_leaf:
        phrase = _fill(row.text, inputs)
        if parse_tree(phrase.text) == replace(node, scaled=False):
            return phrase
    return _Printed(f"{row.name}({', '.join(phrase.text for phrase in inputs)})", Binding.ATOM)


def _latex_body(node: Node, inputs: tuple[_Printed, ...]) -> _Printed:
    if _is_bare(node):
        return inputs[0]
    row = operator(node.operator)
    notation = row.latex
    if row.nested_latex is not None and not node.is_leaf:
        notation = row.nested_latex
    return _fill(notation, inputs)
