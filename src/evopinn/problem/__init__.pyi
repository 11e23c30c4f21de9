"""Stating a PDE problem: domain, points, fields, conditions."""

from .conditions import Boundary, Condition, Data, Initial, Periodic
from .domains import Box, Disk, Domain, Interval, Polygon, Rectangle, Ring, SpaceTime, Time
from .files import load_problem
from .names import OBJECT, absolute_spec, is_problem_file
from .points import Grid, LatinHypercube, Points, Sobol, Uniform
from .problem import Problem
from .reference import Reference
from .scales import UNSCALED, Affine, Field, Scales, TermScale
from .terms import Term

__all__ = [
    "OBJECT",
    "UNSCALED",
    "Affine",
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
    "Scales",
    "Sobol",
    "SpaceTime",
    "Term",
    "TermScale",
    "Time",
    "Uniform",
    "absolute_spec",
    "is_problem_file",
    "load_problem",
]
