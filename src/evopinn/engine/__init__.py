"""Loss, gradient, residuals and Jacobian of a network on a problem.

Three engines compute the same: nested automatic differentiation, simple and kept as the oracle; Taylor
propagation by torch operations, on any device; and Taylor propagation by kernels that are compiled for the
activation, on a CPU.
"""

from evopinn.engine.autograd import AutogradEngine, NestedDerivatives
from evopinn.engine.choice import ENGINE_NAMES, ENGINES, Engine, make_engine
from evopinn.engine.fused.engine import FusedEngine
from evopinn.engine.plan import Plan
from evopinn.engine.reading import Number, fetched
from evopinn.engine.taylor import TaylorEngine

__all__ = [
    "ENGINES",
    "ENGINE_NAMES",
    "AutogradEngine",
    "Engine",
    "FusedEngine",
    "NestedDerivatives",
    "Number",
    "Plan",
    "TaylorEngine",
    "fetched",
    "make_engine",
]
