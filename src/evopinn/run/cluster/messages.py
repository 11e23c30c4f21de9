"""What the driver asks of the broker, and what the broker tells it. Needs neither Ray nor torch."""

from dataclasses import dataclass
from typing import Literal

from evopinn.run.ended import Failure


@dataclass(frozen=True)
class Demand:
    """What one worker takes of a node."""

    cpus: float = 1.0
    gpus: float = 0.0


@dataclass(frozen=True)
class Node:
    """A machine of the cluster, or what Ray counts as one.

    Attributes:
        id: By which Ray knows it.
        name: For a person.
        cpus: That Ray may give away there.
        gpus: Likewise.
    """

    id: str
    name: str
    cpus: float
    gpus: float

    def slots(self, demand: Demand) -> int:
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
        packed: What makes the function from payloads to results: see `opened`.
        memory_limit: Bytes that a worker may occupy.
        startup_seconds: How long it may take to be ready.
        expected: What a node must have: versions by name, as here.
        demand: What a worker takes.
    """

    packed: bytes
    memory_limit: int
    startup_seconds: float
    expected: dict[str, str]
    demand: Demand


@dataclass(frozen=True)
class Order:
    """One attempt at a job, in a batch."""

    number: int
    payload: bytes
    seconds: float


@dataclass(frozen=True)
class Batch:
    """Attempts that one task does, one after the other.

    Attributes:
        serial: By which it is reported.
        orders: What to do; nothing if a node is only to be made ready.
        node: Where it must run, if that matters.
        avoid: Where it must not.
    """

    serial: int
    orders: tuple[Order, ...]
    node: str | None = None
    avoid: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prepare:
    """Take note of how workers are set up."""

    setup: Setup


@dataclass(frozen=True)
class Poll:
    """Start batches, cancel others, and tell what has happened, waiting for at most some seconds."""

    launch: tuple[Batch, ...]
    cancel: tuple[int, ...]
    timeout: float


@dataclass(frozen=True)
class Began:
    """A batch has a process.

    Attributes:
        batch: Its serial number.
        node: Where.
        process: The shell's id there.
        facts: What there is on that node: versions by name.
    """

    batch: int
    node: str
    process: int
    facts: dict[str, str]


@dataclass(frozen=True)
class Loaded:
    """The worker of a batch has loaded the problem: from now on it trains."""

    batch: int


@dataclass(frozen=True)
class Done:
    """An attempt of a batch is over.

    Attributes:
        batch: The batch's serial number.
        number: The job's.
        worker: Which of the shell's processes it was.
        seconds: That it took.
        value: What the job returned, packed.
        failure: Or why it did not.
    """

    batch: int
    number: int
    worker: int
    seconds: float
    value: bytes | None
    failure: Failure | None


@dataclass(frozen=True)
class Unfit:
    """A node cannot do a batch: what it lacks, for a person."""

    batch: int
    node: str
    reason: str


Loss = Literal["node", "worker", "memory"]


@dataclass(frozen=True)
class Over:
    """A batch has ended: by itself, or because its process is lost with its node or without it."""

    batch: int
    lost: Loss | None = None
    detail: str = ""


@dataclass(frozen=True)
class Present:
    """The nodes that there are now; told when they change."""

    nodes: tuple[Node, ...]


Event = Began | Loaded | Done | Unfit | Over | Present
