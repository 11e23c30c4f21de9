"""What a person may write for an activation function, which tree it is, and what is said about mistakes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evopinn.errors import GenomeSyntaxError
from evopinn.genome import Activation


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("x", "id(x)"),
        ("a*x", "*id(x)"),
        ("x*a", "*id(x)"),
        ("id(a*x)", "id(*x)"),
        ("a*id(b*x)", "*id(*x)"),
        ("tanh(x)", "tanh(x)"),
        ("tanh(b*x)", "tanh(*x)"),
        ("tanh(x*b)", "tanh(*x)"),
        ("tanh((b*(x)))", "tanh(*x)"),
        ("tanh(id(x))", "tanh(id(x))"),
        ("tanh(a*id(x))", "tanh(*id(x))"),
        ("-x", "neg(x)"),
        ("-b*x", "neg(*x)"),
        ("-id(x)", "neg(id(x))"),
        ("-tanh(x)*cos(x)", "neg(mul(tanh(x),cos(x)))"),
        ("(-tanh(x))*cos(x)", "mul(neg(tanh(x)),cos(x))"),
        ("-x**2", "neg(square(x))"),
        ("(-x)**2", "square(neg(x))"),
        ("1/x", "inv(x)"),
        ("1/(b*x)", "inv(*x)"),
        ("a/x", "*inv(x)"),
        ("x**2", "square(x)"),
        ("tanh(x)^2", "square(tanh(x))"),
        ("x**2**2", "square(square(x))"),
        ("exp(x)+1", "exp_plus_one(x)"),
        ("1+exp(x)", "exp_plus_one(x)"),
        ("exp(-x)+1", "exp_neg_plus_one(x)"),
        ("exp(-a*x)+1", "exp_neg_plus_one(*x)"),
        ("exp(-(a*tanh(x)))+1", "exp_neg_plus_one(*tanh(x))"),
        ("exp_plus_one(-x)", "exp_plus_one(neg(x))"),
        ("exp(x)-1", "exp_minus_one(x)"),
        ("exp(-x)-1", "exp_minus_one(neg(x))"),
        ("exp(x)+exp(-x)", "exp_sum(x)"),
        ("exp(b*x)-exp(-b*x)", "exp_difference(*x)"),
        ("exp(a*sin(b*x))+exp(-a*sin(b*x))", "exp_sum(*sin(*x))"),
        ("exp(alpha*x)+exp(-α*x)", "exp_sum(*x)"),
        ("add(exp(x), exp(-x))", "add(exp(x),exp(neg(x)))"),
        ("exp(-x)+exp(x)", "add(exp(neg(x)),exp(x))"),
        ("exp(a*x)+exp(-b*x)", "add(exp(*x),exp(neg(*x)))"),
        ("a*exp(x)+exp(-x)", "add(*exp(x),exp(neg(x)))"),
        ("a*(exp(b*x)+exp(-b*x))", "*exp_sum(*x)"),
        ("x/(exp(x)+exp(-x))", "div(id(x),exp_sum(x))"),
        ("1/(exp(-x)+1)", "inv(exp_neg_plus_one(x))"),
        ("a*tanh(b*x)*cos(x)", "mul(*tanh(*x),cos(x))"),
        ("tanh(x)*a*cos(x)", "mul(tanh(x),*cos(x))"),
        ("tanh(x)*cos(x)*a", "*mul(tanh(x),cos(x))"),
        ("a*cos(x)*b*atan(x)*sigmoid(c*x)", "mul(mul(*cos(x),*atan(x)),sigmoid(*x))"),
        ("a*(tanh(x)*cos(x))", "*mul(tanh(x),cos(x))"),
        ("tanh(x)*(a*cos(x))", "mul(tanh(x),*cos(x))"),
        ("x-sin(x)-cos(x)", "sub(sub(id(x),sin(x)),cos(x))"),
        ("x/sin(x)*cos(x)", "mul(div(id(x),sin(x)),cos(x))"),
        ("max(x, sin(x))", "max(id(x),sin(x))"),
        ("min(a*(exp(b*x)+exp(-b*x)),atan(c*x))", "min(*exp_sum(*x),atan(*x))"),
        ("atan(a*swish(b*x))", "atan(*swish(*x))"),
        ("a*(-tanh(b*x))", "*neg(tanh(*x))"),
        ("α · tanh(β · x) · cos(x)", "mul(*tanh(*x),cos(x))"),
        ("  gamma * sin ( q*x )\t", "*sin(*x)"),
        ("recu(x)", "recu(x)"),
    ],
)
def test_what_a_text_means(text: str, key: str) -> None:
    activation = Activation.parse(text)
    assert activation.key == key
    assert Activation.parse(activation.text) == activation


@pytest.mark.parametrize(
    "text",
    [
        "a*tanh(b*x)*cos(x)",
        "x/(exp(x)+exp(-x))",
        "atan(a*swish(b*x))",
        "a*(-tanh(b*x))",
        "min(a*(exp(b*x)+exp(-b*x)), atan(c*x))",
        "1/(exp(-x)+1)",
        "tanh(x)**2",
        "max(x, sin(x))",
        "(exp(x)-exp(-x))/(exp(x)+exp(-x))",
        "a*(cos(x)*(b*atan(x))*sigmoid(c*x))",
        "exp_plus_one(-x)",
        "add(exp(x), exp(-x))",
        "id(tanh(x))",
    ],
)
def test_a_natural_text_is_printed_as_it_was_written(text: str) -> None:
    assert Activation.parse(text).text == text


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 0, r"\bexpected\b.*\bend\b"),
        ("   ", 0, r"\bexpected\b.*\bend\b"),
        ("tan(x)", 0, r"\boperator \w+\b.* tanh\b"),
        ("x*tanhh(x)", 2, r"\boperator \w+\b.* tanh\b"),
        ("arctan(x)", 0, "write atan"),
        ("silu(x)", 0, "write swish"),
        ("e**x", 0, "write exp"),
        ("sin", 0, r"as in sin\(x\)"),
        ("tanh(x", 4, "never closed"),
        ("x*(sin(x)", 2, "never closed"),
        ("tanh(x))", 7, "never opened"),
        ("(x,x)", 2, "expected"),
        ("x,", 1, "comma"),
        ("tanh(x, x)", 0, r"\btanh .*\b1 input\b.*\b2\b"),
        ("1/max(x)", 2, r"\bmax .*\b2 inputs\b.*\b1\b"),
        ("tanh()", 5, "expected x"),
        ("x+", 2, r"\bexpected\b.*\bend\b"),
        ("*x", 0, "expected x"),
        ("x x", 2, "before 'x'"),
        ("a*-x", 2, "needs parentheses"),
        ("x $ x", 2, "no meaning"),
        ("a", 0, r"\bparameter \w\b.*\bmultiply\b"),
        ("sin(a)", 4, r"\bparameter \w\b.*\bmultiply\b"),
        ("a*b*x", 2, "two parameters"),
        ("a*(b*x)", 3, "two parameters"),
        ("sin(a*b*x)", 6, "two parameters"),
        ("a*tanh(a*x)", 7, r"\bparameter \w\b.*\btwo edges\b"),
        ("exp(-b*x)+exp(b*x)", 14, r"\bparameter \w\b.*\btwo edges\b"),
        ("a(x)", 0, "is a parameter"),
        ("x(x)", 0, r"\bx is the input\b.*x\*\("),
        ("x/a", 2, "a parameter multiplies"),
        ("2*x", 0, "number 2"),
        ("x+1", 2, "number 1"),
        ("1-exp(x)", 0, "number 1"),
        ("a*exp(x)+1", 9, "number 1"),
        ("exp(x)+1.0", 7, "number 1.0"),
        ("x**3", 3, "only power"),
        ("x^-1", 2, "only power"),
        ("(" * 300 + "x" + ")" * 300, 80, "nested parentheses"),
        ("sin(" * 40 + "x" + ")" * 40, 52, "nested operators"),
        ("+".join(["x"] * 3000), 51, "nested operators"),
    ],
)
def test_mistakes_are_placed_and_explained(text: str, position: int, reason: str) -> None:
    with pytest.raises(GenomeSyntaxError, match=reason) as caught:
        Activation.parse(text)
    assert caught.value.position == position
    assert caught.value.text == text


@given(st.text(alphabet="xab12 ()+-*/^,.sincoexptanh_", max_size=25))
@settings(deadline=None, max_examples=300)
def test_any_text_is_read_or_refused_within_its_bounds(text: str) -> None:
    try:
        activation = Activation.parse(text)
    except GenomeSyntaxError as error:
        position = error.position
    else:
        assert Activation.parse(activation.text) == activation
        position = 0
    assert 0 <= position <= len(text)
