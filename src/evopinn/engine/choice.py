"""The engines by name, and the choice of one by default.

The choice depends on the planned evaluations alone, never on a clock or on earlier compilations: engines
differ in the last digits of their results, and the same training must give the same result again.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch

from evopinn.engine.autograd import AutogradEngine
from evopinn.engine.fused.engine import FusedEngine
from evopinn.engine.fused.vectors import DTYPES
from evopinn.engine.protocol import Engine
from evopinn.engine.taylor import TaylorEngine
from evopinn.errors import UnknownNameError
from evopinn.genome import Genome
from evopinn.problem import Problem

BREAK_EVEN = 1e7
"""Elements (points times neurons times layers) over all evaluations from which kernels repay their
compilation: they save 20 to 40 ns an element, and compiling those of a problem takes 0.1 to 0.3 s."""


EngineMaker = Callable[[Problem, Genome, torch.dtype, str], Engine]

ENGINES: Mapping[str, EngineMaker] = MappingProxyType(
    {"autograd": AutogradEngine, "taylor": TaylorEngine, "fused": FusedEngine}
)
"""The engines by name."""

ENGINE_NAMES = ("auto", *ENGINES)
"""The names by which a user can ask for an engine."""


def make_engine(
    name: str,
    problem: Problem,
    genome: Genome,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    evaluations: float = math.inf,
) -> Engine:
    """The engine of a name or, for "auto", the one that suits best.

    Args:
        name: One of `ENGINE_NAMES`.
        problem: The problem.
        genome: Structure and activation of the network.
        dtype: Precision of the computation.
        device: The device of the computation.
        evaluations: The planned number of evaluations of loss and gradient.
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
    return "fused" if possible and elements * evaluations >= BREAK_EVEN else "taylor"
