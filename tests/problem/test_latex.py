"""Problems as formulas: what is written is what is computed, and what cannot be written is not."""

import math
import re

import numpy as np
import pytest
import sympy
import torch

import evopinn as ep
from evopinn.catalogue import names, problem
from evopinn.problem.formulas import problem_formulas
from evopinn.problem.formulas.numerals import print_name, print_number
from evopinn.problem.formulas.printing import Printer, items_of
from evopinn.problem.formulas.recorded_terms import VOCABULARY, GivenValues, computed, recorded_term

X, Y, U = (VOCABULARY.input(GivenValues(name)) for name in ("x", "y", "u"))
POINT = {"x": 0.37, "y": 1.21, "u": 0.83}


def written(expression):
    return Printer(lambda leaf: leaf.name).text(expression)


def value(expression):
    values = {name: torch.tensor(value, dtype=torch.float64) for name, value in POINT.items()}
    return float(computed(expression, lambda leaf: values[leaf.name], {}))


def read_back(latex):
    """The value of a formula, by a reader that knows nothing of how it was written."""
    python = latex.replace(r"\left", "").replace(r"\right", "").replace(r"\cdot", "*").replace(r"\pi", "pi")
    while found := re.search(r"\\(\w+)\^\{(\d+)\}\(", python):
        end = _closing(python, found.end() - 1)
        argument = python[found.end() : end]
        python = f"{python[: found.start()]}(\\{found[1]}({argument}))^{{{found[2]}}}{python[end + 1 :]}"
    for name in ("sinh", "cosh", "tanh", "sin", "cos", "ln", "exp"):
        python = python.replace(rf"\{name}(", f"{'log' if name == 'ln' else name}(")
    while r"\frac" in python:
        python = _rewritten(python, r"\frac", 2, "(({0})/({1}))")
    while r"\sqrt" in python:
        python = _rewritten(python, r"\sqrt", 1, "sqrt({0})")
    python = python.replace("e^", "E^").replace("^{", "**(").replace("}", ")").replace("^", "**")
    transformations = (
        *sympy.parsing.sympy_parser.standard_transformations,
        sympy.parsing.sympy_parser.implicit_multiplication,
    )
    symbols = {name: sympy.Symbol(name) for name in POINT} | {"E": sympy.E, "pi": sympy.pi}
    parsed = sympy.parsing.sympy_parser.parse_expr(
        python, local_dict=symbols, transformations=transformations
    )
    return float(parsed.subs(POINT))


