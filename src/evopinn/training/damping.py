"""The damping rules of Levenberg-Marquardt: the choice of λ, and the acceptance of trials."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from evopinn.training.optimiser import require_positive


class DampingRule(Protocol):
    """A rule for λ and the scale s in the damping λ·Σ sᵢ·vᵢ² of a step v."""

    @property
    def trials(self) -> int:
        """The maximum number of λ that a step tries."""
        ...

    def scale(self, diagonal: Tensor) -> Tensor:
        """The scale s, from the diagonal of JᵀJ."""
        ...

    def accepts(self, loss: float, before: float) -> bool:
        """Whether a trial becomes the step."""
        ...

    def raised(self, damping: float) -> float:
        """The λ after one whose trial was refused."""
        ...

    def lowered(self, damping: float) -> float:
        """The λ that the next step tries first, after one that led to a step."""
        ...


@dataclass(frozen=True)
class SmallDamping:
    """A small λ among those that lower the loss: each step starts far below the last λ and raises it.

    The scale s lies half-way between Levenberg's (all alike) and Marquardt's (the diagonal d of JᵀJ), neither
    of which is good for all problems: sᵢ = sqrt(dᵢ · mean d). With `rise` and `fall` of 1, λ is constant.

    Attributes:
        trials: The maximum number of dampings that a step tries.
        rise: λ is multiplied by this after a trial that was refused.
        fall: λ is divided by this after a step.
        least: The least λ: what is below is lost in the rounding of JᵀJ.
        least_scale: The least s, in units of the mean of d.
    """

    trials: int = 24
    rise: float = 5.0
    fall: float = 25.0
    least: float = 1e-16
    least_scale: float = 1e-8

    def __post_init__(self) -> None:
        require_positive(self, "trials", "rise", "fall", "least", "least_scale")

    def scale(self, diagonal: Tensor) -> Tensor:
        """The scale s; never zero, though the step in a parameter is zero if no residual depends on it."""
        mean = diagonal.mean()
        return (diagonal * mean).sqrt().clamp_min(self.least_scale * mean)

    def accepts(self, loss: float, before: float) -> bool:
        """Whether the loss has fallen."""
        return loss < before

    def raised(self, damping: float) -> float:
        """The λ after one whose trial was refused."""
        return damping * self.rise

    def lowered(self, damping: float) -> float:
        """The λ that the next step tries first."""
        return max(damping / self.fall, self.least)
