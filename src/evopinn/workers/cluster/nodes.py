"""The nodes of a cluster: those present, those that can run trainings, and notes about changes."""

import time
from collections.abc import Callable
from typing import Any

from evopinn.errors import RunError
from evopinn.workers.cluster import ray_task as task
from evopinn.workers.cluster.messages import (
    AttemptEnded,
    BatchEnded,
    BatchStarted,
    BrokerLink,
    ClusterNode,
    JobAttempt,
    JobBatch,
    NodesChanged,
    NodeUnfit,
    PollRequest,
    PrepareRequest,
    WorkerResources,
)

_PATIENCE = 1.0


class NodeRegistry:
    """The nodes of a search, which may join and leave.

    Args:
        nodes: At the beginning.
        demand: What a worker needs of a node.
        say: Receives a sentence about each node that joins, leaves, or cannot run trainings.
    """

    def __init__(
        self, nodes: tuple[ClusterNode, ...], demand: WorkerResources, say: Callable[[str], None]
    ) -> None:
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
        """The nodes that must not get work."""
        return tuple(identity for identity in self._unfit if identity in self._nodes)

    def name(self, identity: str | None) -> str:
        """A node's name, also if it has left."""
        return self._names.get(identity or "", "a node")

    def update(self, nodes: tuple[ClusterNode, ...]) -> None:
        """Replace the nodes by those that there are now."""
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
        """Report how many jobs were lost with a node."""
        trainings = "1 training is" if jobs == 1 else f"{jobs} trainings are"
        self._say(f"note: node {self.name(identity)} was lost; {trainings} repeated elsewhere.")

    def exclude(self, identity: str, reason: str) -> None:
        """Give a node no more work.

        Raises:
            RunError: It was the last one.
        """
        if not identity:  # it failed before it could say where
            raise RunError(f"a node of the cluster cannot run trainings: {reason}")
        if identity in self._unfit:
            return
        self._unfit[identity] = reason
        if self._nodes and not self.slots:
            reasons = "; ".join(f"{self.name(each)}: {why}" for each, why in self._unfit.items())
            raise RunError(f"no node of the cluster can run trainings. {reasons}")
        self._say(f"note: node {self.name(identity)} gets no work: {reason}")

    def _room(self) -> str:
        slots = self.slots
        if not slots:
            return "no room for a worker is left, and the search waits until a node joins"
        return f"there is room for {slots} worker{'s' * (slots != 1)} now"


def inspect(
    link: BrokerLink,
    nodes: list[ClusterNode],
    expected: dict[str, str],
    seconds: float,
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> tuple[ClusterNode, ...] | None:
    """Start a worker on each node, and refuse nodes that cannot run trainings.

    A node that is too busy to answer in time is checked later, because each task begins by checking its node.

    Args:
        link: A broker that is prepared.
        nodes: The nodes to check.
        expected: The versions on this machine, by name.
        seconds: How long a worker may take to be ready.
        say: Receives differences that affect only the last digits of results.
        clock: Seconds that never go back.

    Returns:
        All nodes that there are now, if some have joined or left meanwhile.
    """
    present: tuple[ClusterNode, ...] | None = None
    left = dict(enumerate(nodes))
    ready = JobAttempt(-1, b"", seconds)
    launch = tuple(JobBatch(-1 - serial, (ready,), node=node.id) for serial, node in left.items())
    reasons: list[str] = []
    until = clock() + seconds
    while left and clock() < until:
        events = ask_and_wait(link, PollRequest(launch, (), _PATIENCE))
        launch = ()
        for event in events:
            if isinstance(event, NodesChanged):
                present = event.nodes
                continue
            if -1 - event.batch not in left:
                continue
            node = left[-1 - event.batch]
            match event:
                case BatchStarted():
                    _tell_differences(node, event.facts, expected, say)
                case NodeUnfit():
                    reasons.append(f"{node.name}: {event.reason}")
                case AttemptEnded(failure=failure) if failure is not None:
                    reasons.append(f"{node.name}: {failure.detail}")
                case BatchEnded():
                    del left[-1 - event.batch]
                case _:
                    pass
    if left:
        ask_and_wait(link, PollRequest((), tuple(-1 - serial for serial in left), 0.0))
        names = ", ".join(node.name for node in left.values())
        say(f"note: {names} did not answer within {seconds:g} s; each is checked again before it gets work.")
    if reasons:
        raise RunError(
            f"the cluster cannot run trainings. On {'; on '.join(reasons)}. Fix that, or remove the node "
            "from the cluster."
        )
    return present


def _tell_differences(
    node: ClusterNode, found: dict[str, str], expected: dict[str, str], say: Callable[[str], None]
) -> None:
    other = [
        f"{name} is {found[name]}, not {expected[name]}"
        for name in expected
        if name not in task.SAME and found[name] not in (expected[name], task.MISSING)
    ]
    if other:
        say(f"note: on {node.name} {', '.join(other)}; results may differ in their last digits.")


def present_nodes(link: BrokerLink) -> tuple[ClusterNode, ...]:
    """The nodes that there are now."""
    for event in ask_and_wait(link, PollRequest((), (), 0.0)):
        if isinstance(event, NodesChanged):
            return event.nodes
    raise RunError("the Ray cluster reports no nodes; check it with `ray status`.")


def ask_and_wait(link: BrokerLink, request: PrepareRequest | PollRequest) -> list[Any]:
    """Send a request and wait for the answer."""
    link.ask(request)
    while (events := link.answer(_PATIENCE)) is None:
        pass
    return events


def room_for(nodes: tuple[ClusterNode, ...], demand: WorkerResources) -> int:
    """How many workers there is room for.

    Raises:
        RunError: There is none.
    """
    room = sum(node.slots(demand) for node in nodes)
    if room:
        return room
    gpus = f" and {demand.gpus:g} GPU" if demand.gpus else ""
    listed = "; ".join(f"{node.name}: {node.cpus:g} CPU, {node.gpus:g} GPU" for node in nodes)
    raise RunError(
        f"no node of the cluster has room for a worker that needs {demand.cpus:g} CPU{gpus} ({listed}); ask "
        "for less with --cpus-per-worker and --gpus-per-worker, or start nodes that have more."
    )
