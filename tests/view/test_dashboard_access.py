"""Who may look at a dashboard, from where, and at what."""

import contextlib
import errno
import os
import re
import signal
import socket
import subprocess
import sys
from urllib.parse import quote

import pytest
from dashboards import ORIGIN, TOKEN, make_client, make_place, records
from figured import make_run

from evopinn.errors import RunError
from evopinn.store.directory import DATABASE, LOCK, WEIGHTS, WriterLock, writer_of
from evopinn.view.dashboard.listing import RunListing, UnknownRunError
from evopinn.view.dashboard.queries import Queries
from evopinn.view.dashboard.security import Access

ADDRESSES = (
    "/",
    "/compare",
    "/runs/first",
    "/runs/first/tasks/1",
    "/runs/first/downloads/record",
    "/static/common.css",
    "/static/run.js",
    "/api/runs",
    "/api/runs/first",
    "/api/runs/first/individuals",
    "/api/runs/first/pictures/structure",
    "/nothing",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_place(tmp_path_factory.mktemp("place"))


@pytest.fixture(scope="module")
def client(root):
    return make_client(root)


@pytest.fixture(scope="module")
def stranger(root):
    return make_client(root, admitted=False)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("token", ["", "?token=", "?token=the-right-tokem", f"?token={TOKEN}x"])
def test_without_the_token_nothing_is_told(stranger, address, token):
    answer = stranger.get(address + token)
    assert answer.status_code == 401
    assert "first" not in answer.text
    assert "set-cookie" not in answer.headers


def test_a_stranger_is_told_where_the_address_is(stranger):
    assert "evopinn dashboard" in stranger.get("/").text
    assert "address" in stranger.get("/api/runs").json()["message"]


def test_a_cookie_that_is_not_the_token_is_refused(root):
    client = make_client(root, admitted=False)
    client.cookies.set("evopinn", "another")
    assert client.get("/").status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger):
    answer = stranger.get(f"/compare?run=a&token={TOKEN}&run=b")
    assert (answer.status_code, answer.headers["location"]) == (303, "/compare?run=a&run=b")
    cookie = answer.headers["set-cookie"].lower()
    assert TOKEN in cookie
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    stranger.cookies.clear()


@pytest.mark.parametrize(
    ("address", "location"),
    [
        ("/runs/%25", "/runs/%25"),
        ("/runs/a%252Fb", "/runs/a%252Fb"),
        ("/runs/a%3Fb%23c", "/runs/a%3Fb%23c"),
        ("/compare?run=&run=a", "/compare?run=&run=a"),
        ("/%5Cexample.org", "/%5Cexample.org"),
    ],
)
def test_the_way_in_leads_where_it_was_to(stranger, address, location):
    answer = stranger.get(f"{address}{'&' if '?' in address else '?'}token={TOKEN}")
    assert answer.headers["location"] == location
    stranger.cookies.clear()


def test_the_way_in_leads_nowhere_else(stranger):
    answer = stranger.get(f"http://127.0.0.1//example.org/?token={TOKEN}")
    assert answer.headers["location"] == "/example.org/"
    stranger.cookies.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8710", "localhost:1", "LOCALHOST", "[::1]:8710"])
def test_the_names_of_this_machine_are_answered(client, host):
    assert client.get("/api/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1.example.org", "localhost.example.org:8710", "", "192.168.0.1", "[::2]"]
)
def test_other_names_are_not_even_with_the_token(client, host):
    """Whoever has a name of theirs point to this machine gets nothing."""
    assert client.get("/api/runs", headers={"Host": host}).status_code == 400
    assert client.get(f"/?token={TOKEN}", headers={"Host": host}).status_code == 400


def test_where_all_may_come_numbers_are_answered_and_names_are_not(root):
    client = make_client(root, access=Access(TOKEN, frozenset({"mine"}), any_address=True))
    statuses = [
        client.get("/", headers={"Host": host}).status_code
        for host in ("192.168.0.1:80", "mine", "example.org")
    ]
    assert statuses == [200, 200, 400]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://example.org"},
        {"Origin": "https://127.0.0.1"},
        {"Origin": "null"},
        ORIGIN | {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_what_changes_something_must_come_from_our_own_pages(client, headers, monkeypatch):
    asked = []
    monkeypatch.setattr("evopinn.view.dashboard.web_app.stop_run", lambda *_: asked.append(1))
    assert client.post("/api/runs/first/stop", headers=headers).status_code == 403
    assert not asked


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_get_no_data_even_of_the_same_machine(client, site):
    """The cookie is sent to all ports of a machine; for some data a problem's file is run."""
    headers = {"Sec-Fetch-Site": site}
    for address in (
        "/api/runs",
        "/api/runs/first/pictures/solution?load=true",
        "/runs/first/downloads/report",
        "/runs/first/downloads/networks/8",
    ):
        assert client.get(address, headers=headers).status_code == 403
    assert client.get("/runs/first", headers=headers).status_code == 200  # a link in a notebook
    for ours in ("same-origin", "none"):
        assert client.get("/api/runs", headers={"Sec-Fetch-Site": ours}).status_code == 200


def test_a_run_is_not_stopped_by_looking(client):
    assert client.get("/api/runs/first/stop").status_code == 405


def test_a_stranger_stops_nothing(stranger):
    assert stranger.post("/api/runs/first/stop", headers=ORIGIN).status_code == 401


def test_a_run_that_does_not_run_cannot_be_stopped(client):
    answer = client.post("/api/runs/first/stop", headers=ORIGIN)
    assert answer.status_code == 409
    assert "not running" in answer.json()["message"]


def test_every_answer_says_what_a_browser_must_not_do(client, stranger, monkeypatch):
    def fail(_self):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Queries, "overview", fail)
    answers = [client.get("/"), client.get("/nothing"), stranger.get("/"), client.get("/api/runs")]
    assert [answer.status_code for answer in answers] == [200, 404, 401, 500]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert "terminal" in answers[-1].json()["message"]
    assert "secret detail" not in answers[-1].text


