import textwrap

import pytest

from evopinn.errors import MemoryShortageError, ProblemError
from evopinn.problem import is_problem_file, load_problem

GOOD = """
    import evopinn as ep
    def make(name):
        return ep.Problem(
            domain=ep.Interval(0, 1), fields=["u"], residual=lambda u: u.xx, conditions=[],
            points=ep.Grid(interior=5), name=name,
        )
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="my_problem.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(GOOD) + textwrap.dedent(text))
        return str(path)

    return write


def test_the_only_problem_of_a_file_needs_no_name(write):
    path = write("anything = make('one')")
    assert is_problem_file(path)
    assert load_problem(path).name == "one"


def test_several_problems_are_told_apart_by_name(write):
    path = write("a = make('A')\nb = make('B')\ndef c(): return make('C')")
    assert [load_problem(f"{path}:{name}").name for name in "abc"] == ["A", "B", "C"]
    with pytest.raises(ProblemError, match=r"my_problem\.py .*a, b.*my_problem\.py:a"):
        load_problem(path)
    with pytest.raises(ProblemError, match=r"my_problem\.py .*'d'.*a, b"):
        load_problem(f"{path}:d")


def test_among_several_the_one_called_problem_is_meant(write):
    assert load_problem(write("a = make('A')\nproblem = make('P')")).name == "P"


def test_a_file_can_import_its_neighbours_and_use_dataclasses(write, tmp_path):
    (tmp_path / "neighbour_module.py").write_text("title = 'from next door'")
    path = write(
        """
        from __future__ import annotations
        import neighbour_module
        problem = make(neighbour_module.title)
    """.replace("from __future__ import annotations", "import dataclasses")
    )
    assert load_problem(path).name == "from next door"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", r"my_problem\.py .*problem = evopinn\.Problem"),
        ("problem = make(", "SyntaxError: .* never closed .*my_problem.py, line 8"),
        ("problem = makke('a')", "NameError.*my_problem.py, line 8"),
        ("ep.Interval(1, 0)", "Interval.*my_problem.py, line 8"),
        ("raise SystemExit(3)", "SystemExit: 3 .*my_problem.py, line 8"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_sentence(write, text, message):
    with pytest.raises(ProblemError, match=message) as caught:
        load_problem(write(text))
    assert "Traceback" not in str(caught.value)


def test_a_function_that_fails_is_told_in_a_sentence_too(write):
    path = write("def boom(): raise ValueError('boom')\ndef needs(something): return make('x')")
    with pytest.raises(ProblemError, match=r"ValueError: boom .*my_problem.py, line 8"):
        load_problem(f"{path}:boom")
    with pytest.raises(ProblemError, match="'needs'"):
        load_problem(f"{path}:needs")


def test_the_line_is_told_once_and_wherever_the_file_lies(tmp_path):
    """Also in a folder that is called as the package is."""
    folder = tmp_path / "evopinn"
    folder.mkdir()
    (folder / "mine.py").write_text(
        "import evopinn as ep\n"
        "residual = lambda u, x: u.x + ep.nonsense(x)\n"
        "rod = dict(domain=ep.Interval(0, 1), fields=['u'], conditions=[], points=ep.Grid(interior=5))\n"
        "problem = ep.Problem(residual=residual, **rod)\n"
    )
    with pytest.raises(ProblemError) as caught:
        load_problem(str(folder / "mine.py"))
    assert str(caught.value).count("mine.py, line 2") == 1


def test_a_problem_without_a_name_is_known_by_its_file(write):
    path = write("mine = make(ep.Problem.name)")
    assert load_problem(f"{path}:mine").name == f"{path}:mine"


def test_a_missing_file_is_named():
    with pytest.raises(ProblemError, match=r"nowhere\.py"):
        load_problem("nowhere.py")


def test_a_name_of_the_catalogue_is_no_file():
    assert not is_problem_file("klein-gordon:II")
    assert is_problem_file("C:/some/where.py:name")


@pytest.mark.parametrize(
    "text", ["anything = bytearray(1 << 62)", "def anything(): return make(bytearray(1 << 62))"]
)
def test_a_file_that_finds_no_memory_is_not_mistaken(write, text):
    with pytest.raises(MemoryShortageError, match=r"MemoryError.*my_problem.py, line \d+"):
        load_problem(f"{write(text)}:anything")


def test_a_mistake_is_told_with_one_place(write):
    path = write(
        "def residual(u): return 1 / 0\nproblem = ep.Problem(domain=ep.Interval(0, 1), fields=['u'],"
        " residual=residual, conditions=[], points=ep.Grid(interior=5))"
    )
    with pytest.raises(ProblemError, match=r"ZeroDivisionError.*my_problem\.py, line 8\)\.$") as told:
        load_problem(path)
    assert str(told.value).count("line") == 1
