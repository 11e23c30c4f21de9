"""The parser of activation functions in the form in which a person writes them.

    sum      a sum or difference of products, the first of which may have a minus sign
    product  a product or quotient of powers
    power    an operand, perhaps squared (`**2` or `^2`)
    operand  x, a parameter, the number 1, `name(sum, ...)` or `(sum)`

There are no numbers in a tree, so 1 and 2 only occur in patterns that form one operator: `1/E`, `E**2`,
`exp(E)+1`, `exp(-E)+1`, `exp(E)-1`; and `exp(E)+exp(-E)` and `exp(E)-exp(-E)` are one operator, too. Function
form (`add(exp(x), exp(-x))`) never makes a pattern.
"""

import re
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from evopinn.errors import GenomeSyntaxError
from evopinn.genome.operators import BINARY, OPERATORS, UNARY
from evopinn.genome.text_fields import check_length
from evopinn.genome.tree import MAX_DEPTH, Node

# The printer puts at most three pairs of parentheses around each operator; a few more for a generous writer.
_MAX_NESTING = 3 * MAX_DEPTH + 8
# While a pattern such as exp(-E)+1 is being read it is two operators, and becomes one only at its end.
_MAX_DEPTH_WHILE_READING = MAX_DEPTH + 2
_TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[-+*/^(),·]))")
_SPELLINGS = {"^": "**", "·": "*", "alpha": "α", "beta": "β", "gamma": "γ"}
# Names that other libraries give to operators of the table.
_FOREIGN = {
    "arctan": "atan",
    "arcsinh": "asinh",
    "arsinh": "asinh",
    "silu": "swish",
    "logistic": "sigmoid",
    "expm1": "exp(x)-1",
    "e": "exp(...)",
}


def parse_tree(text: str) -> Node:
    """Read a tree from its text form.

    Raises:
        GenomeSyntaxError: The text is not an activation function; the error says where and why.

    Examples:
        >>> parse_tree("tanh(a*x)")
        Node(operator='tanh', children=(), scaled=False, input_scaled=True)
    """
    check_length(text)
    return _Parser(text).whole()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


@dataclass(frozen=True)
class _Parameter:
    name: str
    position: int = field(compare=False)


@dataclass(frozen=True)
class _Number:
    text: str
    position: int


@dataclass(frozen=True)
class _Tree:
    """A tree in the making: as `Node`, with the parameters still by name.

    `bare` says that this identity leaf was written as `x` or `a*x`, not `id(x)`. Equality, which decides
    whether the two halves of a pattern match, looks at operators and parameter names, not at how and where
    they were written.
    """

    operator: str
    children: tuple["_Tree", ...] = ()
    output: _Parameter | None = None
    input: _Parameter | None = None
    bare: bool = field(default=False, compare=False)
    position: int = field(default=0, compare=False)
    depth: int = field(default=1, compare=False)

    def same_input(self, other: "_Tree") -> bool:
        return self.children == other.children and self.input == other.input

    def is_plain(self, name: str) -> bool:
        return self.operator == name and self.output is None


_Value = _Tree | _Parameter | _Number


