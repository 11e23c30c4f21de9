"""How a training ended."""

import math
from enum import StrEnum


class Status(StrEnum):
    """How a training ended: a value in its result, never an exception."""

    FINISHED = "finished"
    CONVERGED = "converged"
    NOT_A_NUMBER = "not-a-number"
    OVERFLOW = "overflow"
    TIME_LIMIT = "time-limit"
    STEP_BUDGET = "step-budget"
    INTERRUPTED = "interrupted"

    @property
    def meaning(self) -> str:
        """One sentence for a person."""
        return _MEANINGS[self]

    @property
    def failed(self) -> bool:
        """Whether the loss stopped being a number, so that the result cannot be trusted."""
        return self in (Status.NOT_A_NUMBER, Status.OVERFLOW)

    @classmethod
    def of_loss(cls, loss: float) -> "Status | None":
        """The failure that a loss shows, if any."""
        if math.isnan(loss):
            return cls.NOT_A_NUMBER
        return cls.OVERFLOW if math.isinf(loss) else None


_MEANINGS = {
    Status.FINISHED: "all epochs were trained",
    Status.CONVERGED: "the optimiser's tolerances were reached: no step improves the loss any more",
    Status.NOT_A_NUMBER: "the loss became not-a-number",
    Status.OVERFLOW: "the loss overflowed",
    Status.TIME_LIMIT: "the time limit was reached",
    Status.STEP_BUDGET: "the budget of loss evaluations was used up",
    Status.INTERRUPTED: "interrupted by the user",
}
