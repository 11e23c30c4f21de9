"""The statuses of trainings, of attempts at them and of tasks."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Status(StrEnum):
    """The ending of a training: a value in its result or in a run's record, never an exception.

    Attributes:
        meaning: One sentence for a person.
    """

    _value_: str
    meaning: str

    FINISHED = "finished", "all epochs were trained"
    CONVERGED = (
        "converged",
        "the optimiser's tolerances were reached: no step improves the loss any more",
    )
    NOT_FINITE = "not-finite", "the loss or its gradient overflowed or became not-a-number"
    TIME_LIMIT = "time-limit", "the time limit was reached"
    STEP_BUDGET = "step-budget", "the budget of loss evaluations was used up"
    INTERRUPTED = "interrupted", "interrupted by the user"

    # Of attempts in a worker that gave no result.
    CRASHED = "crashed", "the worker process died during the job"
    DEADLINE = "deadline", "the worker was killed because the job took longer than allowed"
    MEMORY = "memory", "the worker was ended because it used more memory than allowed"
    GARBAGE = "garbage", "what the worker sent back could not be read or made no sense"
    RAISED = "raised", "the job raised an exception"

    # Of tasks that were not trained.
    TOO_COSTLY = "too-costly", "not started: the predicted cost per epoch is too high"
    POISON = "poison", "it killed three workers"

    def __new__(cls, value: str, meaning: str) -> "Status":
        """A status that is equal to its text."""
        status = str.__new__(cls, value)
        status._value_ = value
        status.meaning = meaning
        return status

    @property
    def has_result(self) -> bool:
        """Whether a training that ends like this returns a result."""
        return self in _WITH_RESULT

    @property
    def failed(self) -> bool:
        """Whether the loss stopped being a number or there is none, so that the result cannot be trusted."""
        return self is Status.NOT_FINITE or not self.has_result


_WITH_RESULT = frozenset(
    {
        Status.FINISHED,
        Status.CONVERGED,
        Status.NOT_FINITE,
        Status.TIME_LIMIT,
        Status.STEP_BUDGET,
        Status.INTERRUPTED,
    }
)

MEANINGS: Mapping[str, str] = MappingProxyType({status.value: status.meaning for status in Status})
"""One sentence for a person, by a status as it is recorded."""
