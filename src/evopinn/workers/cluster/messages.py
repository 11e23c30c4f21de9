"""The messages between a driver and its broker, made without Ray or torch."""

from dataclasses import dataclass
from typing import Literal, Protocol

from evopinn.workers.pool import Failure


@dataclass(frozen=True)
class WorkerResources:
    """What one worker needs of a node."""

    cpus: float = 1.0
    gpus: float = 0.0


@dataclass(frozen=True)
class ClusterNode:
    """A machine of the cluster, or what Ray counts as one.

    Attributes:
        id: Ray's identifier.
        name: For a person.
        cpus: How many CPUs Ray may assign there.
        gpus: How many GPUs.
    """

    id: str
    name: str
    cpus: float
    gpus: float

    def slots(self, demand: WorkerResources) -> int:
        """How many workers it has room for, if nothing else runs there."""
        room = int(self.cpus / demand.cpus + 1e-9)
        if not demand.gpus:
            return room
        whole = int(self.gpus)  # a fraction is always one of a single GPU
        each = int(1 / demand.gpus + 1e-9) if demand.gpus < 1 else 1 / demand.gpus
        return min(room, int(whole * each))


@dataclass(frozen=True)
class Setup:
    """How a worker is set up, wherever it is.

    Attributes:
        packed: What makes the function from payloads to results: see `make_answer`.
        memory_limit: Bytes that a worker may occupy.
        startup_seconds: How long it may take to be ready.
        expected: The versions that a node must have, by name, as on this machine.
        demand: What a worker needs of a node.
    """

    packed: bytes
    memory_limit: int
    startup_seconds: float
    expected: dict[str, str]
    demand: WorkerResources


@dataclass(frozen=True)
class JobAttempt:
    """One attempt at a job, in a batch."""

    number: int
    payload: bytes
    seconds: float


@dataclass(frozen=True)
class JobBatch:
    """Attempts that one Ray task does, one after the other.

    Attributes:
        serial: The number that its events carry.
        orders: The attempts.
        node: The node that it must run on, if that matters.
        avoid: Nodes that it must not run on.
    """

    serial: int
    orders: tuple[JobAttempt, ...]
    node: str | None = None
    avoid: tuple[str, ...] = ()


@dataclass(frozen=True)
class PrepareRequest:
    """A request to prepare for workers that are set up like this."""

    setup: Setup


@dataclass(frozen=True)
class PollRequest:
    """A request to start batches, cancel others and report events, waiting for them at most some seconds."""

    launch: tuple[JobBatch, ...]
    cancel: tuple[int, ...]
    timeout: float


@dataclass(frozen=True)
class BatchStarted:
    """A batch has started in a process.

    Attributes:
        batch: Its serial number.
        node: Where.
        process: The process id of the task there.
        facts: The versions on that node, by name.
    """

    batch: int
    node: str
    process: int
    facts: dict[str, str]


@dataclass(frozen=True)
class WorkerLoaded:
    """The worker of a batch has loaded the problem and starts to train."""

    batch: int


@dataclass(frozen=True)
class AttemptEnded:
    """An attempt of a batch has ended.

    Attributes:
        batch: The batch's serial number.
        number: The job's.
        worker: Which of the task's processes did it.
        seconds: How long it took.
        value: What the job returned, packed.
        failure: Why it failed, if it did.
    """

    batch: int
    number: int
    worker: int
    seconds: float
    value: bytes | None
    failure: Failure | None


@dataclass(frozen=True)
class NodeUnfit:
    """A node cannot do a batch, with the reason for a person."""

    batch: int
    node: str
    reason: str


Loss = Literal["node", "worker", "memory"]


@dataclass(frozen=True)
class BatchEnded:
    """A batch has ended, by itself or because its process, and perhaps its node, was lost."""

    batch: int
    lost: Loss | None = None
    detail: str = ""


@dataclass(frozen=True)
class NodesChanged:
    """The nodes that there are now, reported when they change."""

    nodes: tuple[ClusterNode, ...]


BrokerEvent = BatchStarted | WorkerLoaded | AttemptEnded | NodeUnfit | BatchEnded | NodesChanged


class BrokerLink(Protocol):
    """The connection to the cluster: see `Connection`."""

    @property
    def busy(self) -> bool:
        """Whether an answer is outstanding."""
        ...

    def ask(self, request: PrepareRequest | PollRequest) -> None:
        """Send a request."""
        ...

    def answer(self, timeout: float) -> list[BrokerEvent] | None:
        """The answer, if it arrives within some seconds."""
        ...
