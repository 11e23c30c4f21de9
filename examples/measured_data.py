"""Measured data instead of an initial condition: a cooling rod that nobody observed before t = 0.1.

u_t = 0.4 u_xx with cold ends. Three thermometers report at ten instants, with noise of 0.01.
"""

import numpy as np
import torch
from torch import pi

import evopinn as ep

A = 0.4


def exact(x, t):
    return torch.exp(-A * pi**2 * t) * torch.sin(pi * x)


rng = np.random.default_rng(0)
places, instants = (grid.ravel() for grid in np.meshgrid([0.2, 0.5, 0.7], np.linspace(0.1, 0.8, 10)))
temperature = exact(torch.as_tensor(places), torch.as_tensor(instants)).numpy()
temperature = temperature + rng.normal(scale=0.01, size=len(places))

problem = ep.Problem(
    domain=ep.Interval(0, 1) * ep.Time(0, 1),
    fields=["u"],
    residual=lambda u: u.t - A * u.xx,
    conditions=[
        ep.Boundary(lambda u: u, weight=10),
        ep.Data({"x": places, "t": instants}, {"u": temperature}, weight=10, name="thermometers"),
    ],
    points=ep.Grid(interior=(30, 30), boundary=62),
    solution=exact,
    name="measured-data",
)

if __name__ == "__main__":
    result = ep.train(problem, "layers=3 neurons=20 activation=tanh(x)", epochs=100)
    print(
        f"error of u on the whole rod, including the time before the first reading: {result.errors['u']:.1e}"
    )
