"""A cluster that a search runs on: connected, looked over, and ready to train on its problem."""

import pickle
import time
from collections.abc import Callable
from typing import Any

from evopinn.errors import RunError
from evopinn.run.closing import Closing
from evopinn.run.cluster import task
from evopinn.run.cluster.connection import Connection
from evopinn.run.cluster.messages import (
    Batch,
    Began,
    Demand,
    Done,
    Node,
    Order,
    Over,
    Poll,
    Prepare,
    Present,
    Setup,
    Unfit,
)
from evopinn.run.cluster.workers import ClusterWorkers, Link

LOCAL = "local"
"""In the place of an address: no cluster."""

_PATIENCE = 1.0


class Cluster(Closing):
    """A cluster, connected to.

    Args:
        address: `host:port`, or `auto` for the one that RAY_ADDRESS names or that runs here.
        demand: What one worker takes of a node.
        count: How many workers to use at most; all that there is room for if not given.
        say: Told what a person should know.
    """

    def __init__(self, address: str, demand: Demand, count: int | None, say: Callable[[str], None]) -> None:
        self._say = say
        self._demand = demand
        self._link = Connection(address)
        try:
            self._nodes = _present(self._link)
            room = _room(self._nodes, demand)
        except BaseException:  # Ctrl-C too must leave nothing half done
            self.close()
            raise
        self._asked = room if count is None else count
        self.count = min(self._asked, room)
        nodes = "1 node" if len(self._nodes) == 1 else f"{len(self._nodes)} nodes"
        growing = f", of {self._asked} that are asked for: more are used as nodes join" * (self._asked > room)
        workers = "1 worker" if self.count == 1 else f"{self.count} workers"
        self._say(f"connected to a Ray cluster of {nodes}, for {workers}{growing}.")

    def workers(
        self,
        setup: Callable[..., Callable[[Any], Any]],
        arguments: tuple[object, ...],
        *,
        memory_limit: int,
        startup_seconds: float,
        sealed: Callable[[Any], bytes],
        unsealed: Callable[[Any, bytes], Any],
    ) -> ClusterWorkers:
        """Workers on all nodes, each of which was tried and can do the work.

        Args:
            setup: See `Workers`.
            arguments: Likewise.
            memory_limit: Bytes that a worker may occupy.
            startup_seconds: How long one may take to be ready.
            sealed: See `ClusterWorkers`.
            unsealed: Likewise.

        Raises:
            RunError: What a node lacks, with its name.
        """
        expected = task.facts(gpu=False)
        packed = pickle.dumps((setup, arguments), pickle.HIGHEST_PROTOCOL)
        request = Prepare(Setup(packed, memory_limit, startup_seconds, expected, self._demand))
        _asked(self._link, request)
        used = [node for node in self._nodes if node.slots(self._demand)]
        present = inspect(self._link, used, expected, startup_seconds, self._say)
        return ClusterWorkers(
            self._link,
            present or self._nodes,
            self._asked,
            self._demand,
            sealed=sealed,
            unsealed=unsealed,
            startup_seconds=startup_seconds,
            say=self._say,
        )

    def close(self) -> None:
        """Leave the cluster; nothing of the search goes on there."""
        self._link.close()


def inspect(
    link: Link,
    nodes: list[Node],
    expected: dict[str, str],
    seconds: float,
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Node, ...] | None:
    """Have a worker made ready on each node, and refuse those that cannot do the work.

    A node that is too busy to answer in time is looked at again when its turn comes: each task begins by
    looking at where it is.

    Args:
        link: A broker that is prepared.
        nodes: To look at.
        expected: What there is here: versions by name.
        seconds: How long a worker may take to be ready.
        say: Told of differences that only change last digits.
        clock: Seconds that never go back.

    Returns:
        All nodes that there are now, if some came or went meanwhile.
    """
    present: tuple[Node, ...] | None = None
    left = dict(enumerate(nodes))
    ready = Order(-1, b"", seconds)
    launch = tuple(Batch(-1 - serial, (ready,), node=node.id) for serial, node in left.items())
    reasons: list[str] = []
    until = clock() + seconds
    while left and clock() < until:
        events = _asked(link, Poll(launch, (), _PATIENCE))
        launch = ()
        for event in events:
            if isinstance(event, Present):
                present = event.nodes
                continue
            if -1 - event.batch not in left:
                continue
            node = left[-1 - event.batch]
            match event:
                case Began():
                    _tell_differences(node, event.facts, expected, say)
                case Unfit():
                    reasons.append(f"{node.name}: {event.reason}")
                case Done(failure=failure) if failure is not None:
                    reasons.append(f"{node.name}: {failure.detail}")
                case Over():
                    del left[-1 - event.batch]
                case _:
                    pass
    if left:
        _asked(link, Poll((), tuple(-1 - serial for serial in left), 0.0))
        names = ", ".join(node.name for node in left.values())
        say(f"note: {names} did not answer within {seconds:g} s; looked at again when there is work for it.")
    if reasons:
        raise RunError(
            f"the cluster cannot do the work. On {'; on '.join(reasons)}. Put that right, or take the node "
            "out of the cluster."
        )
    return present


def _tell_differences(
    node: Node, found: dict[str, str], expected: dict[str, str], say: Callable[[str], None]
) -> None:
    other = [
        f"{name} is {found[name]}, not {expected[name]}"
        for name in expected
        if name not in task.SAME and found[name] not in (expected[name], task.MISSING)
    ]
    if other:
        say(f"note: on {node.name} {', '.join(other)}; results may differ in their last digits.")


def _present(link: Link) -> tuple[Node, ...]:
    for event in _asked(link, Poll((), (), 0.0)):
        if isinstance(event, Present):
            return event.nodes
    raise RunError("the Ray cluster told nothing of its nodes; look at it with `ray status`.")


def _asked(link: Link, request: Prepare | Poll) -> list[Any]:
    """Ask, and wait for the answer."""
    link.ask(request)
    while (events := link.answer(_PATIENCE)) is None:
        pass
    return events


def _room(nodes: tuple[Node, ...], demand: Demand) -> int:
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
        f"no node of the cluster has room for a worker that takes {demand.cpus:g} CPU{gpus} ({listed}); give "
        "--cpus-per-worker and --gpus-per-worker that one has, or start nodes with more."
    )
