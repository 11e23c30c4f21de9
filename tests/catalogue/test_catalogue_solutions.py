"""Every problem of the catalogue vanishes on its own solution; a new row of the table is tested at once.

The rule: a residual counts as zero if it is below 1e-9 of the largest amount that a single derivative
contributes to it. That amount is the derivative's factor in the residual (∂ residual / ∂ derivative, by
autograd) times the derivative's largest magnitude in the domain. Derivatives of the solution are by nested
autograd in double precision.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from evopinn.catalogue import names, problem
from evopinn.problem import Reference
from evopinn.problem.terms import Side

TOLERANCE = 1e-9
POINTS = 300  # per term: a random choice keeps the tests fast


@cache
def built(name):
    return problem(name)


def closed_forms():
    """Names of the problems whose solution is a function."""
    return [name for name in names() if not isinstance(built(name).solution, Reference)]


def chosen(term):
    """The term on at most `POINTS` of its points."""
    if term.count <= POINTS:
        return term
    rows = torch.as_tensor(np.random.default_rng(0).choice(term.count, POINTS, replace=False))
    sides = (
        Side(side.points[rows], {name: column[rows] for name, column in side.columns.items()})
        for side in term.sides
    )
    return replace(term, sides=tuple(sides))


def derivatives_of(solution, coordinates, points):
    """A function that differentiates a solution on points by nested autograd."""
    columns = [column.clone().requires_grad_() for column in points.unbind(dim=1)]
    found = solution(**dict(zip(coordinates, columns, strict=True)))
    fields = found if isinstance(found, tuple) else (found,)

    @cache
    def derivative(field, index):
        if not any(index):
            return fields[field]
        axis = max(position for position, order in enumerate(index) if order)
        lower = derivative(field, tuple(order - (place == axis) for place, order in enumerate(index)))
        if not lower.requires_grad:
            return torch.zeros_like(lower)
        (result,) = torch.autograd.grad(lower.sum(), columns[axis], create_graph=True, materialize_grads=True)
        return result

    return derivative


def largest_of(values):
    return float(values.detach().abs().max())


def relative_residuals(stated, solution):
    """Per component of each term: its largest residual over the largest contribution of a derivative."""
    terms = [chosen(term) for term in stated.terms()]
    inside = derivatives_of(solution, stated.axes, terms[0].sides[0].points)
    sizes = {}
    for term in terms:
        tables = []
        for side, channels in zip(term.sides, term.channels, strict=True):
            derivative = derivatives_of(solution, stated.axes, side.points)
            tables.append({c: derivative(*c).detach().clone().requires_grad_() for c in channels})
        components = term.residuals([lambda *c, table=table: table[c] for table in tables])
        for number, component in enumerate(components):
            scale = 0.0
            for table in tables:
                factors = torch.autograd.grad(
                    component.sum(), list(table.values()), retain_graph=True, materialize_grads=True
                )
                for (channel, here), factor in zip(table.items(), factors, strict=True):
                    largest = max(largest_of(here), largest_of(inside(*channel)))
                    scale = max(scale, largest * largest_of(factor))
            sizes[term.name, number] = largest_of(component) / scale
    return sizes


@pytest.mark.parametrize("name", names())
def test_it_builds_and_carries_its_name(name):
    stated = built(name)
    assert stated.name == name
    assert stated.test_values.shape == (len(stated.test_points), len(stated.fields))
    assert np.isfinite(stated.test_values).all()


@pytest.mark.parametrize("name", closed_forms())
def test_residual_and_conditions_vanish_on_the_solution(name):
    stated = built(name)
    sizes = relative_residuals(stated, stated.solution)
    assert len(sizes) >= 2
    assert max(sizes.values()) < TOLERANCE, sizes


@pytest.mark.parametrize("name", closed_forms())
def test_a_solution_that_is_off_by_a_millionth_is_noticed(name):
    stated = built(name)

    def wrong(**coordinates):
        found = stated.solution(**coordinates)
        fields = found if isinstance(found, tuple) else (found,)
        return tuple(field * (1 + 1e-6) for field in fields)

    assert max(relative_residuals(stated, wrong).values()) > 10 * TOLERANCE


@pytest.mark.parametrize("name", names())
def test_the_error_of_the_solution_itself_is_zero(name):
    stated = built(name)
    assert stated.errors(lambda _points: stated.test_values) == dict.fromkeys(stated.fields, 0.0)
