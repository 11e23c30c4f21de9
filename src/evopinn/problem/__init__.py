"""Stating a PDE problem: domain, points, fields, conditions."""

from evopinn.problem.conditions import Boundary, Condition, Data, Initial, Periodic
from evopinn.problem.domains import Box, Disk, Domain, Interval, Polygon, Rectangle, Ring, SpaceTime, Time
from evopinn.problem.fields import Field
from evopinn.problem.files import absolute_spec, is_problem_file, load_problem
from evopinn.problem.points import Grid, LatinHypercube, Points, Sobol, Uniform
from evopinn.problem.problem import Problem
from evopinn.problem.reference import Reference
from evopinn.problem.terms import Term

__all__ = [
    "Boundary",
    "Box",
    "Condition",
    "Data",
    "Disk",
    "Domain",
    "Field",
    "Grid",
    "Initial",
    "Interval",
    "LatinHypercube",
    "Periodic",
    "Points",
    "Polygon",
    "Problem",
    "Rectangle",
    "Reference",
    "Ring",
    "Sobol",
    "SpaceTime",
    "Term",
    "Time",
    "Uniform",
    "absolute_spec",
    "is_problem_file",
    "load_problem",
]
