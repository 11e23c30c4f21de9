"""Limits on a training, checked before each evaluation of the loss."""

from collections.abc import Callable

from torch import Tensor

from evopinn.training.optimizer import Objective
from evopinn.training.status import Status


class BudgetExhausted(Exception):  # noqa: N818 - not an error: the way out of a line search
    """Ends a step in its middle; caught by the training loop, never seen outside."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


class Budgeted:
    """An objective that refuses to go past a deadline or a number of evaluations.

    An epoch of L-BFGS may take some twenty evaluations, and one evaluation seconds. So the deadline is
    checked before each evaluation, and one that would end too late, going by the longest so far, is not
    begun.

    Args:
        objective: From θ to loss and gradient.
        clock: Gives the time in seconds.
        deadline: The clock's time that must not be passed.
        evaluations: How many evaluations are allowed.
    """

    def __init__(
        self,
        objective: Objective,
        clock: Callable[[], float],
        deadline: float = float("inf"),
        evaluations: float = float("inf"),
    ) -> None:
        self._objective = objective
        self._clock = clock
        self._deadline = deadline
        self._allowed = evaluations
        self._longest = 0.0
        self.used = 0

    def __call__(self, theta: Tensor) -> tuple[float, Tensor]:
        """Loss and gradient, or `BudgetExhausted`."""
        if self.used >= self._allowed:
            raise BudgetExhausted(Status.STEP_BUDGET)
        began = self._clock()
        if began + self._longest > self._deadline:
            raise BudgetExhausted(Status.TIME_LIMIT)
        result = self._objective(theta)
        self._longest = max(self._longest, self._clock() - began)
        self.used += 1
        return result
