"""Messages between a driver and one worker, over a private socket.

A message is its length and its pickled bytes. The driver's end never blocks: a worker that stops in the
middle of a message, or does not read, holds up nobody else. Pickles only ever pass between a process and its
own child; nothing that comes from a disk or a network is read this way.
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
    """What came cannot be a message."""


@dataclass(frozen=True)
class Ready:
    """A worker is set up and waits for jobs."""


@dataclass(frozen=True)
class SetupFailed:
    """A worker's setup raised; no other would do better."""

    text: str


@dataclass(frozen=True)
class Returned:
    """A job's result."""

    number: int
    value: Any


@dataclass(frozen=True)
class Raised:
    """A job raised.

    Attributes:
        number: The job's number.
        text: The traceback.
        memory: Whether it was for lack of memory.
    """

    number: int
    text: str
    memory: bool


def pack(message: object) -> bytes:
    """A message as it goes over the wire."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class DriverEnd:
    """The driver's end: what cannot be sent or read at once is kept until it can.

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
        """Begin to send a packed message; `flush` goes on with it. One at a time."""
        self._outgoing = memoryview(packed)
        self.flush()

    def flush(self) -> None:
        """Send as much as the other side takes now."""
        try:
            while self._outgoing:
                self._outgoing = self._outgoing[self._socket.send(self._outgoing) :]
        except BlockingIOError:
            return
        except OSError:  # it has died, which reading will tell
            self._outgoing = memoryview(b"")

    def receive(self) -> Iterator[object]:
        """The messages that are complete by now.

        Raises:
            GarbageError: What came is no message. Nothing that follows it can be trusted.
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
        """Close the socket; the worker sees the end of its input."""
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
    """The worker's end, which may block.

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
