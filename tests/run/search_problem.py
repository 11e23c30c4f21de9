"""A small problem to search with: -u'' = π² sin πx on 20 points."""

import torch

import evopinn as ep

problem = ep.Problem(
    domain=ep.Interval(0, 1),
    fields=["u"],
    residual=lambda u, x: u.xx + torch.pi**2 * torch.sin(torch.pi * x),
    conditions=[ep.Boundary(lambda u: u, weight=10)],
    scale=False,
    points=ep.Grid(interior=20, boundary=2, test=21),
    solution=lambda x: torch.sin(torch.pi * x),
    name="poisson",
)
