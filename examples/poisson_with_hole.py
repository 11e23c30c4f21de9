"""Poisson's equation on a square with a round hole: a difference of shapes, a Neumann condition on one part.

-Δu = f with u = sin(πx) sin(πy): u is given on the sides, its normal derivative on the wall of the hole.
"""

from torch import cos, pi, sin

import evopinn as ep


def exact(x, y):
    return sin(pi * x) * sin(pi * y)


def slope(x, y, nx, ny):
    """The derivative of the exact solution along the normal."""
    return pi * (nx * cos(pi * x) * sin(pi * y) + ny * sin(pi * x) * cos(pi * y))


problem = ep.Problem(
    domain=ep.Rectangle((0, 1), (0, 1)) - ep.Disk((0.5, 0.5), 0.2).named(circle="hole"),
    fields=["u"],
    residual=lambda u, x, y: u.xx + u.yy + 2 * pi**2 * exact(x, y),
    conditions=[
        ep.Boundary(lambda u: u, on=["left", "right", "bottom", "top"], weight=100, name="sides"),
        ep.Boundary(lambda u, x, y, nx, ny: u.x * nx + u.y * ny - slope(x, y, nx, ny), on="hole", weight=10),
    ],
    points=ep.Grid(interior=(40, 40), boundary=160),
    solution=exact,
    name="poisson-with-hole",
)

if __name__ == "__main__":
    for term in problem.terms():
        print(f"{term.name:16} {term.count:4} points  weight {term.weight:g}")
    result = ep.train(problem, epochs=100)
    print(f"{result.status}: loss {result.loss:.1e}, error of u {result.errors['u']:.1e}")
