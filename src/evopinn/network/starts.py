"""The starts of trainings: the initial θ that the start gene of a genome asks for.

`STARTS` in `genome/start.py` names them and their parameters; a row there and a function here are all.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from evopinn.errors import DomainError, ProblemError
from evopinn.genome import Genome
from evopinn.network.forward import layer_by_layer
from evopinn.network.layout import Layout
from evopinn.problem import Problem, Sobol
from evopinn.problem.arrays import Floats

SAMPLE = 512
"""The number of points of the domain on which a network is measured; the same ones for every genome."""

OUTPUT_RMS = 0.3
"""The root mean square of each output over these points."""

_SAMPLE_SEED = 512
_MEANS = 1
"""The purpose of random numbers beside those of the weights."""

_LEAST_SPREAD = 1e-6
"""A neuron that varies less than this share of what its layer does is constant, and not scaled up."""

InitialTheta = Callable[..., Tensor]
"""From genome, problem, seed and the values of the start's parameters to θ, float64 on the CPU."""


def initial_theta(genome: Genome, problem: Problem, seed: int, dtype: torch.dtype | None = None) -> Tensor:
    """The initial θ of a training, on the CPU.

    Args:
        genome: The network, with its start.
        problem: What it is trained on.
        seed: Any non-negative integer.
        dtype: Precision of θ; float64 if not given.
    """
    theta = FUNCTIONS[genome.start.kind](genome, problem, seed, *genome.start.values)
    return theta.to(dtype or torch.float64)


def _paper(genome: Genome, problem: Problem, seed: int) -> Tensor:
    return Layout.of(genome, problem).initial(seed)


@torch.no_grad()
def _scaled(
    genome: Genome, problem: Problem, seed: int, spread: float, first: float, *, alike: bool
) -> Tensor:
    """The paper's weights, scaled layer by layer on points of the domain.

    With s the spread, in the first layer times `first`, neuron i of a hidden layer gets

        zᵢ ← s (zᵢ − mean zᵢ) / σ + mᵢ

    by its weights and bias. If neurons are to be alike, σ is the standard deviation of zᵢ; if not, it is
    that of the whole layer, the root of the mean of the neurons' variances, so that they stay as different as
    they were drawn. The means mᵢ are uniform in ±s, one in each of as many equal parts as there are neurons:
    drawn independently, they leave gaps with some seeds. The last layer, without bias, is scaled to a root
    mean square of `OUTPUT_RMS`.
    """
    layout = Layout.of(genome, problem)
    theta = layout.initial(seed)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_MEANS,)))
    values = layer_by_layer(genome, layout.unpack(theta), sample_inputs(problem))
    for number, (layer, z) in enumerate(zip(layout.layers, values, strict=True)):
        if number == len(layout.layers) - 1:
            factor = _ratio(OUTPUT_RMS, z.square().mean(dim=0).sqrt(), z, alike=True)
            shift = torch.zeros_like(factor)
        else:
            aim = spread * (1 if number else first)
            factor = _ratio(aim, z.std(dim=0, correction=0), z, alike)
            means = torch.as_tensor(_one_in_each_part(aim, z.shape[1], rng))
            shift = torch.nan_to_num(means - factor * z.mean(dim=0), 0.0, 0.0, 0.0)
        # The values are changed like the weights: the next layer is computed from them.
        layer.weight.of(theta).mul_(factor[:, None])
        layer.bias.of(theta).mul_(factor).add_(shift)
        z.mul_(factor).add_(shift)
    return theta


def _one_in_each_part(bound: float, count: int, rng: np.random.Generator) -> Floats:
    """Numbers in ±bound, in random order: one drawn from each of `count` equal parts."""
    return bound * (2 * (rng.permutation(count) + rng.uniform(size=count)) / count - 1)


def _ratio(aim: float, sizes: Tensor, values: Tensor, alike: bool) -> Tensor:
    """The factors that bring each size, or else their root mean square, to an aim.

    What is constant or overflowed keeps its size and does not count.
    """
    finite = values[torch.isfinite(values)]
    least = _LEAST_SPREAD * float(finite.square().mean().sqrt()) if finite.numel() else 0.0
    usable = torch.isfinite(sizes) & (sizes > least)
    common = sizes if alike else sizes[usable].square().mean().sqrt()
    return torch.where(usable, aim / common, 1.0)


def sample_inputs(problem: Problem) -> Tensor:
    """The network's inputs at points spread evenly over the domain, whatever points it is trained on."""
    try:
        points = torch.as_tensor(Sobol(interior=SAMPLE, seed=_SAMPLE_SEED).interior_points(problem.domain))
    except (DomainError, ProblemError):  # too thin to draw in
        points = problem.terms()[0].sides[0].points
    return problem.scales.inputs(points)


FUNCTIONS: Mapping[str, InitialTheta] = MappingProxyType(
    {
        "paper": _paper,
        "unit": partial(_scaled, alike=True),
        "fitted": partial(_scaled, alike=True),
        "varied": partial(_scaled, alike=False),
    }
)
"""By the names of `STARTS`."""
