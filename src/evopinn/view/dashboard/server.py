"""The dashboard as a process: a port, an address with a token, and a server that runs until it is stopped."""

import os
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import torch
import uvicorn

from evopinn.checks import shown
from evopinn.errors import DashboardError
from evopinn.view.dashboard.security import LOOPBACK, TOKEN, Access
from evopinn.view.dashboard.web_app import make_app

_EVERYWHERE = ("0.0.0.0", "::")
_NICENESS = 5
"""Searches on the same machine come first."""

_LAST_ANSWERS = 2
"""Seconds for answers that are under way when the dashboard is told to end."""

_INTERRUPTED = 130


def serve(root: Path, host: str, port: int, announce: Callable[[str, bool], None]) -> None:
    """Show the runs of a directory until the process is stopped.

    Args:
        root: The directory of the runs, which may not exist yet.
        host: The address to listen on; other machines cannot reach a loopback address.
        port: The port; 0 for any that is free.
        announce: Receives the address to open, and whether only this machine reaches it.
    """
    with _bound(host, port) as listener:
        number = int(listener.getsockname()[1])
        access = Access(
            secrets.token_urlsafe(24),
            frozenset({*LOOPBACK, host.lower(), *_own_names(host)}),
            any_address=host in _EVERYWHERE,
            cookie=f"evopinn-{number}",
        )
        ending = threading.Event()
        app = make_app(root, access, ending=ending)
        torch.set_num_threads(1)
        with suppress(OSError, AttributeError):
            os.nice(_NICENESS)
        announce(f"http://{_shown(host)}:{number}/?{TOKEN}={access.token}", host in LOOPBACK)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_LAST_ANSWERS,
        )
        _Server(config, ending).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that a second Ctrl-C ends at once: it only reads, so nothing is lost.

    Args:
        config: As uvicorn has it.
        ending: To be set when it ends.
    """

    def __init__(self, config: uvicorn.Config, ending: threading.Event) -> None:
        super().__init__(config)
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.should_exit:
            os._exit(_INTERRUPTED)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down."""
        self._ending.set()
        await super().shutdown(sockets)


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, ValueError) as error:  # the latter for what cannot be the name of a host
        reason = getattr(error, "strerror", "it is not the name of a host")
        raise DashboardError(f"the host {shown(host)} cannot be used: {reason}; leave --host out.") from None
    try:
        if os.name == "posix":  # a port that was in use a moment ago is free
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        raise DashboardError(
            f"port {port} of {host} cannot be used: {error.strerror}; choose another with --port, or let "
            "--port 0 find a free one."
        ) from None
    return listener


def _own_names(host: str) -> set[str]:
    """The names of this machine on the network, if others may reach it."""
    return {socket.gethostname().lower(), socket.getfqdn().lower()} if host in _EVERYWHERE else set()


def _shown(host: str) -> str:
    """A host as it stands in an address."""
    if host in _EVERYWHERE:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
