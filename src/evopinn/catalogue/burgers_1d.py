"""The viscous Burgers equation that steepens a sine into a thin shock at the origin.

    u_t + u u_x = ν u_xx    on (-1, 1) × (0, 1],    ν = 0.01/π,
    u(x, 0) = -sin(πx),    u(-1, t) = u(1, t) = 0.

The transformation of Cole and Hopf turns it into the heat equation. With y = x - 2 √(νt) z, the solution is

    u(x, t) = -∫ sin(πy) w dz / ∫ w dz,    w = exp(-z² - cos(πy) / (2πν)),    z from -∞ to ∞,

the mean of -sin(πy) under the weight w. The trapezoidal rule converges faster than any power of the step on
such an integral, and a softmax forms the mean without the weights (up to e^50) ever being formed.

Setting: Basdevant and others, "Spectral and finite difference solutions of the Burgers equation" (1986);
known to PINNs from Raissi, Perdikaris and Karniadakis (2019).
"""

from math import pi

import torch
from torch import Tensor

from evopinn.problem import Boundary, Initial, Interval, Problem, Sobol, Time
from evopinn.problem.fields import FieldValues

NU = 0.01 / pi

STEP = 1 / 16  # the integrand's narrowest peak is about 0.3 wide, so halving the step changes nothing
REACH = 12.0  # cos(πy)/(2πν) varies by 100, so beyond |z| = 12 the weight is below e^-44 of its maximum


def exact(x: Tensor, t: Tensor) -> Tensor:
    """The solution u, shape (n,), by quadrature.

    It is accurate to about 1e-14. It can be differentiated at t > 0; at t = 0, where √t cannot, it gives the
    initial values.
    """
    z = torch.arange(-REACH, REACH + STEP / 2, STEP, dtype=x.dtype, device=x.device)
    y = x[:, None] - 2 * torch.sqrt(NU * t)[:, None] * z
    weights = torch.softmax(-(z**2) - torch.cos(pi * y) / (2 * pi * NU), dim=1)
    return -(weights * torch.sin(pi * y)).sum(dim=1)


def residual(u: FieldValues) -> Tensor:
    """The equation."""
    return u.t + u * u.x - NU * u.xx


def start(u: FieldValues, x: Tensor) -> Tensor:
    """The velocity at t = 0."""
    return u + torch.sin(pi * x)


def ends(u: FieldValues) -> FieldValues:
    """Homogeneous Dirichlet data."""
    return u


def build() -> Problem:
    """State the problem."""
    return Problem(
        name="burgers-1d",
        title="Burgers equation with a shock, ν = 0.01/π",
        equation=r"u_t + u u_x = \nu u_{xx}",
        domain=Interval(-1, 1) * Time(0, 1),
        fields=["u"],
        residual=residual,
        conditions=[Initial(start, weight=10), Boundary(ends, weight=10)],
        # The shock is some hundredths wide. On a grid it hides between two columns: the loss falls, the error
        # does not. Scattered points meet it everywhere.
        scale=False,
        points=Sobol(interior=8000, initial=400, boundary=400, test=(201, 101)),
        solution=exact,
    )
