"""Poisson's equation on an L-shape: the gradient is infinite in the re-entrant corner.

    -(u_xx + u_yy) = 1    on [-1, 1]² without [0, 1]²,    u = 0 on the boundary.

The solution is a series of functions that satisfy the equation exactly, fitted to the boundary condition by
`references/poisson_l_shape.py`; the maximum principle bounds its error by 1e-13. With ω the complex
coordinate whose positive real axis is the diagonal of symmetry, s = ω^(2/3), and c_j the value of s in the
right angles,

    u = -r²/4 + Re( ω² log ω / (3π) + Σ_k a_k s^k + Σ_j (Q_j(s/c_j) - Q_j(-s/c_j)) ),    k = 1, 3, 5, ...,
    Q_j(ζ) = log(1 - ζ) Σ_m b_jm (1 - ζ)^m,    m = 2, 3, ...

Setting: the domain of DeepXDE's demonstration; the benchmark of the deep Ritz and adaptive finite-element
literature.
"""

import json
from cmath import exp, pi
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import torch
from torch import Tensor

from evopinn.problem import Boundary, Grid, Problem, Rectangle
from evopinn.problem.fields import FieldValues

COEFFICIENTS = Path(__file__).parent / "data" / "poisson_l_shape.json"
TURN = exp(
    0.75j * pi
)  # turns the diagonal of symmetry, which points to (-1, -1), onto the positive real axis


@dataclass(frozen=True)
class CornerSeries:
    """The fitted solution.

    Attributes:
        a: Coefficients a_k of the odd powers of s.
        corners: Per right angle, c_j and its coefficients b_jm.
    """

    a: tuple[float, ...]
    corners: tuple[tuple[complex, tuple[complex, ...]], ...]

    @classmethod
    def load(cls) -> "CornerSeries":
        """Read the stored coefficients."""
        stored = json.loads(COEFFICIENTS.read_text(encoding="utf-8"))
        corners = (
            (
                (complex(corner["x"], corner["y"]) * TURN) ** (2 / 3),
                tuple(map(complex, corner["b_real"], corner["b_imag"])),
            )
            for corner in stored["corners"]
        )
        return cls(tuple(stored["series"]), tuple(corners))

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        """The solution u, shape (n,); it can be differentiated inside the domain."""
        omega = torch.complex(x, y) * TURN
        log_omega = _log(omega)
        s = torch.where(omega == 0, 0, torch.exp(2 / 3 * log_omega))
        total = omega**2 * log_omega / (3 * pi) + s * _polynomial(self.a, s**2)
        for c, b in self.corners:
            total = total + _corner(b, 1 - s / c) - _corner(b, 1 + s / c)
        return total.real - (x**2 + y**2) / 4


def _log(z: Tensor) -> Tensor:
    """The logarithm, with 0 instead of -∞: a factor z² or more stands before it."""
    return torch.log(torch.where(z == 0, 1, z))


def _polynomial(coefficients: tuple[complex, ...], z: Tensor) -> Tensor:
    """Σ_k coefficients[k] z^k, by Horner's rule."""
    return reduce(lambda total, c: total * z + c, reversed(coefficients), torch.zeros_like(z))


def _corner(b: tuple[complex, ...], rest: Tensor) -> Tensor:
    """Q(ζ) with rest = 1 - ζ."""
    return _log(rest) * rest**2 * _polynomial(b, rest)


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.xx + u.yy + 1


def wall(u: FieldValues) -> FieldValues:
    """Homogeneous Dirichlet data."""
    return u


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="poisson-l-shape",
        title="Poisson equation on an L-shape",
        equation=r"-\Delta u = 1",
        domain=Rectangle(x=(-1, 1), y=(-1, 1)) - Rectangle(x=(0, 1), y=(0, 1)),
        fields=["u"],
        residual=residual,
        conditions=[Boundary(wall, weight=100)],
        scale=False,
        points=Grid(interior=(50, 50), boundary=320, test=(101, 101)),
        solution=CornerSeries.load(),
    )
