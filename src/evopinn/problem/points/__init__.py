"""Points: grids, uniform random, Sobol and Latin hypercube, for each purpose of a problem."""

from evopinn.problem.points.grid import Grid
from evopinn.problem.points.random import LatinHypercube, Sobol, Uniform
from evopinn.problem.points.spec import BoundaryPoints, PartChoice, Points, Predicate

__all__ = [
    "BoundaryPoints",
    "Grid",
    "LatinHypercube",
    "PartChoice",
    "Points",
    "Predicate",
    "Sobol",
    "Uniform",
]
