"""An activation's derivatives with respect to its argument and its parameters, through its tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from evopinn.engine.series import PULLBACKS, RULES, Series, compose, multiply, scale
from evopinn.genome import Activation, Node, UnaryOperator, operator

DEGREES = {"id": 1, "neg": 1, "square": 2}
"""Operators that are polynomials: their derivatives past this order are zero."""


@dataclass(frozen=True, eq=False)
class Traced:
    """A node of the tree with what flowed through it.

    Attributes:
        node: The node.
        raw: The series of the operator's value, before the parameter on its output edge.
        value: The series behind it.
        outer: For a unary operator, its derivatives at its argument.
        argument: For a unary operator, the series of its argument.
        children: What flowed through the children.
        factor: The parameter on the output edge, if there is one.
        input_factor: The parameter on the input edge, if there is one.
    """

    node: Node
    raw: Series
    value: Series
    outer: Series
    argument: Series
    children: tuple["Traced", ...]
    factor: Tensor | None
    input_factor: Tensor | None

    @property
    def parameters(self) -> int:
        """The number of parameters in this subtree."""
        own = (self.factor is not None) + (self.input_factor is not None)
        return own + sum(child.parameters for child in self.children)


def trace(activation: Activation, z: Tensor, parameters: Tensor, order: int) -> Traced:
    """Evaluate f and its derivatives up to an order.

    Args:
        activation: f.
        z: The argument, any shape.
        parameters: Shape (activation.parameters,).
        order: The highest derivative.

    Returns:
        The root; its `value` is (f(z), f'(z), ...).
    """
    return _trace(activation.root, z, iter(parameters.unbind()), order)


def _trace(node: Node, z: Tensor, parameters: Iterator[Tensor], order: int) -> Traced:
    factor = next(parameters) if node.scaled else None
    input_factor = next(parameters) if node.input_scaled else None
    children = tuple(_trace(child, z, parameters, order) for child in node.children)
    row = operator(node.operator)
    outer: Series = ()
    argument: Series = ()
    if isinstance(row, UnaryOperator):
        argument = children[0].value if children else _leaf_argument(z, input_factor)
        assert argument[0] is not None, "the argument of an operator is an array"
        degree = DEGREES.get(node.operator, order)
        outer = row.derivatives(argument[0], min(degree, order))
        # The argument of a leaf without parameter is z itself: then the operator's derivatives are f's.
        plain = not children and input_factor is None
        raw = outer if plain else compose(outer, argument, order)
    else:
        raw = RULES[node.operator](children[0].value, children[1].value, order)
    value = raw if factor is None else scale(factor, raw)
    return Traced(node, raw, value, outer, argument, children, factor, input_factor)


def _leaf_argument(z: Tensor, factor: Tensor | None) -> Series:
    one = torch.ones((), dtype=z.dtype, device=z.device)
    return (z, one) if factor is None else (factor * z, factor)


def parameter_series(traced: Traced, z: Tensor, order: int) -> Sequence[Series]:
    """Per parameter p, the series of ∂f/∂p, up to an order below that of the trace.

    Found by going back through the tree with series in the place of numbers: ∂f/∂(an edge's value) is itself
    a function of z, and the derivative with respect to a factor on the edge is that times what flowed in.
    """
    one = torch.ones((), dtype=z.dtype, device=z.device)
    found: list[Series] = []
    _pull(traced, (one,), z, order, found)
    return found


def _pull(traced: Traced, bar: Series, z: Tensor, order: int, found: list[Series]) -> None:
    if not traced.parameters:
        return
    if traced.factor is not None:
        found.append(multiply(bar, traced.raw, order))
        bar = scale(traced.factor, bar)
    if traced.input_factor is not None or len(traced.children) == 1:
        inner = multiply(bar, _slope(traced, order), order)
        if traced.children:
            _pull(traced.children[0], inner, z, order, found)
        else:
            found.append(multiply(inner, _leaf_argument(z, None), order))
    elif traced.children:
        left, right = traced.children
        pull = PULLBACKS[traced.node.operator]
        bars = pull(bar, left.value, right.value, traced.raw, order)
        for child, child_bar in zip((left, right), bars, strict=True):
            _pull(child, child_bar, z, order, found)


def _slope(traced: Traced, order: int) -> Series:
    """The series of a unary operator's derivative at its argument."""
    return compose(traced.outer[1:], traced.argument, order)
