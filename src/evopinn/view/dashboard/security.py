"""Access control: a token, our own addresses, and requests from our own pages only.

A token alone is not enough. A page elsewhere can have its name point to this machine (DNS rebinding), so the
name in each request is checked; and it can send requests that carry our cookie along, so the cookie is for
requests of our own pages only, and what changes something must come from one of them.
"""

import base64
import hashlib
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN = "token"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE = ("GET", "HEAD")

_STYLE = (
    "body{font:16px/1.6 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.2rem;"
    "background:#fbfbfa;color:#1b1d1f}@media(prefers-color-scheme:dark)"
    "{body{background:#14171a;color:#e6e8ea}}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_CLOSED = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>evopinn: closed</title><style>{_STYLE}</style></head>
<body><main><h1>This dashboard is closed</h1>
<p>Open it at the address that <code>evopinn dashboard</code> printed in its terminal when it started;
it ends in <code>?token=</code> and letters. Copy the whole address into the address bar.</p>
<p>Each start prints a new one.</p></main></body></html>
"""


@dataclass(frozen=True)
class Access:
    """The conditions of access.

    Attributes:
        token: What has to be known.
        hosts: Names by which this machine may be addressed.
        any_address: Whether it may be addressed by any number: nobody can point another name at a number.
        cookie: The cookie's name; browsers tell machines apart, not ports, so each port has its own.
    """

    token: str
    hosts: frozenset[str] = frozenset(LOOPBACK)
    any_address: bool = False
    cookie: str = "evopinn"

    def knows(self, token: str | None) -> bool:
        """Whether this is the token, compared in constant time."""
        return token is not None and secrets.compare_digest(token.encode(), self.token.encode())

    def is_ours(self, host: str) -> bool:
        """Whether a request that names this host, with or without a port, is meant for us."""
        name = _without_port(host)
        return name in self.hosts or (self.any_address and _is_address(name))


class Guard:
    """Admits permitted requests, and adds security headers to all answers.

    Args:
        app: The application.
        access: The conditions of access.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refuse(Request(scope))
        await (self._app if refused is None else refused)(scope, receive, send_guarded)

    def _refuse(self, request: Request) -> Response | None:
        """The refusal of a request, if it is not permitted."""
        access = self._access
        host = request.headers.get("host", "")
        if not access.is_ours(host):
            return _message(HTTPStatus.BAD_REQUEST, "this address is not the dashboard's.")
        given = request.query_params.get(TOKEN)
        if access.knows(given) and request.method in _SAFE:
            return self._admit(request)
        if not access.knows(request.cookies.get(access.cookie)):
            if request.url.path.startswith("/api/"):
                return _message(HTTPStatus.UNAUTHORIZED, "open the address that the dashboard printed.")
            policy = _POLICY.replace("style-src 'self'", f"style-src 'sha256-{_STYLE_HASH}'")
            return HTMLResponse(_CLOSED, HTTPStatus.UNAUTHORIZED, {"Content-Security-Policy": policy})
        if not _is_from_us(request, host):
            return _message(HTTPStatus.FORBIDDEN, "this request does not come from a page of the dashboard.")
        return None

    def _admit(self, request: Request) -> Response:
        """Move the token from the address to a cookie."""
        query = parse_qsl(request.url.query, keep_blank_values=True)
        rest = urlencode([pair for pair in query if pair[0] != TOKEN])
        # As it was sent: names may have signs that mean something in a path. One that begins with two slashes
        # would be another machine's address.
        path = "/" + request.scope["raw_path"].decode("latin-1").lstrip("/")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, HTTPStatus.SEE_OTHER)
        answer.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="strict", path="/")
        return answer


def _message(status: HTTPStatus, text: str) -> Response:
    return JSONResponse({"message": text}, status)


def _is_from_us(request: Request, host: str) -> bool:
    """Whether our own page sent a request, or the user did and it changes nothing.

    A page at another port of this machine is of the same site, so that the cookie comes along with what it
    asks for: it may open our pages, which have nothing of a run in them, and get no data. For some of these
    a problem's file, which is a program, is run.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    if request.method in _SAFE:
        path = request.url.path
        is_page = not path.startswith("/api/") and "/downloads/" not in path
        return is_page or site in ("same-origin", "none")
    return request.headers.get("origin") == f"{request.url.scheme}://{host}" and site == "same-origin"


def _without_port(host: str) -> str:
    """The name in a `Host` header: `localhost:80`, `127.0.0.1`, `[::1]:80`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
