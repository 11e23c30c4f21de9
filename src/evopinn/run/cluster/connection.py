"""The driver's side of its broker: a child process, asked one thing at a time."""

import importlib.util
import selectors
import socket
import time
from typing import Any

from evopinn.errors import RunError
from evopinn.run.channel import GarbageError, Raised, Ready, Returned, SetupFailed, pack
from evopinn.run.closing import Closing
from evopinn.run.cluster.messages import Event, Poll, Prepare
from evopinn.run.process import WorkerProcess, packed_setup

_REACH = 5.0  # seconds for a connection to an address
_CONNECTING = 60.0  # seconds until Ray has to have connected; by itself it may try for minutes
_SILENCE = 120.0  # seconds beyond what it was given that the broker may be silent
_GRACE = 5.0
_CLIENT = "ray://"
_NO_TOKEN = "Unauthenticated"  # what Ray prints then, over and over
AUTO = "auto"


class Connection(Closing):
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

    def ask(self, request: Prepare | Poll) -> None:
        """Send a request; there must be none whose answer is outstanding."""
        assert not self.busy
        self._asked += 1
        patience = request.timeout if isinstance(request, Poll) else 0.0
        self._due = time.monotonic() + patience + _SILENCE
        self._process.channel.send(pack((self._asked, request)))

    def answer(self, timeout: float) -> list[Event] | None:
        """The answer, or None if it does not come within some seconds.

        Raises:
            RunError: The broker has ended, or the cluster answers no more.
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

    def close(self) -> None:
        """End the broker; with it, Ray ends everything that it started on the nodes."""
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
                f"the Ray cluster {self._address} wants a token; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN "
                "or RAY_AUTH_TOKEN_PATH as on its nodes."
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
            f"the Ray cluster {self._address} is lost: {reason}. What is recorded is safe: see to the "
            "cluster and resume the run, or go on here with --cluster local."
        )


def _broker(address: str) -> Any:
    """A broker, made in the child process: only there is Ray loaded."""
    from evopinn.run.cluster.broker import Broker

    return Broker(address)


def _check(address: str) -> None:
    """Refuse what cannot come to anything, before a process is started for it."""
    if importlib.util.find_spec("ray") is None:
        raise RunError('a cluster needs Ray, which is not installed; do: pip install "evopinn[ray]".')
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
