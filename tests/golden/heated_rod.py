"""The heat equation on few points: a problem in a file, with space, time and a known solution."""

import dataclasses
import math

import torch

import evopinn as ep


def exact(x, t):
    return torch.exp(-0.4 * math.pi**2 * t) * torch.sin(math.pi * x)


# The base may be from before problems were scaled by default.
can_be_scaled = any(field.name == "scale" for field in dataclasses.fields(ep.Problem))
problem = ep.Problem(
    domain=ep.Interval(0, 1) * ep.Time(0, 1),
    fields=["u"],
    residual=lambda u: u.t - 0.4 * u.xx,
    conditions=[ep.Initial(lambda u, x: u - torch.sin(math.pi * x), weight=10), ep.Boundary(lambda u: u)],
    points=ep.Grid(interior=(8, 8), initial=9, boundary=18, test=(11, 11)),
    solution=exact,
    name="heated-rod",
    **({"scale": False} if can_be_scaled else {}),
)
