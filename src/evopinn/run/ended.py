"""How a job given to workers came out."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FailureKind(StrEnum):
    """What kept a job from returning."""

    CRASHED = "crashed"
    DEADLINE = "deadline"
    MEMORY = "memory"
    GARBAGE = "garbage"
    RAISED = "raised"

    @property
    def meaning(self) -> str:
        """One sentence for a person."""
        return _MEANINGS[self]


_MEANINGS = {
    FailureKind.CRASHED: "the worker process ended in the middle",
    FailureKind.DEADLINE: "the worker was killed because the job took longer than allowed",
    FailureKind.MEMORY: "the worker was ended because it used more memory than allowed",
    FailureKind.GARBAGE: "what the worker sent back could not be read or made no sense",
    FailureKind.RAISED: "the job raised an exception",
}


@dataclass(frozen=True)
class Failure:
    """Why an attempt failed.

    Attributes:
        kind: What happened.
        detail: For a person: exit code or signal, limits, the exception, the last lines the worker printed.
    """

    kind: FailureKind
    detail: str


@dataclass(frozen=True)
class Ended:
    """One attempt at a job that is over.

    Attributes:
        number: The job's number.
        attempt: Which attempt this was, from 1.
        worker: Serial number of the process, from 1; a replacement has a new one.
        seconds: From handing over the payload to the end.
        value: What the job returned, if it did not fail.
        failure: Why it failed, if it did.
        retried: Whether the job will be tried again; if so, it is not over yet and will be reported again.
    """

    number: int
    attempt: int
    worker: int
    seconds: float
    value: Any = None
    failure: Failure | None = None
    retried: bool = False

    @property
    def poison(self) -> bool:
        """Whether the job was given up because it cost too many workers their lives."""
        return self.failure is not None and not self.retried and self.failure.kind is not FailureKind.RAISED
