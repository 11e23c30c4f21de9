"""A job on its way through the workers."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Job:
    """A job that is not over.

    Attributes:
        number: By which it is reported.
        payload: What is to be done.
        packed: The message that hands it to a worker.
        seconds: How long one attempt may take.
        attempts: How often it was handed to a worker.
    """

    number: int
    payload: Any
    packed: bytes
    seconds: float
    attempts: int = 0


@dataclass(frozen=True)
class Running:
    """An attempt that a worker is at, and when it began."""

    job: Job
    since: float

    @property
    def until(self) -> float:
        """Its deadline."""
        return self.since + self.job.seconds