def test_no_page_has_a_script_or_an_address_of_another_site(client):
    for address in ("/", "/runs/first", "/runs/first/tasks/1", "/compare"):
        text = client.get(address).text
        assert "http" not in text
        assert "<script>" not in text
    for name in ("common.css", "dashboard.css", "icon.svg", "run.js", "charts.js"):
        text = client.get(f"/static/{name}").text.replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text
        assert "innerHTML" not in text


@pytest.mark.parametrize(
    "name",
    [
        "%2e%2e",
        "..%2felsewhere%2fsecret",
        "..%5celsewhere",
        "%2e%2e%2felsewhere%2fsecret",
        "..%252felsewhere%252fsecret",
        "%2Fetc",
        "first%2f..%2f..%2felsewhere%2fsecret",
        "first%00",
        ".first",
        "x" * 300,
        "nothing",
    ],
)
@pytest.mark.parametrize("rest", ["", "/settings", "/tasks/1", "/individuals"])
def test_nothing_outside_of_the_directory_is_shown(client, name, rest):
    answer = client.get(f"/api/runs/{name}{rest}")
    assert answer.status_code in (404, 405)
    assert "secret" not in answer.text.replace(name, "").replace("elsewhere/secret", "")


@pytest.mark.parametrize("name", ["", ".", "..", "../elsewhere/secret", "/etc", "a\0b", "first/", "first\\"])
def test_a_name_is_that_of_something_right_below(root, name):
    with pytest.raises(UnknownRunError, match=re.escape(repr(name))):
        RunListing(root).find(name)


def test_links_that_lead_out_are_listed_and_refused(tmp_path):
    runs, elsewhere = tmp_path / "runs", tmp_path / "elsewhere"
    make_run(runs / "inside")
    make_run(elsewhere / "secret")
    (runs / "link").symlink_to(elsewhere / "secret")
    (runs / "half").mkdir()
    (runs / "half" / DATABASE).symlink_to(elsewhere / "secret" / DATABASE)
    (runs / "again").symlink_to(runs / "inside")
    client = make_client(runs)
    states = {run["key"]: run["state"] for run in records(client.get("/api/runs").json()["table"])}
    assert states == {"inside": "finished", "again": "finished", "link": "unreadable", "half": "unreadable"}
    for name in ("link", "half"):
        for rest in ("", "/settings", "/tasks/1"):
            answer = client.get(f"/api/runs/{name}{rest}")
            assert answer.status_code == 404
            assert "outside" in answer.json()["message"]
        assert client.get(f"/runs/{name}/downloads/record").status_code == 404


