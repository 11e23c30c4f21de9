"""Messages between a driver and one worker, over a private socket.

A message is its length followed by its pickled bytes. The driver's end never blocks, so a worker that stops
in the middle of a message, or does not read, delays nobody else. Pickles pass only between a process and its
own child; nothing from a disk or a network is read this way.
"""

import pickle
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 18
LONGEST = 1 << 32


class GarbageError(Exception):
    """The received bytes are not a message."""


@dataclass(frozen=True)
class Ready:
    """A worker is ready for jobs."""


@dataclass(frozen=True)
class SetupFailed:
    """A worker's setup raised an exception, as it would in any other worker."""

    text: str


@dataclass(frozen=True)
class Returned:
    """A job returned a result."""

    number: int
    value: Any


@dataclass(frozen=True)
class Raised:
    """A job raised an exception.

    Attributes:
        number: The job's number.
        text: The traceback.
        memory: Whether it lacked memory.
    """

    number: int
    text: str
    memory: bool


def pack(message: object) -> bytes:
    """A message as it is sent."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class DriverEnd:
    """The driver's end, which keeps what it cannot send or read at once.

    Args:
        connection: One end of a socket pair.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(False)
        self._outgoing = memoryview(b"")
        self._incoming = bytearray()
        self.ended = False

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    @property
    def sending(self) -> bool:
        """Whether a message is still on its way out."""
        return len(self._outgoing) > 0

    def send(self, packed: bytes) -> None:
        """Start sending a packed message, which `flush` continues. One at a time."""
        self._outgoing = memoryview(packed)
        self.flush()

    def flush(self) -> None:
        """Send as much as the worker takes now."""
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[self._socket.send(self._outgoing) :]
        except BlockingIOError:
            return
        except OSError:  # it has died, as reading will show
            self._outgoing = memoryview(b"")

    def receive(self) -> Iterator[object]:
        """The messages that have arrived completely.

        Raises:
            GarbageError: Something that is not a message arrived; nothing after it can be trusted.
        """
        self._fill()
        while len(self._incoming) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._incoming)
            if length > LONGEST:
                raise GarbageError(f"a message of {length} bytes was announced")
            end = _LENGTH.size + length
            if len(self._incoming) < end:
                return
            body = bytes(memoryview(self._incoming)[_LENGTH.size : end])
            del self._incoming[:end]
            yield _unpickled(body)

    def close(self) -> None:
        """Close the socket, which ends the worker's input."""
        self._socket.close()

    def _fill(self) -> None:
        try:
            while not self.ended:
                chunk = self._socket.recv(_CHUNK)
                self._incoming += chunk
                self.ended = not chunk
        except BlockingIOError:
            return
        except OSError:  # reset by a dying process
            self.ended = True


class WorkerEnd:
    """The worker's end, which blocks.

    Args:
        connection: The other end of the socket pair.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(True)

    def send(self, packed: bytes) -> None:
        """Send a packed message."""
        self._socket.sendall(packed)

    def receive(self) -> bytes:
        """The next message's pickled bytes.

        Raises:
            EOFError: The driver has closed its end or is gone.
        """
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        return bytes(self._exactly(length))

    def _exactly(self, count: int) -> bytearray:
        buffer = bytearray(count)
        view = memoryview(buffer)
        while view:
            received = self._socket.recv_into(view)
            if not received:
                raise EOFError
            view = view[received:]
        return buffer


def _unpickled(body: bytes) -> object:
    try:
        return pickle.loads(body)
    except Exception as error:  # bytes that are no pickle can raise anything
        raise GarbageError(f"a message could not be read: {type(error).__name__}: {error}") from error
