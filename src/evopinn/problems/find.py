"""A problem by what a user calls it: a name of the catalogue or a file."""

from evopinn.problem import Problem, is_problem_file, load_problem
from evopinn.problems.catalogue import problem


def find_problem(spec: str) -> Problem:
    """A problem of the catalogue, or of a user's own file.

    Args:
        spec: `klein-gordon`, `klein-gordon:II`, `my_problem.py` or `my_problem.py:name`.

    Examples:
        >>> find_problem("lame:IV").name
        'lame:IV'
    """
    return load_problem(spec) if is_problem_file(spec) else problem(spec)
