"""A line search for the strong Wolfe conditions.

Along φ(t) = loss(θ + t·d) it looks for a step t with

    φ(t) ≤ φ(0) + c₁ t φ'(0)    and    |φ'(t)| ≤ c₂ |φ'(0)|,

first by stretching the step until a minimum is bracketed, then by shrinking the bracket, both with cubic
interpolation (Nocedal & Wright, Numerical Optimization, algorithms 3.5 and 3.6). The constants and safeguards
are those of torch's L-BFGS, which the paper's experiments used: the iterates are the same to rounding.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

SUFFICIENT_DECREASE = 1e-4
CURVATURE = 0.9
MAX_TRIALS = 25
SMALLEST_BRACKET = 1e-9


@dataclass(frozen=True, eq=False)
class LinePoint:
    """A point on the line.

    Attributes:
        step: t.
        loss: φ(t).
        slope: φ'(t).
        gradient: The full gradient there.
        others: Further numbers that were read together with these.
    """

    step: float
    loss: float
    slope: float
    gradient: Tensor
    others: tuple[float, ...] = ()

    @property
    def finite(self) -> bool:
        """Whether loss and slope are numbers."""
        return math.isfinite(self.loss) and math.isfinite(self.slope)


Line = Callable[[float], LinePoint]


def strong_wolfe(line: Line, start: LinePoint, step: float, length: float) -> LinePoint:
    """Find a step that meets the strong Wolfe conditions.

    Args:
        line: Evaluates φ and φ' at a step.
        start: The trial at t = 0; its slope is negative.
        step: The first step to try.
        length: The largest component of the direction d, so that `length`·t measures a change of θ.

    Returns:
        The trial that meets the conditions, or the best one after `MAX_TRIALS` evaluations.
    """

    def falls_short(trial: LinePoint) -> bool:
        return not trial.finite or trial.loss > start.loss + SUFFICIENT_DECREASE * trial.step * start.slope

    def is_flat(trial: LinePoint) -> bool:
        return abs(trial.slope) <= -CURVATURE * start.slope

    previous, trial = start, line(step)
    trials = 1
    while True:
        if falls_short(trial) or (trials > 2 and trial.loss >= previous.loss):
            break
        if is_flat(trial):
            return trial
        if trial.slope >= 0:
            break
        if trials > MAX_TRIALS:
            previous = start
            break
        bounds = (trial.step + 0.01 * (trial.step - previous.step), 10 * trial.step)
        previous, trial = trial, line(cubic_minimum(previous, trial, bounds))
        trials += 1
    return _zoom(line, (previous, trial), trials, length, falls_short, is_flat)


def _zoom(
    line: Line,
    bracket: tuple[LinePoint, LinePoint],
    trials: int,
    length: float,
    falls_short: Callable[[LinePoint], bool],
    is_flat: Callable[[LinePoint], bool],
) -> LinePoint:
    """Shrink a bracket that holds an acceptable step."""
    low, high = _ordered(*bracket)
    stalled = False
    while trials <= MAX_TRIALS:
        left, right = sorted((low.step, high.step))
        if (right - left) * length < SMALLEST_BRACKET:
            break
        step, stalled = _inner_step(low, high, stalled)
        trial = line(step)
        trials += 1
        if falls_short(trial) or trial.loss >= low.loss:
            low, high = _ordered(low, trial)
        elif is_flat(trial):
            return trial
        elif trial.slope * (high.step - low.step) >= 0:
            low, high = trial, low
        else:
            low = trial
    return low


def _ordered(one: LinePoint, other: LinePoint) -> tuple[LinePoint, LinePoint]:
    """The better trial first; one that is not finite is never the better."""
    return (one, other) if not other.finite or one.loss <= other.loss else (other, one)


def _inner_step(low: LinePoint, high: LinePoint, stalled: bool) -> tuple[float, bool]:
    """A step inside the bracket, and whether it lies close to an end.

    Twice in a row close to an end means that the interpolation makes no progress: then the step is moved a
    tenth of the bracket away from it.
    """
    left, right = sorted((low.step, high.step))
    step = cubic_minimum(low, high, (left, right))
    margin = 0.1 * (right - left)
    if min(right - step, step - left) >= margin:
        return step, False
    if stalled or step >= right or step <= left:
        return (right - margin if right - step < step - left else left + margin), False
    return step, True


def cubic_minimum(one: LinePoint, other: LinePoint, bounds: tuple[float, float]) -> float:
    """The minimum of the cubic through two trials and their slopes, within bounds.

    If there is none, or a number is too large, it is the middle of the bounds.
    """
    middle = (bounds[0] + bounds[1]) / 2
    if not (one.finite and other.finite):
        return middle
    first, second = (one, other) if one.step <= other.step else (other, one)
    gap = second.step - first.step
    chord = first.slope + second.slope - 3 * (first.loss - second.loss) / (first.step - second.step)
    discriminant = chord * chord - first.slope * second.slope  # chord**2 would raise where this is infinite
    if not 0 <= discriminant < math.inf:
        return middle
    root = math.sqrt(discriminant)
    denominator = second.slope - first.slope + 2 * root
    if denominator == 0:
        return middle
    step = second.step - gap * ((second.slope + root - chord) / denominator)
    return min(max(step, bounds[0]), bounds[1])
