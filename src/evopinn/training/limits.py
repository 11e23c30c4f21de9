"""The limits of a training: of time and evaluations, checked before each of these, and of memory."""

import os
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

from evopinn.engine import Engine, Scalar
from evopinn.errors import MemoryShortageError
from evopinn.genome import Genome
from evopinn.training.cost import Work
from evopinn.training.status import Status

T = TypeVar("T", bound=Tensor | tuple[float | Tensor, Tensor])

_COPIES = 8
"""Vectors of all parameters that every training holds: the parameters, the best ones, gradients and steps."""


def check_memory(genome: Genome, parameters: int, dtype: torch.dtype) -> None:
    """Refuse a network that no training can hold in the memory of this machine."""
    needed, present = _COPIES * parameters * dtype.itemsize, _memory()
    if needed > present:
        raise MemoryShortageError(
            f"layers={genome.structure.layers} neurons={genome.structure.neurons} is a network of "
            f"{parameters:,} parameters, whose training takes at least {needed / 1e9:,.1f} GB of memory, and "
            f"this machine has {present / 1e9:,.1f} GB; give fewer layers or neurons."
        )


def _memory() -> float:
    """The memory of this machine in bytes; infinite where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return float("inf")


class BudgetExhausted(Exception):  # noqa: N818 - not an error: the way out of a line search
    """Ends a step in its middle; caught by the training loop, never seen outside."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


class Budgeted:
    """An objective that refuses to go past a deadline or a number of evaluations.

    An epoch of L-BFGS may take some twenty evaluations, and one evaluation seconds. So the deadline is
    checked before each evaluation, and one that would end too late, going by the longest of its kind so far,
    is not begun. Whatever an optimiser asks of an objective at a point, be it loss and gradient, residuals or
    a Jacobian, is one evaluation.

    Args:
        objective: The objective.
        clock: Gives the time in seconds.
        deadline: The clock's time that must not be passed.
        evaluations: How many evaluations are allowed.
        work: What they cost, for optimisers whose steps differ.
    """

    def __init__(
        self,
        objective: Engine,
        clock: Callable[[], float],
        deadline: float = float("inf"),
        evaluations: float = float("inf"),
        work: Work | None = None,
    ) -> None:
        self.work = work or Work()
        self._objective = objective
        self._clock = clock
        self._deadline = deadline
        self._allowed = evaluations
        self._longest = defaultdict[str, float](float)
        self._latest: float | Tensor = 0.0
        self.used = 0

    @property
    def ended_finite(self) -> bool:
        """Whether the latest evaluation gave numbers."""
        return bool(torch.isfinite(torch.as_tensor(self._latest)).all())

    def loss_and_gradient(self, theta: Tensor) -> tuple[Scalar, Tensor]:
        """Loss and gradient, or `BudgetExhausted`."""
        return self._within("gradient", lambda: self._objective.loss_and_gradient(theta))

    __call__ = loss_and_gradient

    def residuals(self, theta: Tensor) -> Tensor:
        """The residuals, or `BudgetExhausted`."""
        return self._within("residuals", lambda: self._objective.residuals(theta))

    def residuals_and_jacobian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Residuals and Jacobian, or `BudgetExhausted`."""
        return self._within("jacobian", lambda: self._objective.residuals_and_jacobian(theta))

    def jacobian_product(self, theta: Tensor, direction: Tensor) -> Tensor:
        """J·v, or `BudgetExhausted`."""
        return self._within("product", lambda: self._objective.jacobian_product(theta, direction))

    def transposed_product(self, theta: Tensor, weighting: Tensor) -> Tensor:
        """Jᵀ·w, or `BudgetExhausted`."""
        return self._within("transposed", lambda: self._objective.transposed_product(theta, weighting))

    def _within(self, kind: str, evaluate: Callable[[], T]) -> T:
        if self.used >= self._allowed:
            raise BudgetExhausted(Status.STEP_BUDGET)
        began = self._clock()
        if began + self._longest[kind] > self._deadline:
            raise BudgetExhausted(Status.TIME_LIMIT)
        result = evaluate()
        self._longest[kind] = max(self._longest[kind], self._clock() - began)
        self.used += 1
        self._latest = result[0] if isinstance(result, tuple) else result
        return result
