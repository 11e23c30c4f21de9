"""An activation's derivatives with respect to its argument and its parameters, as formulas, by its tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from torch import Tensor

from evopinn.engine.series import PULLBACKS, RULES, Series, compose, multiply, scale, without_zeros
from evopinn.engine.symbols import Symbol, constant
from evopinn.genome import Activation, Node, UnaryOperator, operator


@dataclass(frozen=True, eq=False)
class Traced:
    """A node of the tree with what flows through it.

    Attributes:
        node: The node.
        raw: The series of the operator's value, before the parameter on its output edge.
        value: The series behind it.
        outer: For a unary operator, its derivatives at its argument.
        argument: For a unary operator, the series of its argument.
        children: What flows through the children.
        factor: The parameter on the output edge, if there is one.
        input_factor: The parameter on the input edge, if there is one.
    """

    node: Node
    raw: Series
    value: Series
    outer: Series
    argument: Series
    children: tuple["Traced", ...]
    factor: Symbol | None
    input_factor: Symbol | None

    @property
    def parameters(self) -> int:
        """The number of parameters in this subtree."""
        own = (self.factor is not None) + (self.input_factor is not None)
        return own + sum(child.parameters for child in self.children)


def trace(activation: Activation, z: Symbol, parameters: Sequence[Symbol], order: int) -> Traced:
    """Formulas of f and its derivatives up to an order.

    Args:
        activation: f.
        z: The argument.
        parameters: As many numbers as f has parameters.
        order: The highest derivative.

    Returns:
        The root; its `value` is (f(z), f'(z), ...).
    """
    return _trace(activation.root, z, iter(parameters), order)


def _trace(node: Node, z: Symbol, parameters: Iterator[Symbol], order: int) -> Traced:
    factor = next(parameters) if node.scaled else None
    input_factor = next(parameters) if node.input_scaled else None
    children = tuple(_trace(child, z, parameters, order) for child in node.children)
    row = operator(node.operator)
    outer: Series = ()
    argument: Series = ()
    if isinstance(row, UnaryOperator):
        argument = children[0].value if children else _leaf_argument(z, input_factor)
        outer = _derivatives(row, argument[0] or constant(0.0), order)
        raw = compose(outer, argument, order)
    else:
        raw = RULES[node.operator](children[0].value, children[1].value, order)
    value = raw if factor is None else scale(factor, raw)
    return Traced(node, raw, value, outer, argument, children, factor, input_factor)


def _derivatives(row: UnaryOperator, argument: Symbol, order: int) -> Series:
    """The table's closed forms, run on a symbol in the place of a tensor."""
    values = row.derivatives(cast(Tensor, argument), order)
    return without_zeros(cast(tuple[Symbol, ...], values))


def _leaf_argument(z: Symbol, factor: Symbol | None) -> Series:
    return (z, constant(1.0)) if factor is None else (factor * z, factor)


def parameter_series(traced: Traced, z: Symbol, order: int) -> Sequence[Series]:
    """Per parameter p, the series of ∂f/∂p, up to an order below that of the trace.

    Found by going back through the tree with series in the place of numbers: ∂f/∂(an edge's value) is itself
    a function of z, and the derivative with respect to a factor on the edge is that times what flowed in.
    """
    found: list[Series] = []
    _pull(traced, (constant(1.0),), z, order, found)
    return found


def _pull(traced: Traced, bar: Series, z: Symbol, order: int, found: list[Series]) -> None:
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