def _closing(text, place):
    """Where the bracket that opens at a place is closed."""
    depth = 0
    for end in range(place, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return end
    raise AssertionError(text)


def _rewritten(text, command, arguments, template):
    start = text.rindex(command)
    place, parts = start + len(command), []
    for _ in range(arguments):
        depth, end = 0, place
        while True:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        parts.append(text[place + 1 : end - 1])
        place = end
    return text[:start] + template.format(*parts) + text[place:]


EXPRESSIONS = [
    X - (Y + U),
    X - (Y - (U - X)),
    -(X + Y) * U,
    X * (Y + 2) * -3,
    2 * X / (3 * Y) / U,
    (X + Y) / (U - 3) / 4,
    X / 2 - 1 / (Y * 7),
    X / 3.7 + Y / -2,
    (X * Y) ** 3,
    (-X) ** 2,
    -(X**2),
    X**-2 + (Y + 1) ** -1,
    X**0.5 * Y**1.5,
    2**X * 3,
    torch.sin(math.pi * X) ** 2,
    torch.exp(-X / 2) * torch.exp(Y) ** 2,
    torch.sqrt(X + Y) / torch.cosh(2 * X) ** 2,
    torch.sigmoid((X - Y) / 0.3),
    1 / (1 / X + 1 / Y),
    0 * U + X - 0.0,
    1 * (X + Y) - 1 * (U - Y),
    torch.log1p(X) + torch.expm1(Y) + torch.square(U) + torch.reciprocal(Y) + torch.rsqrt(X),
    np.float64(2) * X + np.sin(Y) + torch.tensor(3.0) * U,
    X * X * Y - Y * Y,
    -25 * math.pi**2 * X * torch.cos(5 * math.pi * Y) + 6 * X**3 * U,
    X.sin().square() + X.pow(2) - U.neg(),
    X - -Y * -2,
    (0.01 / math.pi) * X / Y,
    (X / (Y / U)) ** 2,
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=written)
def test_a_formula_read_back_has_the_value_of_what_was_recorded(expression):
    assert read_back(written(expression)) == pytest.approx(value(expression), rel=1e-6)


def test_formulas_are_as_a_person_writes_them():
    assert [written(each) for each in EXPRESSIONS[:6]] == [
        "x - y - u",
        "x - y + u - x",
        "-(x + y) u",
        "-3 x (y + 2)",
        r"\frac{2 x}{3 y u}",
        r"\frac{x + y}{4 (u - 3)}",
    ]
    assert written(torch.where(X > 0, X, -X)) == (
        r"\begin{cases} x & \text{if } x > 0 \\ -x & \text{otherwise} \end{cases}"
    )
    assert written(torch.maximum(X, Y * 2)) == r"\max(x, 2 y)"
    assert written(torch.asinh(X / 2)) == r"\operatorname{arsinh}\left(\frac{x}{2}\right)"
    assert written(abs(X) + torch.ones_like(X)) == r"\left| x \right| + 1"


def test_numbers_are_multiples_of_pi_where_they_are():
    numbers = (2.0, -0.5, 1e-4, 5 * math.pi, -(math.pi**2) / 4, 0.01 / math.pi, 1 / 3, 7.199999999999999)
    assert [print_number(each) for each in numbers] == [
        *(
            "2",
            "-0.5",
            "10^{-4}",
            r"5 \pi",
            r"-\frac{\pi^{2}}{4}",
            r"\frac{1}{100 \pi}",
            r"\frac{1}{3}",
            "7.2",
        )
    ]
    assert print_number(-0.9637405441957693) == "-0.963741"
    assert print_number(6.02214076e23) == r"6.02214 \cdot 10^{23}"
    assert [print_number(each) for each in (math.inf, 0.0, 1e6, 123456.0)] == [
        r"\infty",
        "0",
        "10^{6}",
        "123456",
    ]


def test_names_are_symbols():
    found = [
        print_name(each) for each in ("x", "theta", "ω", "Ω", "u_in", "speed", "x2", "_", "π_1", "x2_in")
    ]
    expected = ["x", r"\theta", r"\omega", r"\Omega", r"u_{\mathrm{in}}", r"\mathrm{speed}", "x_{2}"]
    assert found == [*expected, r"\mathrm{\_}", r"\pi_{1}", r"x_{2,\,\mathrm{in}}"]


@pytest.mark.parametrize("name", names())
def test_each_problem_of_the_catalogue_is_written_and_computes_the_same(name):
    stated = problem(name)
    formulas = problem_formulas(stated)
    assert [term.name for term in formulas.terms] == [term.name for term in stated.terms()]
    assert all(term.equations and not term.source for term in formulas.terms)
    assert not formulas.unwritten
    for term, shown in zip(stated.terms(), formulas.terms, strict=True):
        assert len(shown.equations) == term.components
        fields = [_smooth(term, side) for side in range(len(term.sides))]
        exact = term.residuals(fields)
        for expression, values in zip(recorded_term(term), exact, strict=True):
            ours = computed(expression, lambda leaf, term=term, fields=fields: _leaf(term, fields, leaf), {})
            torch.testing.assert_close(ours.expand_as(values), values, rtol=1e-11, atol=1e-9)


def _smooth(term, side):
    return lambda field, index: torch.cos(term.sides[side].points.sum(dim=1) + field + sum(index) / 3)


def _leaf(term, fields, leaf):
    if isinstance(leaf, GivenValues):
        return term.sides[leaf.side].columns[leaf.name]
    return fields[leaf.side](term.fields.index(leaf.name), leaf.index)


def test_the_papers_first_problem_reads_as_in_the_paper():
    formulas = problem_formulas(problem("klein-gordon"))
    assert formulas.domain == r"(x, t) \in (0, 1) \times (0, 1]"
    assert [(term.weight, term.count, term.equations) for term in formulas.terms] == [
        (1, 3600, ("u_{tt} - u_{xx} + u^{3} = f(x, t)",)),
        (100, 81, ("u = x",)),
        (100, 81, ("u_{t} = 0",)),
        (100, 162, (r"u = x \cos(5 \pi t) + (x t)^{3}",)),
    ]
    for term, place in zip(formulas.terms, ("inside", "t = 0", "t = 0", "whole boundary"), strict=True):
        assert place in term.place
    assert formulas.definitions == (
        r"f(x, t) = -25 \pi^{2} x \cos(5 \pi t) + 6 x^{3} t - 6 x t^{3} + (x \cos(5 \pi t) + (x t)^{3})^{3}",
    )


def test_domains_and_places():
    found = {name: problem_formulas(problem(name)) for name in ("burgers", "lame", "allen-cahn", "kovasznay")}
    assert found["burgers"].domain == (
        r"(x, y, t) \in \bigl( (0, 1) \times (0, 1) \setminus (0, 0.5) \times (0.5, 1) \bigr) \times (0, 2]"
    )
    assert found["burgers"].terms[1].equations == (r"u = u^{\mathrm{data}}",)
    assert found["lame"].domain == r"(x, y) \in \{ 1 < \sqrt{x^{2} + y^{2}} < 2 \}"
    assert found["allen-cahn"].terms[2].equations[1] == (
        r"\left. u_{x} \right|_{x = -1} = \left. u_{x} \right|_{x = 1}"
    )
    assert re.search(r"\bboundary\b.*\bright$", found["kovasznay"].terms[2].place)
    corners = ep.Polygon([(0, 0), (2, 0), (0, 1.5)]) | ep.Disk(center=(1, -1), radius=2)
    stated = made(lambda u: u.xx + u.yy, domain=corners)
    assert problem_formulas(stated).domain == (
        r"(x, y) \in \text{polygon } (0, 0),\; (2, 0),\; (0, 1.5) "
        r"\cup \{ \sqrt{(x - 1)^{2} + (y + 1)^{2}} < 2 \}"
    )


def made(residual, domain=None, conditions=(), **options):
    domain = ep.Interval(0, 1) if domain is None else domain
    return ep.Problem(
        domain=domain,
        fields=["u"],
        residual=residual,
        conditions=list(conditions),
        points=ep.Sobol(interior=64),
        **options,
    )


def branching(u, x):
    return u.xx + (u if bool((x > 0.5).any()) else 2 * u)


def seen_type(u, x):
    """Does another thing with what is not a tensor."""
    return u.xx + (2 * u if isinstance(x, torch.Tensor) else u)


def gathered(u, x):
    return u.xx + u * torch.stack([x, x], dim=1).sum(dim=1)


def rounded(u, x):
    return u.xx + torch.round(10 * x) * u


@pytest.mark.parametrize(
    "function", [branching, seen_type, gathered, rounded], ids=lambda each: each.__name__
)
def test_what_cannot_be_written_faithfully_is_shown_as_its_own_text(function):
    (term,) = problem_formulas(made(function)).terms
    assert term.equations == ()
    assert term.source.startswith(f"def {function.__name__}(")


def test_functions_without_a_text_show_their_name():
    namespace = {"torch": torch}
    exec("def steps(u, x):\n    return u.xx + torch.round(x) * u", namespace)
    (term,) = problem_formulas(made(namespace["steps"])).terms
    assert (term.equations, term.source) == ((), "steps(u, x)")


def test_a_long_right_hand_side_gets_a_name_and_a_huge_one_no_definition():
    def long(x):
        return sum(k * torch.sin(k * x) for k in range(1, 9))

    def huge(x):
        total = x
        for _ in range(40):
            total = total * (1 + total / 1000)
        return total

    conditions = [ep.Boundary(lambda u, x: u - long(x)), ep.Boundary(lambda u, x: huge(x) - u)]
    stated = ep.Problem(
        domain=ep.Interval(0, 1),
        fields=["u"],
        residual=lambda u, x: u.xx - long(x),
        conditions=conditions,
        points=ep.Grid(interior=9, boundary=2),
    )
    formulas = problem_formulas(stated)
    equations = [each for term in formulas.terms for each in term.equations]
    assert equations == ["u_{xx} = f(x)", "u = f(x)", "u = g(x)"]
    assert formulas.definitions[0].startswith(r"f(x) = \sin(x) + 2 \sin(2 x) + 3 \sin(3 x)")
    assert formulas.unwritten == ("g(x)",)


def test_names_of_fields_and_coordinates_may_be_anything():
    stated = ep.Problem(
        domain=ep.Rectangle(),
        coordinates=["radius", "theta"],
        fields=["u_1", "f"],
        residual=lambda u_1, f, radius, theta: [
            u_1.theta_theta - radius * f,
            f.radius - torch.exp(torch.sin(9 * theta) + torch.cos(7 * radius)) * theta * radius,
        ],
        conditions=[],
        points=ep.Grid(interior=(3, 3)),
    )
    formulas = problem_formulas(stated)
    assert formulas.terms[0].equations == (
        r"u_{1,\,\theta \theta} - \mathrm{radius} f = 0",
        r"f_{\mathrm{radius}} = g(\mathrm{radius}, \theta)",
    )


def test_measured_derivatives_are_marked():
    values = {"u": [1.0, 2.0], "u.xx": [0.0, 1.0]}
    stated = made(lambda u: u.xx, conditions=[ep.Data([[0.1], [0.2]], values)])
    assert problem_formulas(stated).terms[1].equations == (
        r"u = u^{\mathrm{data}}",
        r"u_{xx} = u_{xx}^{\mathrm{data}}",
    )


def test_zeros_are_left_out_of_sums_only():
    assert items_of(VOCABULARY.constant(0.0)) == []
    assert written(VOCABULARY.constant(0.0)) == "0"
    assert written(X * 0) == "0"
    assert written(X**0) == "x^{0}"
