"""The vocabulary of a layer's formulas, with the simplifications during recording.

The formulas are run by torch operations or compiled to a kernel. Zeros and ones vanish; constants, and
numbers that hold for all elements, come in front of a product and are multiplied in advance.
"""

from collections.abc import Callable

from evopinn.symbolic import Symbol, Vocabulary, whole_power

OPERATIONS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "copysign", "maximum", "minimum", "gt", "lt", "eq"), 2),
    **dict.fromkeys(("neg", "abs", "sqrt", "exp", "expm1", "log1p", "sin", "cos", "sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(("asinh", "atan", "erf", "erfc", "sigmoid"), 1),
    **dict.fromkeys(("clamp", "where"), 3),
}
"""The operations of a layer's formulas, by torch's names, with their numbers of operands."""


def _fold(a: Symbol, b: Symbol, function: Callable[[float, float], float]) -> Symbol | None:
    return constant(function(a.value, b.value)) if a.is_constant() and b.is_constant() else None


def _add(a: Symbol, b: Symbol) -> Symbol:
    if a.is_constant(0) or b.is_constant(0):
        return b if a.is_constant(0) else a
    if b.operation == "neg":
        return _subtract(a, b.operands[0])
    folded = _fold(a, b, lambda x, y: x + y)
    return made("add", a, b) if folded is None else folded


def _subtract(a: Symbol, b: Symbol) -> Symbol:
    if a.is_constant(0) or b.is_constant(0):
        return _negative(b) if a.is_constant(0) else a
    if b.operation == "neg":
        return _add(a, b.operands[0])
    folded = _fold(a, b, lambda x, y: x - y)
    return made("sub", a, b) if folded is None else folded


def _multiply(a: Symbol, b: Symbol) -> Symbol:
    """The product: constants in front, and numbers times numbers before an array is multiplied by them."""
    (number, array), (other_number, other_array) = _parts(a), _parts(b)
    if array is not None and other_array is not None:
        if not number.is_constant():
            number, array = constant(1.0), a
        if not other_number.is_constant():
            other_number, other_array = constant(1.0), b
    number = _product_of_numbers(number, other_number)
    arrays = [each for each in (array, other_array) if each is not None]
    if not arrays:
        return number
    product = arrays[0] if len(arrays) == 1 else made("mul", *arrays)
    if number.is_constant() and abs(number.value) == 1:
        return product if number.value == 1 else made("neg", product)
    return made("mul", number, product)


def _negative(a: Symbol) -> Symbol:
    return _multiply(constant(-1.0), a)


def _parts(a: Symbol) -> tuple[Symbol, Symbol | None]:
    """A symbol as a number times an array, which is None for a number."""
    if not a.varies:
        return a, None
    if a.operation == "neg":
        return constant(-1.0), a.operands[0]
    if a.operation == "mul" and not a.operands[0].varies:
        return a.operands[0], a.operands[1]
    return constant(1.0), a


def _product_of_numbers(a: Symbol, b: Symbol) -> Symbol:
    if b.is_constant():
        a, b = b, a
    if a.is_constant():
        if a.value == 1:
            return b
        if b.operation == "mul" and b.operands[0].is_constant():
            return _product_of_numbers(constant(a.value * b.operands[0].value), b.operands[1])
    folded = _fold(a, b, lambda x, y: x * y)
    return made("mul", a, b) if folded is None else folded


def _sign(a: Symbol) -> Symbol:
    return made("where", a > 0, constant(1.0), made("where", a < 0, constant(-1.0), constant(0.0)))


_VOCABULARY = Vocabulary(
    OPERATIONS,
    {
        "add": _add,
        "sub": _subtract,
        "mul": _multiply,
        "neg": _negative,
        "pow": whole_power,
        "square": lambda a: _multiply(a, a),
        "reciprocal": lambda a: constant(1.0) / a,
        "rsqrt": lambda a: constant(1.0) / made("sqrt", a),
        "sign": _sign,
        "relu": lambda a: made("maximum", a, constant(0.0)),
        "detach": lambda a: a,  # nothing is differentiated automatically here
    },
)


def constant(number: float) -> Symbol:
    """A constant."""
    return _VOCABULARY.constant(number)


def made(operation: str, *operands: Symbol) -> Symbol:
    """The symbol of an operation as it stands, without simplification."""
    return _VOCABULARY.made(operation, *operands)


def variable(name: str, varies: bool = True) -> Symbol:
    """An input of a layer's formulas: an array, or one number for all points and neurons."""
    return _VOCABULARY.input(name, varies)
