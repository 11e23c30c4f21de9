"""Points: grids, uniform random, Sobol and Latin hypercube, for each purpose of a problem."""

from evopinn.problem.points.grid import Grid
from evopinn.problem.points.random import LatinHypercube, Sobol, Uniform
from evopinn.problem.points.spec import BoundaryPoints, Place, Points, Predicate

__all__ = [
    "BoundaryPoints",
    "Grid",
    "LatinHypercube",
    "Place",
    "Points",
    "Predicate",
    "Sobol",
    "Uniform",
]
