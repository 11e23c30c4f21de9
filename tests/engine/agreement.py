"""When an engine's loss and gradient count as equal to the oracle's.

They must agree to a tolerance relative in norm. A genome can be so ill-conditioned, cos(exp(x)) for instance
where x is large, that the oracle's own result is not that exact: then altering θ in its last bit alters the
result by more than the tolerance. There, an engine may differ by twice the largest change that four such
alterations make, which is to say that its result is the oracle's at a θ that is the same to rounding. If even
the first digit changes, the two are compared at a smaller θ instead.
"""

import math

import torch

from evopinn.engine import AutogradEngine

TOLERANCE = 1e-10
ALTERATIONS = 4
NO_DIGIT = 0.1
SHRUNK = (1.0, 0.5, 0.25, 0.125)


def finite(loss, gradient):
    return math.isfinite(loss) and bool(torch.isfinite(gradient).all())


def difference(found, expected):
    """The larger of the relative differences of loss and gradient; norms of huge numbers do not overflow."""
    (loss, gradient), (other_loss, other) = found, expected
    scale = other.abs().max()
    in_norm = ((gradient - other) / scale).norm() / (other / scale).norm() if scale else gradient.norm()
    return max(abs(loss - other_loss) / abs(other_loss), float(in_norm))


def sensitivity(oracle: AutogradEngine, theta, expected):
    """The largest change of the oracle's result when θ is altered in its last bit."""
    generator = torch.Generator().manual_seed(0)
    largest = 0.0
    for _ in range(ALTERATIONS):
        signs = torch.sign(torch.rand(len(theta), generator=generator, dtype=theta.dtype) - 0.5)
        altered = oracle.loss_and_gradient(theta * (1 + signs * torch.finfo(theta.dtype).eps))
        largest = max(largest, difference(altered, expected))
    return largest


def disagreement(engine, oracle: AutogradEngine, theta) -> str:
    """What is wrong with an engine's results; nothing, if they are as they should be."""
    for shrunk in SHRUNK:
        verdict = _verdict(engine, oracle, theta * shrunk)
        if verdict is not None:
            return verdict
    return "the oracle has no correct digit, however small θ"


def _verdict(engine, oracle, theta):
    found, expected = engine.loss_and_gradient(theta), oracle.loss_and_gradient(theta)
    if not finite(*expected) or not finite(*found):
        same = finite(*expected) == finite(*found)
        return "" if same else f"loss {found[0]}, but the oracle's is {expected[0]}"
    apart = difference(found, expected)
    if apart <= TOLERANCE:
        return ""
    rounding = sensitivity(oracle, theta, expected)
    if rounding > NO_DIGIT:
        return None
    return "" if apart <= 2 * rounding else f"{apart:.1e} apart, where {2 * rounding:.1e} would be rounding"
