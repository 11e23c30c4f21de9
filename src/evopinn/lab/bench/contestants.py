"""The contestants: peers and this package's engines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evopinn.engine import ENGINES, Engine
from evopinn.genome import Genome
from evopinn.lab.bench.deepxde_model import DeepXDEModel, load_deepxde
from evopinn.lab.bench.jax_network import JaxNetwork, load_jax
from evopinn.lab.bench.nested_autograd import NestedAutograd
from evopinn.network import initial_theta
from evopinn.problem import Problem


class Contestant(Protocol):
    """A way to compute a loss and its gradient at given parameters."""

    def evaluate(self) -> float:
        """Compute both, and return the loss."""
        ...

    def gradient(self) -> NDArray[np.float64]:
        """The gradient of the last evaluation."""
        ...


@dataclass(frozen=True)
class Peer:
    """Another library that computes the same.

    Attributes:
        make: Makes the contestant.
        library: The package that it needs, if any.
        load: Imports the library, so that the import does not count as work.
    """

    make: Callable[[Problem, Genome, Tensor], Contestant]
    library: str | None = None
    load: Callable[[], object] | None = None


BASELINE = "nested autograd"

PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        BASELINE: Peer(NestedAutograd),
        "DeepXDE": Peer(DeepXDEModel, library="deepxde", load=load_deepxde),
        "JAX jit": Peer(JaxNetwork, library="jax", load=load_jax),
    }
)
"""By name; all others are compared with the first."""

COMPILED = frozenset({"JAX jit", "fused"})
"""Contestants that compile before they compute."""


class EngineContestant:
    """One of this package's engines."""

    def __init__(self, engine: Engine, theta: Tensor) -> None:
        self.engine = engine
        self.theta = theta
        self.last = torch.zeros_like(theta)

    def evaluate(self) -> float:
        """Compute loss and gradient, and return the loss."""
        loss, self.last = self.engine.loss_and_gradient(self.theta)
        return float(loss)

    def gradient(self) -> NDArray[np.float64]:
        """The gradient of the last evaluation."""
        return self.last.numpy().astype(np.float64)


def fast_engines() -> tuple[str, ...]:
    """The engines that are more than a reference."""
    return tuple(name for name in ENGINES if name != "autograd")


def contestants() -> tuple[str, ...]:
    """The names of all, the baseline first."""
    return (*PEERS, *ENGINES)


def is_installed(contestant: str) -> bool:
    """Whether the library of a contestant is installed."""
    library = PEERS[contestant].library if contestant in PEERS else None
    return library is None or find_spec(library) is not None


def load_contestant(name: str) -> None:
    """Import the library of a contestant."""
    load = PEERS[name].load if name in PEERS else None
    if load is not None:
        load()


def make_contestant(name: str, problem: Problem, genome: Genome, precision: str = "float64") -> Contestant:
    """A contestant with a network at its start; peers know float64 only."""
    dtype = getattr(torch, precision)
    theta = initial_theta(genome, problem, 0, dtype)
    if name in PEERS:
        return PEERS[name].make(problem, genome, theta)
    return EngineContestant(ENGINES[name](problem, genome, dtype, "cpu"), theta)
