"""Convection around a circle: a periodic condition, points of a Sobol sequence, renamed coordinates.

u_t + u_φ = 0 with u = sin φ initially; the solution is sin(φ - t).
"""

from torch import pi, sin

import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 2 * pi) * ep.Time(0, 2),
    fields=["u"],
    coordinates=["phi", "t"],
    residual=lambda u: u.t + u.phi,
    conditions=[
        ep.Initial(lambda u, phi: u - sin(phi), weight=100),
        ep.Periodic("phi", weight=10),
    ],
    points=ep.Sobol(interior=1024, initial=64, boundary=64, seed=1),
    solution=lambda phi, t: sin(phi - t),
    name="periodic-convection",
)

if __name__ == "__main__":
    result = ep.train(
        problem, "layers=4 neurons=20 activation=sin(x)", optimizer="lbfgs", epochs=200, errors_every=50
    )
    for epoch, error in zip(result.history.error_epochs, result.history.errors["u"], strict=True):
        print(f"after {epoch:3} epochs: loss {result.history.losses[epoch]:.1e}, error of u {error:.1e}")
