"""The same network and losses in JAX, compiled by `jit`.

Derivatives are forward over forward: `jax.jvp` of `jax.jvp` on whole batches, one for each second derivative;
the compiler merges what they share. On Klein-Gordon's asinh(x)·cos(x) and tanh(x) networks no common way was
faster: not Hessians under `vmap`, nor forward over reverse, nor `jax.experimental.jet`. The gradient with
respect to the parameters is `jax.value_and_grad`.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from evopinn.genome import BINARY, Genome
from evopinn.lab.bench.peer_problems import equation
from evopinn.network import Layout
from evopinn.problem import Problem

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

Tensors = Mapping[str, Any]


class JaxNetwork:
    """Loss and gradient by JAX.

    Args:
        problem: One of the paper's three problems, case I.
        genome: Structure and activation.
        theta: The parameters.
    """

    def __init__(self, problem: Problem, genome: Genome, theta: Tensor) -> None:
        self.jax = load_jax()
        self.layout = Layout.of(genome, problem)
        array = self.jax.numpy.asarray
        self.tensors = {name: array(each.numpy()) for name, each in self.layout.unpack(theta).items()}
        loss = self.jax.jit(self.jax.value_and_grad(_loss(self.jax, problem, genome)))
        self.compiled = loss.lower(self.tensors).compile()
        self.gradients: Tensors = {}

    def evaluate(self) -> float:
        """The loss; its gradient is kept."""
        loss, self.gradients = self.jax.block_until_ready(self.compiled(self.tensors))
        return float(loss)

    def gradient(self) -> NDArray[np.float64]:
        """The gradient of the last evaluation."""
        return np.concatenate([np.ravel(self.gradients[slot.name]) for slot in self.layout.slots])


def load_jax() -> Any:
    """JAX in double precision, on one thread of the CPU."""
    os.environ.setdefault("XLA_FLAGS", ONE_THREAD)  # read when it first computes
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def _loss(jax: Any, problem: Problem, genome: Genome) -> Callable[[Tensors], Any]:
    xp = jax.numpy
    parts = [(part, xp.asarray(points.numpy())) for part, points in equation(problem)]

    def loss(tensors: Tensors) -> Any:
        total = 0.0
        for part, points in parts:
            derivative = _derivatives(jax, lambda x: _network(jax, genome, tensors, x), points)
            coordinates = [points[:, axis] for axis in range(points.shape[1])]
            for residual in part.residuals(xp, coordinates, derivative):
                total += part.weight * xp.mean(residual**2)
        return total

    return loss


def _derivatives(jax: Any, network: Callable[[Any], Any], points: Any) -> Callable[..., Any]:
    """Derivatives of a network's outputs on points."""

    def along(axes: Sequence[int]) -> Callable[[Any], Any]:
        if not axes:
            return network
        lower = along(axes[:-1])
        direction = jax.numpy.zeros_like(points).at[:, axes[-1]].set(1.0)
        return lambda x: jax.jvp(lower, (x,), (direction,))[1]

    fields = cache(lambda *axes: along(axes)(points))  # each once, whichever fields are taken from it

    def derivative(field: int, *axes: int) -> Any:
        return fields(*axes)[:, field]

    return derivative


def _network(jax: Any, genome: Genome, tensors: Tensors, points: Any) -> Any:
    structure = genome.structure
    starts = {end: start for start, end in structure.shortcuts}
    kept = [points]
    for layer in range(structure.layers - 1):
        z = kept[-1] @ tensors[f"layers.{layer}.weight"].T + tensors[f"layers.{layer}.bias"]
        h = genome.activation.computed(z, tensors.get(f"activations.{layer}", ()), operators(jax))
        if (start := starts.get(layer + 1)) is not None:
            carried = kept[start]
            h = h + jax.numpy.pad(carried, ((0, 0), (0, h.shape[1] - carried.shape[1])))
        kept.append(h)
    last = structure.layers - 1
    return kept[-1] @ tensors[f"layers.{last}.weight"].T + tensors[f"layers.{last}.bias"]


def operators(jax: Any) -> Mapping[str, Callable[..., Any]]:
    """The operators of an activation, as JAX has them."""
    xp, nn, special = jax.numpy, jax.nn, jax.scipy.special
    unary: dict[str, Callable[[Any], Any]] = {
        "id": lambda x: x,
        "neg": xp.negative,
        "inv": xp.reciprocal,
        "square": xp.square,
        "exp": xp.exp,
        "exp_plus_one": lambda x: xp.exp(x) + 1,
        "exp_neg_plus_one": lambda x: xp.exp(-x) + 1,
        "exp_minus_one": xp.expm1,
        "exp_sum": lambda x: 2 * xp.cosh(x),
        "exp_difference": lambda x: 2 * xp.sinh(x),
        "sin": xp.sin,
        "sinh": xp.sinh,
        "asinh": xp.arcsinh,
        "cos": xp.cos,
        "cosh": xp.cosh,
        "tanh": xp.tanh,
        "atan": xp.arctan,
        "erf": special.erf,
        "erfc": special.erfc,
        "sigmoid": nn.sigmoid,
        "softsign": nn.soft_sign,
        "swish": nn.silu,
        "softplus": nn.softplus,
        "recu": lambda x: nn.relu(x) ** 3,
    }
    return {**unary, **{name: partial(row.function, xp) for name, row in BINARY.items()}}
