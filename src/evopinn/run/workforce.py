"""What a driver needs of whatever trains: local processes, a cluster, or a simulation."""

from typing import Protocol

from evopinn.run.ended import Ended


class Workforce(Protocol):
    """Does jobs in any order and says how they ended."""

    @property
    def outstanding(self) -> int:
        """How many jobs were submitted and are not over yet."""
        ...

    @property
    def room(self) -> int:
        """How many more jobs it is well to submit now, so that no worker has to wait for one."""
        ...

    def submit(
        self, number: int, payload: object, deadline_seconds: float, expected_seconds: float | None = None
    ) -> None:
        """Have a job done, which will take about so many seconds as far as that is known."""
        ...

    def wait(self, timeout: float) -> list[Ended]:
        """The attempts that ended, waiting for at most some seconds until there is one."""
        ...
