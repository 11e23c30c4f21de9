"""The nodes of a cluster: who is there, who can do the work, and what a person is told of it."""

from collections.abc import Callable

from evopinn.errors import RunError
from evopinn.run.cluster.messages import Demand, Node


class Roster:
    """Nodes that come and go.

    Args:
        nodes: That there are.
        demand: What a worker takes of one.
        say: Told of each that joins, leaves, or cannot do the work.
    """

    def __init__(self, nodes: tuple[Node, ...], demand: Demand, say: Callable[[str], None]) -> None:
        self._nodes = {node.id: node for node in nodes}
        self._names = {node.id: node.name for node in nodes}
        self._demand = demand
        self._say = say
        self._unfit: dict[str, str] = {}

    @property
    def slots(self) -> int:
        """How many workers there is room for."""
        return sum(node.slots(self._demand) for node in self._nodes.values() if node.id not in self._unfit)

    @property
    def unfit(self) -> tuple[str, ...]:
        """The nodes that must get no work."""
        return tuple(identity for identity in self._unfit if identity in self._nodes)

    def name(self, identity: str | None) -> str:
        """A node's name, also if it has left."""
        return self._names.get(identity or "", "a node")

    def update(self, nodes: tuple[Node, ...]) -> None:
        """Take in which nodes there are now."""
        now = {node.id: node for node in nodes}
        joined = [node for node in nodes if node.id not in self._nodes]
        left = [node for node in self._nodes.values() if node.id not in now]
        self._nodes = now
        self._names |= {node.id: node.name for node in nodes}
        for node in joined:
            self._say(f"note: node {node.name} has joined; {self._room()}.")
        for node in left:
            self._say(f"note: node {node.name} has left; {self._room()}.")

    def miss(self, identity: str | None, jobs: int) -> None:
        """Tell what was lost with a node."""
        trainings = "1 training is" if jobs == 1 else f"{jobs} trainings are"
        self._say(
            f"note: node {self.name(identity)} was lost in the middle; {trainings} run again elsewhere."
        )

    def exclude(self, identity: str, reason: str) -> None:
        """Give a node no more work.

        Raises:
            RunError: It was the last one.
        """
        if not identity:  # it failed before it could tell where
            raise RunError(f"a node of the cluster cannot do the work: {reason}")
        if identity in self._unfit:
            return
        self._unfit[identity] = reason
        if self._nodes and not self.slots:
            reasons = "; ".join(f"{self.name(each)}: {why}" for each, why in self._unfit.items())
            raise RunError(f"no node of the cluster can do the work. {reasons}")
        self._say(f"note: node {self.name(identity)} gets no work: {reason}")

    def _room(self) -> str:
        slots = self.slots
        if not slots:
            return "there is no room for a worker any more, and the search waits until a node joins"
        return f"there is room for {slots} worker{'s' * (slots != 1)} now"