class _Parser:
    """One pass over the tokens of one text, building trees on the way."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._next = 0
        self._nesting = 0

    def whole(self) -> Node:
        tree = self._tree(self._sum())
        token = self._peek()
        if token.kind != "end":
            if token.text == ")":
                raise self._error(token.position, "this closing parenthesis was never opened")
            if token.text == ",":
                raise self._error(
                    token.position, "a comma separates inputs of an operator, and this is outside of one"
                )
            raise self._error(token.position, f"expected +, -, * or / before {token.text!r}")
        self._check_depth(tree.depth, MAX_DEPTH, tree.position)
        return self._node(tree, {})

    # Tokens

    def _split(self) -> tuple[_Token, ...]:
        tokens: list[_Token] = []
        position, end = 0, len(self._text.rstrip())
        while position < end:
            match = _TOKEN.match(self._text, position)
            if match is None or match.lastgroup is None:
                position += len(self._text[position:]) - len(self._text[position:].lstrip())
                raise self._error(position, f"the character {self._text[position]!r} has no meaning here")
            text = match.group(match.lastgroup)
            tokens.append(_Token(match.lastgroup, _SPELLINGS.get(text, text), match.start(match.lastgroup)))
            position = match.end()
        tokens.append(_Token("end", "", end))
        return tuple(tokens)

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next += token.kind != "end"
        return token

    def _accept(self, *signs: str) -> _Token | None:
        token = self._peek()
        return self._take() if token.kind == "sign" and token.text in signs else None

    def _error(self, position: int, reason: str) -> GenomeSyntaxError:
        return GenomeSyntaxError(self._text, position, reason)

    # Grammar

    def _sum(self) -> _Value:
        minus = self._accept("-")
        value = self._product()
        if minus:
            value = self._unary("neg", self._tree(value), minus.position)
        while sign := self._accept("+", "-"):
            value = self._added(value, self._product(), sign)
        return value

    def _product(self) -> _Value:
        value = self._power()
        while sign := self._accept("*", "/"):
            right = self._power()
            if (
                sign.text == "*"
                and isinstance(right, _Parameter)
                and isinstance(value, _Tree)
                and self._accept("*")
            ):
                # As in a paper, a parameter belongs to the factor behind it: cos(x)*b*atan(x).
                right = self._multiplied(right, self._power())
            value = self._multiplied(value, right) if sign.text == "*" else self._divided(value, right, sign)
        return value

    def _power(self) -> _Value:
        value = self._operand()
        while sign := self._accept("**"):
            exponent = self._take()
            if exponent.text != "2":
                raise self._error(
                    exponent.position,
                    "the only power is **2; write 1/E for an inverse, products for other powers",
                )
            value = self._unary("square", self._tree(value), sign.position)
        return value

    def _operand(self) -> _Value:
        token = self._take()
        if token.kind == "number":
            return _Number(token.text, token.position)
        if token.kind == "name":
            return self._named(token)
        if token.text == "(":
            return self._enclosed(token, is_call=False)[0]
        if token.text == "-":
            raise self._error(
                token.position, "a minus sign after another sign needs parentheses, as in a*(-x)"
            )
        found = repr(token.text) if token.text else "the end"
        raise self._error(
            token.position, f"expected x, a parameter, an operator or a parenthesis, found {found}"
        )

    def _named(self, token: _Token) -> _Value:
        name, position = token.text, token.position
        if parenthesis := self._accept("("):
            if name not in OPERATORS:
                raise self._error(position, self._unknown(name))
            inputs = self._enclosed(parenthesis, is_call=True)
            arity = OPERATORS[name].arity
            if len(inputs) != arity:
                expected = "1 input" if arity == 1 else f"{arity} inputs"
                raise self._error(position, f"{name} takes {expected}, not {len(inputs)}")
            if name in BINARY:
                return self._binary(name, self._tree(inputs[0]), self._tree(inputs[1]), position)
            return self._unary(name, self._tree(inputs[0]), position)
        if name == "x":
            return _Tree("id", bare=True, position=position)
        if name in OPERATORS:
            example = f"{name}(x)" if name in UNARY else f"{name}(x, sin(x))"
            raise self._error(
                position, f"the operator {name} needs its input in parentheses, as in {example}"
            )
        if name == "π":
            raise self._error(position, "π is a number, and numbers are not allowed here")
        if len(name) == 1 and name != "e":
            return _Parameter(name, position)
        raise self._error(position, self._unknown(name))

    def _enclosed(self, opening: _Token, *, is_call: bool) -> tuple[_Value, ...]:
        """The values between a pair of parentheses; several only inside a call."""
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise self._error(opening.position, f"more than {_MAX_NESTING} nested parentheses")
        values = [self._sum()]
        while is_call and self._accept(","):
            values.append(self._sum())
        if not self._accept(")"):
            token = self._peek()
            if token.kind == "end":
                raise self._error(opening.position, "this parenthesis is never closed")
            raise self._error(
                token.position, f"expected +, -, *, / or a closing parenthesis before {token.text!r}"
            )
        self._nesting -= 1
        return tuple(values)

    # Meaning

    def _tree(self, value: _Value) -> _Tree:
        if isinstance(value, _Tree):
            return value
        if isinstance(value, _Parameter):
            raise self._error(
                value.position, f"the parameter {value.name} must multiply something, as in {value.name}*x"
            )
        raise self._error(
            value.position,
            f"the number {value.text} is not allowed here; "
            "numbers occur only in 1/E, E**2, exp(E)+1, exp(-E)+1 and exp(E)-1",
        )

    def _unary(self, name: str, operand: _Tree, position: int) -> _Tree:
        if operand.bare:
            return _Tree(name, input=operand.output, position=position)
        return self._joined(name, (operand,), position)

    def _binary(self, name: str, first: _Tree, second: _Tree, position: int) -> _Tree:
        return self._joined(name, (first, second), position)

    def _joined(self, name: str, children: tuple[_Tree, ...], position: int) -> _Tree:
        depth = 1 + max(child.depth for child in children)
        self._check_depth(depth, _MAX_DEPTH_WHILE_READING, position)
        return _Tree(name, children, position=position, depth=depth)

    def _check_depth(self, depth: int, allowed: int, position: int) -> None:
        if depth > allowed:
            raise self._error(position, f"more than {MAX_DEPTH} nested operators")

    def _added(self, left: _Value, right: _Value, sign: _Token) -> _Tree:
        plus = sign.text == "+"
        if plus and isinstance(left, _Number):
            left, right = right, left
        if (
            isinstance(right, _Number)
            and right.text == "1"
            and isinstance(left, _Tree)
            and left.is_plain("exp")
        ):
            if not plus:
                return replace(left, operator="exp_minus_one")
            inner = left.children[0] if left.children else None
            if inner is not None and inner.is_plain("neg"):
                return replace(inner, operator="exp_neg_plus_one")
            return replace(left, operator="exp_plus_one")
        first, second = self._tree(left), self._tree(right)
        if first.is_plain("exp") and second.is_plain("exp") and second.children:
            inner = second.children[0]
            if inner.is_plain("neg") and inner.same_input(first):
                return replace(first, operator="exp_sum" if plus else "exp_difference")
        return self._binary("add" if plus else "sub", first, second, sign.position)

    def _multiplied(self, left: _Value, right: _Value) -> _Value:
        if isinstance(left, _Parameter):
            return self._scaled(right, left)
        if isinstance(right, _Parameter):
            return self._scaled(left, right)
        first = self._tree(left)
        return self._binary("mul", first, self._tree(right), first.position)

    def _divided(self, left: _Value, right: _Value, sign: _Token) -> _Tree:
        if isinstance(right, _Parameter):
            raise self._error(
                right.position,
                f"a parameter multiplies; write {right.name}*E, which learns its inverse as well",
            )
        if isinstance(left, _Parameter):
            return replace(self._unary("inv", self._tree(right), sign.position), output=left)
        if isinstance(left, _Number) and left.text == "1":
            return self._unary("inv", self._tree(right), left.position)
        first = self._tree(left)
        return self._binary("div", first, self._tree(right), first.position)

    def _scaled(self, value: _Value, parameter: _Parameter) -> _Tree:
        other = value if isinstance(value, _Parameter) else None
        if isinstance(value, _Tree):
            other = value.output
        if other is not None:
            later = max(parameter, other, key=lambda p: p.position)
            raise self._error(
                later.position,
                f"two parameters ({parameter.name} and {other.name}) on one edge; one is enough",
            )
        return replace(self._tree(value), output=parameter)

    def _node(self, tree: _Tree, used: dict[str, int]) -> Node:
        self._use(tree.output, used)
        children = tuple(self._node(child, used) for child in tree.children)
        self._use(tree.input, used)
        return Node(tree.operator, children, tree.output is not None, tree.input is not None)

    def _use(self, parameter: _Parameter | None, used: dict[str, int]) -> None:
        if parameter is None:
            return
        if parameter.name in used:
            later = max(parameter.position, used[parameter.name])
            raise self._error(
                later,
                f"the parameter {parameter.name} is on two edges; give each edge a parameter of its own",
            )
        used[parameter.name] = parameter.position

    def _unknown(self, name: str) -> str:
        if name in _FOREIGN:
            return f"there is no operator {name}; write {_FOREIGN[name]}"
        if len(name) == 1:
            kind = "the input" if name == "x" else "a parameter"
            return f"{name} is {kind}, not an operator; write {name}*(...)"
        near = get_close_matches(name[:40].lower(), list(OPERATORS), n=2, cutoff=0.5)
        advice = f"did you mean {' or '.join(near)}?" if near else f"operators are {', '.join(OPERATORS)}"
        return f"there is no operator {name}; {advice}"
