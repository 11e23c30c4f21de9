"""How a training ended."""

from enum import StrEnum


class Status(StrEnum):
    """How a training ended: a value in its result, never an exception."""

    FINISHED = "finished"
    CONVERGED = "converged"
    NOT_FINITE = "not-finite"
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
        return self is Status.NOT_FINITE


_MEANINGS = {
    Status.FINISHED: "all epochs were trained",
    Status.CONVERGED: "the optimiser's tolerances were reached: no step improves the loss any more",
    Status.NOT_FINITE: "the loss or its gradient overflowed or became not-a-number",
    Status.TIME_LIMIT: "the time limit was reached",
    Status.STEP_BUDGET: "the budget of loss evaluations was used up",
    Status.INTERRUPTED: "interrupted by the user",
}
