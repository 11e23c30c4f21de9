"""Laplace's equation around a round hole, with a Neumann or Robin condition on it.

    u_xx + u_yy = 0    on [-1, 1]² without the disk r < a,    a = 1/2,
    ∂u/∂n + κ u = 0    at r = a,    n pointing out of the domain, into the hole,

and u given on the outer boundary by the solution u = x (1 + c a²/r²), c = (1 - κa)/(1 + κa).

Case I, κ = 0, is potential flow past a cylinder, with velocity ∇u: no flow through the wall. Case II, κ =
4, is heat conduction past a cooled pipe.

Setting: the two textbook problems, for instance in Batchelor, "An introduction to fluid dynamics" (1967),
and Carslaw and Jaeger, "Conduction of heat in solids" (1959), on a finite box.
"""

from dataclasses import dataclass

from torch import Tensor

from evopinn.problem import Boundary, Disk, Grid, Problem, Rectangle
from evopinn.problem.fields import FieldValues

A = 0.5


@dataclass(frozen=True)
class Wall:
    """The wall of the hole.

    Attributes:
        kappa: Transfer coefficient κ; 0 is a Neumann condition.
        physics: In words, for the title.
    """

    kappa: float
    physics: str


CASES = {
    "I": Wall(kappa=0.0, physics="potential flow past a cylinder"),
    "II": Wall(kappa=4.0, physics="heat conduction past a cooled pipe"),
}


def build(name: str, case: Wall) -> Problem:
    """State the problem of one case."""
    kappa = case.kappa
    c = (1 - kappa * A) / (1 + kappa * A)

    def exact(x: Tensor, y: Tensor) -> Tensor:
        return x * (1 + c * A**2 / (x**2 + y**2))

    def residual(u: FieldValues) -> Tensor:
        return u.xx + u.yy

    def wall(u: FieldValues, nx: Tensor, ny: Tensor) -> Tensor:
        return u.x * nx + u.y * ny + kappa * u

    def far(u: FieldValues, x: Tensor, y: Tensor) -> Tensor:
        return u - exact(x, y)

    return Problem(
        name=name,
        title=f"Laplace equation around a hole, {case.physics}",
        equation=r"u_{xx} + u_{yy} = 0",
        domain=Rectangle(x=(-1, 1), y=(-1, 1)) - Disk(center=(0, 0), radius=A).named(circle="hole"),
        fields=["u"],
        residual=residual,
        conditions=[
            Boundary(wall, on="hole", weight=10, name="hole"),
            Boundary(far, on=("left", "right", "bottom", "top"), weight=100, name="outer boundary"),
        ],
        scale=False,
        points=Grid(
            interior=(50, 50),
            boundary={"hole": 120, "left": 51, "right": 51, "bottom": 51, "top": 51},
            test=(101, 101),
        ),
        solution=exact,
    )
