"""The catalogue: problems that the field knows, each with a solution to measure errors against.

Examples:
    >>> from evopinn.problems import problem
    >>> problem("lame:IV").fields
    ('u', 'v')
"""

from evopinn.problems.catalogue import Row, catalogue, names, problem
from evopinn.problems.find import find_problem

__all__ = ["Row", "catalogue", "find_problem", "names", "problem"]
