"""The size of the residual on the training points, and on held-out points."""

from torch import Tensor

from evopinn.engine import Engine, TaylorEngine
from evopinn.errors import EvopinnError
from evopinn.genome import Genome
from evopinn.problem import Problem


def residual_sizes(problem: Problem, genome: Genome, engine: Engine, theta: Tensor) -> dict[str, float]:
    """The root mean square of the PDE's residual, summed over its components.

    Args:
        problem: The problem.
        genome: The network's.
        engine: That of the training.
        theta: Its parameters.

    Returns:
        On the training points, as `training`, and on as many held-out points, as `held_out`, if there are
        any.
    """
    equation = problem.terms()[0]
    rows = engine.residuals(theta)[: equation.components * equation.count]
    sizes = {"training": _norm(rows)}  # rows are scaled so that their squares sum to means
    if problem.held_out is not None:
        try:
            others = TaylorEngine(problem.held_out, genome, theta.dtype, theta.device).residuals(theta)
        except EvopinnError:  # a residual that cannot be computed there says nothing of the training
            return sizes
        sizes["held_out"] = _norm(others)
    return sizes


def _norm(rows: Tensor) -> float:
    return float(rows @ rows) ** 0.5
