"""The engines by name, and which one is taken where none is named.

The choice goes by what is planned, never by a clock or by what was compiled before: engines differ in the
last digits of their results, and the same training must give the same result again.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

import torch
from torch import Tensor

from evopinn.engine.autograd import AutogradEngine
from evopinn.engine.fused.engine import FusedEngine
from evopinn.engine.fused.layer import DTYPES
from evopinn.engine.reading import Number
from evopinn.engine.taylor import TaylorEngine
from evopinn.errors import UnknownNameError
from evopinn.genome import Genome
from evopinn.network import Layout
from evopinn.problem import Problem

REPAID = 1e7
"""Elements (points times neurons times layers) over all evaluations from which kernels repay their
compilation: they save 20 to 40 ns an element, and to compile those of a problem takes 0.1 to 0.3 s."""


class Engine(Protocol):
    """What training needs of an engine; it serves one thread at a time.

    Residuals are scaled so that the loss is the sum of their squares.
    """

    name: str
    layout: Layout

    def loss_and_gradient(self, theta: Tensor) -> tuple[Number, Tensor]:
        """The loss and its gradient with respect to θ."""
        ...

    def residuals(self, theta: Tensor) -> Tensor:
        """All residuals r, shape (residuals,)."""
        ...

    def residuals_and_jacobian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The residuals r and J = ∂r/∂θ, shapes (residuals,) and (residuals, parameters)."""
        ...

    def jacobian_product(self, theta: Tensor, direction: Tensor) -> Tensor:
        """J·v for a direction v in θ, shape (residuals,)."""
        ...

    def transposed_product(self, theta: Tensor, weighting: Tensor) -> Tensor:
        """Jᵀ·w for a weighting w of the residuals, shape (parameters,)."""
        ...


EngineMaker = Callable[[Problem, Genome, torch.dtype, str], Engine]

ENGINES: Mapping[str, EngineMaker] = MappingProxyType(
    {"autograd": AutogradEngine, "taylor": TaylorEngine, "fused": FusedEngine}
)
"""The engines by name."""

ENGINE_NAMES = ("auto", *ENGINES)
"""What an engine may be asked for by."""


def make_engine(
    name: str,
    problem: Problem,
    genome: Genome,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    evaluations: float = math.inf,
) -> Engine:
    """The engine of a name, or for "auto" the one that fits.

    Args:
        name: One of `ENGINE_NAMES`.
        problem: The problem.
        genome: Structure and activation of the network.
        dtype: Precision of the computation.
        device: Where it runs.
        evaluations: How many evaluations of loss and gradient are planned.
    """
    if name not in ENGINE_NAMES:
        raise UnknownNameError("engine", name, ENGINE_NAMES)
    if name == "auto":
        name = _fitting(problem, genome, dtype, device, evaluations)
    return ENGINES[name](problem, genome, dtype, device)


def _fitting(problem: Problem, genome: Genome, dtype: torch.dtype, device: str, evaluations: float) -> str:
    """Kernels where they can run and repay their compilation, torch operations elsewhere."""
    points = sum(term.count for term in problem.terms())
    elements = points * genome.structure.neurons * (genome.structure.layers - 1)
    possible = torch.device(device).type == "cpu" and dtype in DTYPES
    return "fused" if possible and elements * evaluations >= REPAID else "taylor"
