"""Lamé's equations of plane elasticity for a ring that is held inside and loaded outside.

    E/(1-μ²) (u_xx + (1-μ)/2 u_yy + (1+μ)/2 v_xy) = 0,
    E/(1-μ²) (v_yy + (1-μ)/2 v_xx + (1+μ)/2 u_xy) = 0    on a < r < b,

u = v = 0 at r = a, and at r = b, with the outward normal (n₁, n₂), a uniform pressure q₁ and shear q₂:

    E/(1-μ²) (n₁ (u_x + μ v_y) + n₂ (1-μ)/2 (u_y + v_x)) = -q₁ n₁ + q₂ n₂,
    E/(1-μ²) (n₂ (v_y + μ u_x) + n₁ (1-μ)/2 (u_y + v_x)) = -q₁ n₂ - q₂ n₁.

Setting: the thick-walled cylinder of M. H. Sadd, "Elasticity" (2009), solved with Airy's stress function;
cases, points and weights as in the evolutionary search for networks that evopinn follows.
"""

from dataclasses import dataclass

from torch import Tensor

from evopinn.problem import Boundary, Grid, Problem, Ring
from evopinn.problem.fields import FieldValues


@dataclass(frozen=True)
class LoadedRing:
    """A ring, its material and its load.

    Attributes:
        E: Young's modulus.
        mu: Poisson's ratio μ.
        q1: Pressure on the outer boundary.
        q2: Shear on the outer boundary.
        a: Inner radius.
        b: Outer radius.
        outer: Number of points on the outer boundary; the inner one has 200, as dense in arc length.
    """

    E: float = 2.1
    mu: float = 0.25
    q1: float = 23.0
    q2: float = 3.0
    a: float = 1.0
    b: float = 2.0
    outer: int = 400


CASES = {
    "I": LoadedRing(),
    "II": LoadedRing(q1=30.0, q2=2.0),
    "III": LoadedRing(E=3.0, mu=0.3),
    "IV": LoadedRing(a=1.2, b=1.8, outer=300),
    "V": LoadedRing(a=0.8, b=2.2, outer=550),
}


def amplitudes(case: LoadedRing) -> tuple[float, float]:
    """The constants A and B of the solution: radial displacement, and rotation."""
    E, mu, a2, b2 = case.E, case.mu, case.a**2, case.b**2
    A = case.q1 * (1 - mu**2) * b2 / (E * (b2 * (1 + mu) + a2 * (1 - mu)))
    B = case.q2 * (1 + mu) * b2 / (E * a2)
    return A, B


def build(name: str, case: LoadedRing) -> Problem:
    """State the problem of one case."""
    mu, q1, q2, a, b = case.mu, case.q1, case.q2, case.a, case.b
    A, B = amplitudes(case)
    stiffness = case.E / (1 - mu**2)

    def exact(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        fade = 1 - a**2 / (x**2 + y**2)
        return fade * (B * y - A * x), -fade * (A * y + B * x)

    def residual(u: FieldValues, v: FieldValues) -> list[Tensor]:
        return [
            stiffness * (u.xx + (1 - mu) / 2 * u.yy + (1 + mu) / 2 * v.xy),
            stiffness * (v.yy + (1 - mu) / 2 * v.xx + (1 + mu) / 2 * u.xy),
        ]

    def held(u: FieldValues, v: FieldValues) -> list[FieldValues]:
        return [u, v]

    def traction(u: FieldValues, v: FieldValues, nx: Tensor, ny: Tensor) -> list[Tensor]:
        shear = (1 - mu) / 2 * (u.y + v.x)
        return [
            stiffness * (nx * (u.x + mu * v.y) + ny * shear) + q1 * nx - q2 * ny,
            stiffness * (ny * (v.y + mu * u.x) + nx * shear) + q1 * ny + q2 * nx,
        ]

    return Problem(
        name=name,
        title=f"Lamé equations of a ring {a:g} < r < {b:g}, E = {case.E:g}, μ = {mu:g}, q = ({q1:g}, {q2:g})",
        equation=(
            r"\frac{E}{1-\mu^2}\Bigl(u_{xx} + \tfrac{1-\mu}{2} u_{yy} + \tfrac{1+\mu}{2} v_{xy}\Bigr) = 0,"
            r"\quad "
            r"\frac{E}{1-\mu^2}\Bigl(v_{yy} + \tfrac{1-\mu}{2} v_{xx} + \tfrac{1+\mu}{2} u_{xy}\Bigr) = 0"
        ),
        domain=Ring(inner=a, outer=b),
        fields=["u", "v"],
        residual=residual,
        conditions=[Boundary(held, on="inner", weight=10), Boundary(traction, on="outer", weight=10)],
        scale=False,
        points=Grid(
            interior=(100, 100),
            interior_at="nodes",
            boundary={"inner": 200, "outer": case.outer},
            test=(200, 200),
        ),
        solution=exact,
    )
