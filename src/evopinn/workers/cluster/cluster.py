"""A Ray cluster, the connection to it through a broker, and its pool of workers."""

import importlib.util
import pickle
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from evopinn.errors import RunError
from evopinn.workers.channel import GarbageError, Raised, Ready, Returned, SetupFailed, pack
from evopinn.workers.cluster import ray_task as task
from evopinn.workers.cluster.messages import BrokerEvent, PollRequest, PrepareRequest, Setup, WorkerResources
from evopinn.workers.cluster.nodes import ask_and_wait, inspect, present_nodes, room_for
from evopinn.workers.cluster.ray_pool import RayPool
from evopinn.workers.process import WorkerProcess, packed_setup

_REACH = 5.0  # seconds for a connection to an address
_CONNECTING = 60.0  # seconds within which Ray must connect; by itself it may try for minutes
_SILENCE = 120.0  # seconds that the broker may be late with an answer
_GRACE = 5.0
_CLIENT = "ray://"
_NO_TOKEN = "Unauthenticated"  # what Ray prints then, over and over
AUTO = "auto"


class Cluster(AbstractContextManager["Cluster"]):
    """A cluster that this process is connected to.

    Args:
        address: `host:port`, or `auto` for the one that RAY_ADDRESS names or that runs here.
        demand: What one worker takes of a node.
        count: Maximum number of workers; by default, as many as there is room for.
        say: Receives messages for the user.
    """

    def __init__(
        self, address: str, demand: WorkerResources, count: int | None, say: Callable[[str], None]
    ) -> None:
        self._say = say
        self._demand = demand
        self._link = Connection(address)
        try:
            self._nodes = present_nodes(self._link)
            room = room_for(self._nodes, demand)
        except BaseException:  # Ctrl-C too must leave nothing half done
            self.close()
            raise
        self._asked = room if count is None else count
        self.count = min(self._asked, room)
        nodes = "1 node" if len(self._nodes) == 1 else f"{len(self._nodes)} nodes"
        growing = f" of the {self._asked} requested; more start as nodes join" * (self._asked > room)
        workers = "1 worker" if self.count == 1 else f"{self.count} workers"
        self._say(f"connected to a Ray cluster of {nodes} with room for {workers}{growing}.")

    def pool(
        self,
        setup: Callable[..., Callable[[Any], Any]],
        arguments: tuple[object, ...],
        *,
        memory_limit: int,
        startup_seconds: float,
        pack: Callable[[Any], bytes],
        unpack: Callable[[Any, bytes], Any],
    ) -> RayPool:
        """Workers on all nodes, each of which has been checked.

        Args:
            setup: See `LocalPool`.
            arguments: Likewise.
            memory_limit: Bytes that a worker may occupy.
            startup_seconds: How long one may take to be ready.
            pack: See `RayPool`.
            unpack: Likewise.

        Raises:
            RunError: Some nodes lack something; the message names them.
        """
        expected = task.node_versions(gpu=False)
        packed = pickle.dumps((setup, arguments), pickle.HIGHEST_PROTOCOL)
        request = PrepareRequest(Setup(packed, memory_limit, startup_seconds, expected, self._demand))
        ask_and_wait(self._link, request)
        used = [node for node in self._nodes if node.slots(self._demand)]
        present = inspect(self._link, used, expected, startup_seconds, self._say)
        return RayPool(
            self._link,
            present or self._nodes,
            self._asked,
            self._demand,
            pack=pack,
            unpack=unpack,
            startup_seconds=startup_seconds,
            say=self._say,
        )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster and end everything that was started there."""
        self._link.close()


class Connection(AbstractContextManager["Connection"]):
    """A broker that is connected to a cluster.

    Args:
        address: Of the cluster, `host:port` or `auto`.

    Raises:
        RunError: There is no Ray here, or no cluster there.
    """

    def __init__(self, address: str) -> None:
        _check(address)
        self._address = address
        self._process = WorkerProcess(1, packed_setup(_broker, (address,)), 0, time.monotonic())
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.channel, selectors.EVENT_READ)
        self._asked = 0
        self._due: float | None = None
        try:
            self._await_ready()
        except BaseException:  # Ctrl-C too must leave nothing half done
            self.close()
            raise

    @property
    def busy(self) -> bool:
        """Whether an answer is outstanding."""
        return self._due is not None

    @property
    def pid(self) -> int:
        """The broker's process id."""
        return self._process.pid

    def ask(self, request: PrepareRequest | PollRequest) -> None:
        """Send a request; there must be none whose answer is outstanding."""
        assert not self.busy
        self._asked += 1
        patience = request.timeout if isinstance(request, PollRequest) else 0.0
        self._due = time.monotonic() + patience + _SILENCE
        self._process.channel.send(pack((self._asked, request)))

    def answer(self, timeout: float) -> list[BrokerEvent] | None:
        """The answer, or None if it does not arrive within some seconds.

        Raises:
            RunError: The broker has ended, or the cluster no longer answers.
        """
        until = time.monotonic() + timeout
        while self._due is not None:
            message = self._receive(max(until - time.monotonic(), 0.0))
            match message:
                case Returned(number, value) if number == self._asked:
                    self._due = None
                    return value
                case Raised(_, text):
                    raise self._lost(text.strip())
                case None if time.monotonic() > self._due:
                    raise self._lost(f"no answer for {_SILENCE:g} s")
                case None if time.monotonic() >= until:
                    return None
                case None:
                    continue
                case _:
                    raise self._lost(f"an unexpected message: {message!r:.200}")
        return None

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the broker, upon which Ray ends everything that it started on the nodes."""
        self._process.terminate()
        self._process.await_end(_GRACE)
        self._process.close()
        self._selector.close()

    def _await_ready(self) -> None:
        until = time.monotonic() + _CONNECTING
        while True:
            message = self._receive(max(until - time.monotonic(), 0.0))
            match message:
                case Ready():
                    return
                case SetupFailed(text):
                    raise RunError(self._refused(text.strip().splitlines()[-1].partition(": ")[2]))
                case _ if time.monotonic() > until:
                    raise RunError(self._refused(f"Ray was not connected after {_CONNECTING:g} s"))
                case _:
                    continue

    def _refused(self, reason: str) -> str:
        if _NO_TOKEN in self._process.printed():
            return (
                f"the Ray cluster {self._address} requires a token; set RAY_AUTH_MODE=token, and "
                "RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH as on its nodes."
            )
        return _absent(self._address, reason)

    def _receive(self, timeout: float) -> Any:
        """The next message, or None if there is none within some seconds."""
        channel = self._process.channel
        if channel.sending:
            self._selector.modify(channel, selectors.EVENT_READ | selectors.EVENT_WRITE)
        try:
            for _, events in self._selector.select(timeout):
                if events & selectors.EVENT_WRITE:
                    channel.flush()
                    if not channel.sending:
                        self._selector.modify(channel, selectors.EVENT_READ)
                if events & selectors.EVENT_READ:
                    for message in channel.receive():
                        return message
        except GarbageError as error:
            raise self._lost(str(error)) from error
        if channel.ended:
            raise self._lost(f"the process that spoke to Ray is gone: {self._process.describe_end()}")
        return None

    def _lost(self, reason: str) -> RunError:
        return RunError(
            f"the Ray cluster {self._address} is lost: {reason}. What is recorded is safe: repair the "
            "cluster and resume the run, or resume it on this machine with --cluster local."
        )


def _broker(address: str) -> Any:
    """A broker, made in the child process, the only one that loads Ray."""
    from evopinn.workers.cluster.broker import Broker

    return Broker(address)


def _check(address: str) -> None:
    """Refuse an address that cannot be connected to, before a process is started."""
    if importlib.util.find_spec("ray") is None:
        raise RunError(
            'training on a cluster needs Ray, which is not installed; run: pip install "evopinn[ray]".'
        )
    if address == AUTO:
        return
    if address.startswith(_CLIENT):
        raise RunError(
            f"the cluster is {address!r}, an address for Ray's client, which cannot stream results; run the "
            "search on a node of the cluster and give --cluster auto, or host:port as `ray start` prints it."
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise RunError(
            f"the cluster is {address!r}; give auto, host:port as `ray start` prints it, or local for none."
        )
    try:
        with socket.create_connection((host, int(port)), timeout=_REACH):
            pass
    except OSError as error:
        raise RunError(_absent(address, error.strerror or str(error))) from None


def _absent(address: str, reason: str) -> str:
    where = "no Ray cluster runs here" if address == AUTO else f"no Ray cluster answers at {address}"
    return (
        f"{where} ({reason.rstrip('.')}); start one with `ray start --head`, and let other machines join it "
        "with `ray start --address HOST:PORT`."
    )
