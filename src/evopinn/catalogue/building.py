"""The construction of problems by name, from the catalogue or a user's own file.

A problem is called `heat`, or `klein-gordon:II` if it has cases; without a case, the first is meant.
"""

from importlib import import_module
from typing import Any

from evopinn.catalogue.index import CATALOGUE, CatalogueRow
from evopinn.errors import UnknownNameError
from evopinn.problem import Problem, is_problem_file, load_problem


def problem(name: str) -> Problem:
    """Build a problem of the catalogue.

    Args:
        name: For instance `heat`, `klein-gordon` (its first case) or `klein-gordon:II`.

    Raises:
        UnknownNameError: There is no such problem, or it has no such case.

    Examples:
        >>> problem("klein-gordon").name
        'klein-gordon:I'
    """
    base, colon, case = name.lower().partition(":")
    case = case.upper()  # cases are Roman numerals
    row = CATALOGUE.get(base)
    if row is None:
        raise UnknownNameError("problem", name, CATALOGUE, hint="`evopinn problems` lists them all.")
    if colon and case not in row.cases:
        raise UnknownNameError(f"case of {base}", case, row.cases, hint=_cases_hint(row))
    module: Any = import_module(f"evopinn.catalogue.{base.replace('-', '_')}")
    if not row.cases:
        return module.build()
    case = case or row.cases[0]
    return module.build(f"{base}:{case}", module.CASES[case])


def find_problem(spec: str) -> Problem:
    """A problem of the catalogue, or of a user's own file.

    Args:
        spec: `klein-gordon`, `klein-gordon:II`, `my_problem.py` or `my_problem.py:name`.

    Examples:
        >>> find_problem("lame:IV").name
        'lame:IV'
    """
    return load_problem(spec) if is_problem_file(spec) else problem(spec)


def _cases_hint(row: CatalogueRow) -> str:
    return f"It has {', '.join(row.cases)}." if row.cases else f"It has no cases: write {row.name}."
