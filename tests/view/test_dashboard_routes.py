"""What holds for every address of the dashboard; they are listed from the app, so for new ones too."""

import asyncio
import re
import signal
import sys

import pytest
from dashboards import ACCESS, ORIGIN, TOKEN, make_client, make_place

from evopinn.view.dashboard.security import Access
from evopinn.view.dashboard.web_app import make_app

SAFE = {"GET", "HEAD", "OPTIONS"}
PARTS = {"name": "first", "number": "1", "what": "structure", "script": "run.js"}
HEADERS = {
    "content-security-policy": (
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "script-src 'self'",
    ),
    "x-content-type-options": ("nosniff",),
    "referrer-policy": ("no-referrer",),
    "cross-origin-opener-policy": ("same-origin",),
    "cross-origin-resource-policy": ("same-origin",),
    "cache-control": ("no-store",),
}


def routes():
    """Method and path of all that is answered."""
    app = make_app("nowhere", ACCESS)._app
    return sorted((method, route.path) for route in app.routes for method in route.methods)


ROUTES = routes()
CHANGING = [(method, path) for method, path in ROUTES if method not in SAFE]
LOOKING = [(method, path) for method, path in ROUTES if method in SAFE]


def address(path, **parts):
    """A path with its parts filled in; a part that is new here makes the test fail, and has to be added."""
    return re.sub(r"{(\w+)}", lambda found: (PARTS | parts)[found[1]], path)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_place(tmp_path_factory.mktemp("place"))


@pytest.fixture(scope="module")
def client(root):
    return make_client(root)


@pytest.fixture(scope="module")
def stranger(root):
    return make_client(root, admitted=False)


def test_there_are_routes_of_both_kinds():
    assert ("POST", "/api/runs/{name}/stop") in CHANGING
    assert ("GET", "/api/runs") in LOOKING


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_answered_without_the_token(stranger, method, path):
    for token in ("", "?token=wrong"):
        answer = stranger.request(method, address(path) + token, headers=ORIGIN)
        assert answer.status_code == 401
        assert "first" not in answer.text


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_answered_under_another_name(client, method, path):
    for host in ("example.org", "127.0.0.1.example.org", ""):
        answer = client.request(method, address(path), headers=ORIGIN | {"Host": host})
        assert answer.status_code == 400


FOREIGN = (
    {},
    {"Origin": "null"},
    {"Origin": "http://example.org"},
    {"Origin": "http://127.0.0.1:9999"},
    ORIGIN | {"Sec-Fetch-Site": "cross-site"},
    ORIGIN | {"Sec-Fetch-Site": "same-site"},
    ORIGIN | {"Sec-Fetch-Site": "none"},
)


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize(("method", "path"), CHANGING)
def test_what_changes_something_is_only_for_our_own_pages(client, method, path, headers):
    assert client.request(method, address(path), headers=headers).status_code == 403
    with_token = f"{address(path)}?token={TOKEN}"
    assert client.request(method, with_token, headers=headers).status_code == 403


@pytest.mark.parametrize(("method", "path"), CHANGING)
def test_what_changes_something_is_not_done_by_looking(client, method, path):
    for safe in ("GET", "HEAD"):
        assert client.request(safe, address(path), headers=ORIGIN).status_code == 405


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "MADE-UP"])
@pytest.mark.parametrize("path", sorted({path for _, path in ROUTES}))
def test_other_methods_need_our_own_pages_too(client, method, path):
    assert client.request(method, address(path)).status_code == 403


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_answer_says_what_a_browser_must_not_do(client, stranger, method, path):
    for asking in (client, stranger):
        answer = asking.request(method, address(path), headers=ORIGIN)
        for name, words in HEADERS.items():
            assert all(word in answer.headers[name] for word in words)
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers


OUTSIDE = (
    "..",
    "..%2felsewhere%2fsecret",
    "%2e%2e%2felsewhere%2fsecret",
    "..%5celsewhere",
    "%2fetc",
    "first%00",
)


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize(
    ("method", "path"), [row for row in ROUTES if "{name}" in row[1] and "/static/" not in row[1]]
)
def test_no_name_leads_out_of_the_directory(client, method, path, name):
    answer = client.request(method, address(path, name=name), headers=ORIGIN)
    if path.startswith("/runs/") and "downloads" not in path:  # a page, which has nothing of a run in it
        assert "secret" not in answer.text
    else:
        assert answer.status_code in (404, 405)


@pytest.mark.parametrize("name", [*OUTSIDE[1:], "page.html", "..%2fapplication.py", "%2fetc%2fpasswd"])
def test_no_file_but_our_own_is_given_away(client, name):
    assert client.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize("kind", ["websocket", "lifespan"])
def test_nothing_but_http_is_answered(root, kind):
    said = []

    async def send(message):
        said.append(message)

    asyncio.run(make_app(root, ACCESS)({"type": kind, "path": "/api/runs"}, None, send))
    assert not said


@pytest.fixture
def listening(monkeypatch, tmp_path, capfd):
    """Start the dashboard without its server: where it would listen, and what it prints."""
    from evopinn.cli import main

    bound = []
    monkeypatch.setattr(
        "uvicorn.Server.run",
        lambda _, sockets: bound.append(tuple(each.getsockname()[0] for each in sockets)),
    )
    monkeypatch.setattr("os.nice", lambda _: 0)

    def listening(*options):
        monkeypatch.setattr(sys, "argv", ["evopinn", "dashboard", str(tmp_path), "--port", "0", *options])
        before = signal.getsignal(signal.SIGTERM)
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            signal.signal(signal.SIGTERM, before)
        assert not ended.value.code
        return bound.pop(), *capfd.readouterr()

    return listening


def test_by_default_only_this_machine_is_listened_to(listening):
    where, out, err = listening()
    assert where == ("127.0.0.1",)
    assert out.startswith("http://127.0.0.1:")
    assert "warning" not in err


def test_whoever_lets_others_in_is_warned(listening):
    where, _, err = listening("--host", "0.0.0.0")
    assert where == ("0.0.0.0",)
    assert "warning: " in err


def test_every_start_has_a_token_of_its_own_that_cannot_be_guessed(listening):
    tokens = {listening()[1].partition("?token=")[2].strip() for _ in range(3)}
    assert len(tokens) == 3
    assert all(len(token) >= 32 for token in tokens)
    assert not Access("a" * 32).knows("a" * 31)
