"""The broker: the process between the driver and the tasks on the nodes, the only one that loads Ray."""

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ray
from ray import cloudpickle, exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from evopinn.errors import RunError
from evopinn.workers.cluster import ray_task as task
from evopinn.workers.cluster.messages import (
    AttemptEnded,
    BatchEnded,
    BatchStarted,
    BrokerEvent,
    ClusterNode,
    JobBatch,
    Loss,
    NodesChanged,
    NodeUnfit,
    PollRequest,
    PrepareRequest,
    Setup,
    WorkerLoaded,
)

_LOOK = 1.0  # seconds between two looks at which nodes there are
_REACH = 2.0  # seconds within which a live node accepts a connection
_TOGETHER = 1000  # events in one answer, at most
_IDENTITY = "ray.io/node-id"
_NODE_GONE = (exceptions.NodeDiedError, exceptions.ObjectLostError)


@dataclass(frozen=True)
class _Flight:
    """A batch under way, and its node if that is known."""

    batch: int
    node: str | None = None


class Broker:
    """Starts tasks on a Ray cluster and reports their progress.

    Args:
        address: Of the cluster: `host:port`, or `auto` for the one that RAY_ADDRESS names or that runs here.
    """

    def __init__(self, address: str) -> None:
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=True)
        except (exceptions.RayError, OSError, RuntimeError, ValueError) as error:
            raise RunError(f"{error}") from error
        cloudpickle.register_pickle_by_value(task)
        self._setup: Any = None
        self._remote: Any = None
        self._flights: dict[Any, _Flight] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._nodes: tuple[ClusterNode, ...] = ()
        self._looked = float("-inf")

    def __call__(self, request: PrepareRequest | PollRequest) -> list[BrokerEvent]:
        """Do what the driver asks."""
        if isinstance(request, PrepareRequest):
            self._prepare(request.setup)
            return []
        for serial in request.cancel:
            self._cancel(serial)
        for batch in request.launch:
            self._launch(batch)
        return self._events(request.timeout)

    def _prepare(self, setup: Setup) -> None:
        gpu = setup.demand.gpus > 0
        parts = (setup.packed, setup.memory_limit, setup.startup_seconds, setup.expected, gpu)
        self._setup = ray.put(parts)  # once for the cluster, and not with every task
        self._remote = ray.remote(
            num_cpus=setup.demand.cpus,
            num_gpus=setup.demand.gpus,
            num_returns="streaming",
            max_retries=0,  # the driver decides what is tried again
            max_calls=0,  # keeps the process, whose worker has loaded the problem
        )(task.run_batch)

    def _launch(self, batch: JobBatch) -> None:
        options: dict[str, Any] = {}
        if batch.node is not None:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(batch.node, soft=False)
        elif batch.avoid:
            options["label_selector"] = {_IDENTITY: f"!in({','.join(batch.avoid)})"}
        orders = [(order.number, order.payload, order.seconds) for order in batch.orders]
        stream = self._remote.options(**options).remote(self._setup, orders)
        self._flights[stream] = _Flight(batch.serial)

    def _cancel(self, serial: int) -> None:
        for stream, flight in list(self._flights.items()):
            if flight.batch == serial:
                del self._flights[stream]
                ray.cancel(stream, force=True)

    def _events(self, timeout: float) -> list[BrokerEvent]:
        until = time.monotonic() + timeout
        events: list[BrokerEvent] = list(self._look())
        while True:
            left = 0.0 if events else max(min(until - time.monotonic(), _LOOK), 0.0)
            streams = list(self._flights)
            if streams:
                # Once there is an event, take whatever else has arrived, without waiting.
                ready, _ = ray.wait(streams, num_returns=len(streams) if events else 1, timeout=left)
                events += [event for stream in ready for event in self._next(stream)]
            elif left:
                ready = []
                time.sleep(left)
            else:
                return events
            events += self._look()
            over = not ready if events else time.monotonic() >= until
            if over or len(events) >= _TOGETHER:
                return events

    def _next(self, stream: Any) -> Iterator[BrokerEvent]:
        """The next report of a task."""
        flight = self._flights[stream]
        try:
            kind, content = ray.get(next(stream))
        except StopIteration:
            del self._flights[stream]
            yield BatchEnded(flight.batch)
            return
        except exceptions.RayTaskError as error:  # from our own task, so no job is to blame
            del self._flights[stream]
            yield NodeUnfit(flight.batch, flight.node or "", f"a task failed there: {error}")
            yield BatchEnded(flight.batch)
            return
        except exceptions.RayError as error:
            del self._flights[stream]
            yield BatchEnded(flight.batch, self._loss(error, flight), " ".join(str(error).split())[:500])
            return
        match kind:
            case "began":
                node, process, found = content
                self._flights[stream] = _Flight(flight.batch, node)
                yield BatchStarted(flight.batch, node, process, found)
            case "loaded":
                yield WorkerLoaded(flight.batch)
            case "unfit":
                yield NodeUnfit(flight.batch, flight.node or "", content)
            case _:
                yield AttemptEnded(flight.batch, *content)

    def _loss(self, error: Exception, flight: _Flight) -> Loss:
        if isinstance(error, exceptions.OutOfMemoryError):
            return "memory"
        place = self._places.get(flight.node or "")
        # A lost process may be noticed before its lost node.
        gone = place is None or not _reachable(place)
        return "node" if isinstance(error, _NODE_GONE) or gone else "worker"

    def _look(self) -> Iterator[NodesChanged]:
        """The nodes, if they have changed since the last look."""
        if time.monotonic() - self._looked < _LOOK:
            return
        self._looked = time.monotonic()
        alive = [each for each in ray.nodes() if each["Alive"]]
        self._places |= {
            each["NodeID"]: (each["NodeManagerAddress"], each["NodeManagerPort"]) for each in alive
        }
        nodes = tuple(sorted((_node(each) for each in alive), key=lambda node: node.id))
        if nodes != self._nodes:
            self._nodes = nodes
            yield NodesChanged(nodes)


def _node(described: dict[str, Any]) -> ClusterNode:
    identity, resources = described["NodeID"], described["Resources"]
    given = described["NodeName"]
    name = described["NodeManagerHostname"] if given == described["NodeManagerAddress"] else given
    cpus, gpus = resources.get("CPU", 0.0), resources.get("GPU", 0.0)
    return ClusterNode(identity, f"{name} ({identity[:6]})", cpus, gpus)


def _reachable(place: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(place, timeout=_REACH):
            return True
    except OSError:
        return False
