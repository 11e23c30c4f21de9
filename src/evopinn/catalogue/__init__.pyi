"""The catalogue: problems that the field knows, each with a solution to measure errors against."""

from .building import find_problem, problem
from .index import CatalogueRow, catalogue, names

__all__ = ["CatalogueRow", "catalogue", "find_problem", "names", "problem"]
