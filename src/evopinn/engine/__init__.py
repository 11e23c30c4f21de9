"""Loss, gradient, residuals and Jacobian of a network on a problem.

Three engines compute the same results: nested automatic differentiation, simple and kept as the oracle;
Taylor propagation by torch operations, on any device; and Taylor propagation by kernels that are compiled for
the activation, on a CPU.
"""

from evopinn.engine.autograd import AutogradDerivatives, AutogradEngine
from evopinn.engine.choice import ENGINE_NAMES, ENGINES, make_engine
from evopinn.engine.fused.engine import FusedEngine
from evopinn.engine.plan import EvaluationPlan
from evopinn.engine.protocol import Engine, Scalar, read_numbers
from evopinn.engine.taylor import TaylorEngine

__all__ = [
    "ENGINES",
    "ENGINE_NAMES",
    "AutogradDerivatives",
    "AutogradEngine",
    "Engine",
    "EvaluationPlan",
    "FusedEngine",
    "Scalar",
    "TaylorEngine",
    "make_engine",
    "read_numbers",
]
