"""Time of one loss and gradient, beside a peer in the same run.

The peer is a PINN as it is commonly written in torch: `nn.Linear` layers, the activation as a torch
expression, nested `torch.autograd.grad`, Klein-Gordon's loss by hand, on the same points. One thread, warm,
interleaved, medians: only ratios mean something on a shared machine.

    python benchmarks/evaluation.py [--rounds 5]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

from evopinn.engine import AutogradEngine, TaylorEngine
from evopinn.genome import Genome
from evopinn.network import initial_parameters
from evopinn.problem import Problem
from evopinn.problems import find_problem

ENGINES = {"autograd": AutogradEngine, "taylor": TaylorEngine}

NETWORKS: dict[str, Callable[[Tensor], Tensor]] = {
    "layers=6 neurons=48 activation=asinh(x)*cos(x)": lambda z: torch.asinh(z) * torch.cos(z),
    "layers=9 neurons=44 activation=tanh(x)*cos(x)": lambda z: torch.tanh(z) * torch.cos(z),
    "layers=9 neurons=50 activation=tanh(x)": torch.tanh,
}


class Peer:
    """The common way to write it."""

    def __init__(self, problem: Problem, genome: Genome, activation: Callable[[Tensor], Tensor]) -> None:
        layers, width = genome.structure.layers, genome.structure.neurons
        sizes = [2] + [width] * (layers - 1) + [1]
        self.linears = nn.ModuleList([nn.Linear(a, b, dtype=torch.float64) for a, b in pairwise(sizes)])
        self.activation = activation
        self.points = [term.sides[0].points for term in problem.terms()]

    def __call__(self, points: Tensor) -> tuple[Tensor, Tensor]:
        points = points.detach().requires_grad_()
        h = points
        for linear in self.linears[:-1]:
            h = self.activation(linear(h))
        return points, self.linears[-1](h)

    def evaluate(self) -> None:
        points, u = self(self.points[0])
        (first,) = torch.autograd.grad(u.sum(), points, create_graph=True)
        u_xx = torch.autograd.grad(first[:, 0].sum(), points, create_graph=True)[0][:, 0]
        u_tt = torch.autograd.grad(first[:, 1].sum(), points, create_graph=True)[0][:, 1]
        loss = (u_tt - u_xx + u[:, 0] ** 3).square().mean()
        points, u = self(self.points[1])
        loss = loss + 100 * u.square().mean()
        points, u = self(self.points[2])
        (first,) = torch.autograd.grad(u.sum(), points, create_graph=True)
        loss = loss + 100 * first[:, 1].square().mean()
        points, u = self(self.points[3])
        loss = loss + 100 * u.square().mean()
        loss.backward()


def medians(rounds: int, *functions: Callable[[], object]) -> list[float]:
    """The median time of each function, called in turn."""
    times: list[list[float]] = [[] for _ in functions]
    for turn in range(rounds + 1):
        for number, function in enumerate(functions):
            began = time.perf_counter()
            function()
            if turn:  # the first round warms up
                times[number].append(time.perf_counter() - began)
    return [statistics.median(each) for each in times]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time of one loss and gradient beside a peer.")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    problem = find_problem("klein-gordon")
    print(f"{'network':50} {'common way':>12}", *(f"{name + ' (times faster)':>26}" for name in ENGINES))
    for text, activation in NETWORKS.items():
        genome = Genome.parse(text)
        engines = [make(problem, genome) for make in ENGINES.values()]
        theta = initial_parameters(engines[0].layout, seed=0)
        peer = Peer(problem, genome, activation)
        ours = [lambda engine=engine, theta=theta: engine.loss_and_gradient(theta) for engine in engines]
        common, *times = medians(rounds, peer.evaluate, *ours)
        shown = (f"{1000 * each:14.0f} ms ({common / each:6.2f})" for each in times)
        print(f"{text:50} {1000 * common:9.0f} ms", *shown)


if __name__ == "__main__":
    main()
