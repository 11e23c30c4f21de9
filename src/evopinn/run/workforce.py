"""What a driver needs of whatever trains: local processes, a cluster, or a simulation."""

from typing import Protocol

from evopinn.run.ended import Ended


class Workforce(Protocol):
    """Does jobs in any order and says how they ended."""

    @property
    def outstanding(self) -> int:
        """How many jobs were submitted and are not over yet."""
        ...

    def submit(self, number: int, payload: object, deadline_seconds: float) -> None:
        """Have a job done."""
        ...

    def wait(self, timeout: float) -> list[Ended]:
        """The attempts that ended, waiting for at most some seconds until there is one."""
        ...