@pytest.mark.parametrize(
    "part", [f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK, WEIGHTS, f"{WEIGHTS}/00000008.json"]
)
def test_a_part_of_a_run_that_leads_out_is_refused(tmp_path, part):
    runs, secret = tmp_path / "runs", tmp_path / "elsewhere" / "secret"
    make_run(runs / "inside")
    make_run(secret)
    (secret / part).touch()
    path = runs / "inside" / part
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.symlink_to(secret / part)
    client = make_client(runs)
    assert [run["state"] for run in records(client.get("/api/runs").json()["table"])] == ["unreadable"]
    addresses = [f"/api/runs/inside{rest}" for rest in ("", "/tasks/8", "/pictures/solution")]
    for address in (*addresses, "/runs/inside/downloads/report", "/runs/inside/downloads/networks/8"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "outside" in answer.json()["message"]
    assert client.post("/api/runs/inside/stop", headers=ORIGIN).status_code == 404


@contextlib.contextmanager
def holding(path, text):
    """A process that has a lock and says who it is."""
    program = (
        "import fcntl, sys, time\nfile = open(sys.argv[1], 'w')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
        "file.write(sys.argv[2])\nfile.flush()\nprint('held', flush=True)\ntime.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, path, text], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", ["0", "-1", "one", "9" * 30])
def test_a_lock_that_names_no_process_ends_none(tmp_path, number, monkeypatch):
    """Zero and less would be this process with all its like."""
    make_run(tmp_path / "run", upto=8, finished=False)
    killed = []
    with (
        holding(tmp_path / "run" / LOCK, f"{number} {socket.gethostname()}"),
        monkeypatch.context() as patched,
    ):
        patched.setattr("os.kill", lambda *process: killed.append(process))
        assert make_client(tmp_path).post("/api/runs/run/stop", headers=ORIGIN).status_code == 409
    assert not killed


def test_the_lock_of_another_run_ends_nobody(tmp_path):
    for name in "ab":
        make_run(tmp_path / name, upto=8, finished=False)
    (tmp_path / "a" / LOCK).unlink()
    (tmp_path / "a" / LOCK).symlink_to(tmp_path / "b" / LOCK)
    with holding(tmp_path / "b" / LOCK, f"1 {socket.gethostname()}"):
        table = make_client(tmp_path).get("/api/runs").json()["table"]
        states = {run["key"]: run["state"] for run in records(table)}
        assert states == {"a": "stopped", "b": "running"}
        assert writer_of(tmp_path / "a") is None
    with pytest.raises(RunError, match="symbolic links"):
        WriterLock(tmp_path / "a")


def test_a_lock_that_is_a_pipe_is_not_waited_for(tmp_path):
    make_run(tmp_path / "run")
    (tmp_path / "run" / LOCK).unlink()
    os.mkfifo(tmp_path / "run" / LOCK)
    assert records(make_client(tmp_path).get("/api/runs").json()["table"])[0]["state"] == "finished"
    with pytest.raises(RunError, match=LOCK):
        WriterLock(tmp_path / "run")


def test_a_network_that_lies_elsewhere_is_not_given_away(tmp_path):
    make_run(tmp_path / "runs" / "first")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    for ending in ("json", "safetensors"):
        (tmp_path / "runs" / "first" / WEIGHTS / f"00000008.{ending}").symlink_to(secret)
    answer = make_client(tmp_path / "runs").get("/runs/first/downloads/networks/8")
    assert answer.status_code == 404
    assert "secret" not in answer.json()["message"]


def test_a_name_that_is_not_text_is_told(tmp_path):
    make_run(tmp_path / "runs" / "first")
    (tmp_path / "runs" / "first").rename(tmp_path / "runs" / os.fsdecode(b"\xff"))
    (run,) = make_client(tmp_path / "runs").get("/api/runs").json()["table"]["rows"]
    assert (run["key"], run["more"]["state"]) == ("\ufffd", "unreadable")
    assert "not UTF-8" in run["reason"]


def test_a_strange_name_is_a_name_like_others(tmp_path):
    name = "<b>&?# ’\"'; 中"
    make_run(tmp_path / "runs" / name)
    client = make_client(tmp_path / "runs")
    assert client.get("/api/runs").json()["table"]["rows"][0]["key"] == name
    assert client.get(f"/api/runs/{quote(name, safe='')}").json()["name"] == name
    attached = client.get(f"/runs/{quote(name, safe='')}/downloads/record").headers["content-disposition"]
    assert attached == f"attachment; filename*=UTF-8''{quote(f'{name}-run.sqlite', safe='')}"


@pytest.fixture
def run(capfd, monkeypatch):
    """The command line: exit code, standard output, standard error."""
    from evopinn.cli import main

    def run(*words):
        monkeypatch.setattr("sys.argv", ["evopinn", *map(str, words)])
        before = signal.getsignal(signal.SIGTERM)
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code
        finally:
            signal.signal(signal.SIGTERM, before)
        return (code, *capfd.readouterr())

    return run


def test_a_port_that_is_taken_is_told(run, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = run("dashboard", tmp_path, "--port", port)
    assert (code, out) == (2, "")
    assert all(word in err for word in (str(port), "127.0.0.1", os.strerror(errno.EADDRINUSE), "--port 0"))


def test_a_host_that_is_none_is_told(run, tmp_path):
    code, _, err = run("dashboard", tmp_path, "--host", "no.such.host.invalid", "--port", 0)
    assert code == 2
    assert "'no.such.host.invalid'" in err


def test_a_file_is_no_directory_of_runs(run, tmp_path):
    (tmp_path / "file").touch()
    code, _, err = run("dashboard", tmp_path / "file")
    assert code == 2
    assert re.match(rf"error: {tmp_path}/file .*\bfile\b.* directory\b", err)


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True), ("::1", False)])
def test_the_address_is_printed_and_a_public_one_warned_of(run, tmp_path, monkeypatch, host, warned):
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    monkeypatch.setattr("os.nice", lambda _: 0)
    code, out, err = run("dashboard", tmp_path / "later", "--host", host, "--port", 0)
    if code and host == "::1":
        pytest.skip("this machine has no IPv6")
    assert code == 0
    shown = {"127.0.0.1": "127.0.0.1", "0.0.0.0": socket.gethostname(), "::1": "[::1]"}[host]
    assert out.startswith(f"http://{shown}:")
    assert len(out.partition("?token=")[2].strip()) >= 32
    assert ("warning: " in err) == warned
    assert str(tmp_path / "later") in err.splitlines()[0]  # that there is no such directory yet
