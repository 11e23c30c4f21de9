"""The two-dimensional Burgers equation on an L-shaped domain: a front that runs along its diagonal.

    u_t + u (u_x + u_y) - α (u_xx + u_yy) = 0    on ([0, 1]² without [0, 1/2) × (1/2, 1]) × (0, 2],

with u given at t = 0 and on the boundary by the solution u = 1 / (1 + exp((x + y - t) / (2α))).

Setting: the case α = 0.1 goes back to Li and others (2021); domain, cases, points and weights as in the
evolutionary search for networks that evopinn follows.
"""

import numpy as np
import torch
from torch import Tensor

from evopinn.problem import Boundary, Data, Grid, Problem, Rectangle, Time
from evopinn.problem.arrays import Floats
from evopinn.problem.fields import FieldValues

CASES = {"I": 0.1, "II": 0.15, "III": 0.05}
"""The viscosity α, the reciprocal of the Reynolds number, of each case."""


def initial_nodes() -> Floats:
    """The paper's 721 initial points (x, y, 0), shape (721, 3).

    They are nodes of a 31×31 grid. The closed domain has 736; the paper's number leaves out one of the two
    edges at the re-entrant corner, where the boundary condition says the same. Here it is the vertical one.
    """
    steps = np.arange(31)  # whole numbers, so that the edge at 15/30 is met exactly
    i, j = (index.ravel() for index in np.meshgrid(steps, steps, indexing="ij"))
    kept = (i > 15) | (j <= 15)
    return np.stack([i[kept] / 30, j[kept] / 30, np.zeros(kept.sum())], axis=1)


def build(name: str, alpha: float) -> Problem:
    """State the problem of one case."""

    def exact(x: Tensor, y: Tensor, t: Tensor) -> Tensor:
        return torch.sigmoid((t - x - y) / (2 * alpha))

    def residual(u: FieldValues) -> Tensor:
        return u.t + u * (u.x + u.y) - alpha * (u.xx + u.yy)

    def given(u: FieldValues, x: Tensor, y: Tensor, t: Tensor) -> Tensor:
        return u - exact(x, y, t)

    start = initial_nodes()
    return Problem(
        name=name,
        title=f"Burgers equation on an L-shape, α = {alpha:g}",
        equation=r"u_t + u (u_x + u_y) - \alpha (u_{xx} + u_{yy}) = 0",
        domain=(Rectangle(x=(0, 1), y=(0, 1)) - Rectangle(x=(0, 0.5), y=(0.5, 1))) * Time(0, 2),
        fields=["u"],
        residual=residual,
        conditions=[
            Data(start, {"u": exact(*torch.as_tensor(start).T).numpy()}, weight=100, name="initial"),
            Boundary(given, weight=100),
        ],
        scale=False,
        points=Grid(interior=(20, 20, 20), boundary=(120, 31), test=(51, 51, 51)),
        solution=exact,
    )
