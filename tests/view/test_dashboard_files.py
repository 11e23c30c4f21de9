"""Pictures and files that a dashboard makes of a run."""

import contextlib
import errno
import io
import re
import shutil
import signal
import sqlite3
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import uvicorn
from dashboards import make_client, make_evaluation, make_network, make_runs, started
from figured import NETWORK, make_run

import evopinn as ep
from evopinn.errors import FigureError
from evopinn.genome import Genome
from evopinn.store.directory import DATABASE, WEIGHTS
from evopinn.store.reader import Reader
from evopinn.store.store import Store
from evopinn.view.dashboard import server as serving
from evopinn.view.dashboard.picture_cache import PictureCache, PictureRequest
from evopinn.view.dashboard.sandbox import Sandbox
from evopinn.view.figures.pictures import Picture
from evopinn.workers.problem_source import fingerprint


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def client(root):
    return make_client(root)


@pytest.fixture(scope="module")
def network():
    return make_network()


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("structure", "image/svg+xml"),
        ("formula", "image/svg+xml"),
        ("tree", "image/svg+xml"),
        ("activation", "image/png"),
        ("solution", "image/png"),
        ("error", "image/png"),
        ("lineage", "image/png"),
        ("failures", "image/svg+xml"),
    ],
)
def test_pictures_of_the_best(client, what, kind):
    answer = client.get(f"/api/runs/done/pictures/{what}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert answer.content[:8] == b"\x89PNG\r\n\x1a\n" or b"<svg" in answer.content


@pytest.mark.parametrize(("run", "task"), [("done", 0), ("half", 9)])
def test_a_network_that_was_not_kept_is_drawn_from_its_genome(client, run, task):
    for what in ("structure", "formula", "activation"):
        address = f"/api/runs/{run}/tasks/{task}/pictures/{what}"
        assert client.get(address).headers["content-type"].startswith("image/")
    message = client.get(f"/api/runs/{run}/tasks/{task}/pictures/solution").json()["message"]
    assert re.search(rf"\brun \S*/{run} .*\btask {task}\b", message)
    assert ("8, 10, 11" in message) == (run == "done")  # those that were kept


def test_figures_of_a_search_are_drawn_anew_when_it_has_gone_on(tmp_path, network):
    make_run(tmp_path / "run", upto=8, finished=False, weights=network)
    client = make_client(tmp_path)
    first, again = (client.get("/api/runs/run/pictures/cost").content for _ in range(2))
    assert first == again
    with Store.open(tmp_path / "run") as store:
        store.record([make_evaluation(8, 1e-9)])
    assert client.get("/api/runs/run/pictures/cost").content != first
    message = client.get("/api/runs/run/tasks/8/pictures/cost").json()["message"]
    assert re.search(r"\bsearch\b.*\bnetwork\b", message)


def test_a_picture_that_is_none_is_told(client):
    assert client.get("/api/runs/done/pictures/nothing").status_code == 404
    assert "no task 99" in client.get("/api/runs/done/tasks/99/pictures/structure").json()["message"]


def test_a_problem_file_is_run_only_when_that_was_asked_for(tmp_path, network):
    marker, file = tmp_path / "marker", tmp_path / "mine.py"
    file.write_text(
        f"from pathlib import Path\n\nimport evopinn as ep\n\nPath({str(marker)!r}).touch()\n"
        "problem = ep.find_problem('heat')\n"
    )
    make_run(tmp_path / "runs" / "run", problem=str(file), weights=network)
    client = make_client(tmp_path / "runs")
    assert client.get("/api/runs/run").json()["has_problem_file"]
    for what in ("structure", "activation", "solution"):
        answer = client.get(f"/api/runs/run/pictures/{what}")
    assert str(file) in answer.json()["message"]
    assert not marker.exists()
    assert client.get("/api/runs/run/pictures/error?load=true").headers["content-type"] == "image/png"
    assert marker.exists()
    file.unlink()
    gone = client.get("/api/runs/run/pictures/solution?load=true")
    assert str(file) in gone.json()["message"]


def make_file(path, more=""):
    """A problem's file: the heat equation, and what else it is to do."""
    path.write_text(f"import evopinn as ep\n\n{more}\nproblem = ep.find_problem('heat')\n")
    return path


def record(directory, **numbers):
    """Write into what a run has recorded of itself."""
    with contextlib.closing(sqlite3.connect(directory / DATABASE)) as connection:
        for name, number in numbers.items():
            text = f"{name} = {number!r}\n"
            connection.execute("UPDATE run SET config = config || ?", (text,))
        connection.commit()


@pytest.mark.parametrize("source", ["heat", "file"])
def test_a_problem_that_has_changed_is_not_drawn_with(tmp_path, network, source):
    file = make_file(tmp_path / "mine.py")
    make_run(tmp_path / "runs" / "run", problem=file if source == "file" else source, weights=network)
    record(tmp_path / "runs" / "run", fingerprint=0.125)
    client = make_client(tmp_path / "runs")
    answer = client.get("/api/runs/run/pictures/solution?load=true")
    message = answer.json()["message"]
    assert re.search(r"\bproblem heat\b.*\blosses\b.*\boriginal\b", message)


def test_a_changed_file_is_run_again(tmp_path, network):
    file = make_file(tmp_path / "mine.py")
    make_run(tmp_path / "runs" / "run", problem=file, weights=network)
    record(tmp_path / "runs" / "run", fingerprint=fingerprint(ep.find_problem("heat")))
    client = make_client(tmp_path / "runs")
    address = "/api/runs/run/pictures/solution?load=true"
    assert client.get(address).headers["content-type"] == "image/png"
    make_file(file, more="raise ValueError('as it is now')")
    assert "as it is now" in client.get(address).json()["message"]


@pytest.mark.parametrize(
    ("program", "limit", "told"),
    [
        ("import time; time.sleep(1e6)", 2.0, "took more than 2 s"),
        ("import os; os._exit(3)", 60.0, "exit code 3"),
    ],
)
def test_a_file_that_comes_to_no_end_is_given_up(tmp_path, network, program, limit, told):
    file = make_file(tmp_path / "mine.py", more=program)
    make_run(tmp_path / "runs" / "run", problem=file, weights=network)
    client = make_client(tmp_path / "runs", limit=limit)
    answer = client.get("/api/runs/run/pictures/solution?load=true")
    assert answer.status_code == 200
    assert told in answer.json()["message"]


def test_a_file_that_hangs_holds_up_nobody_and_ctrl_c_ends_all(tmp_path, network):
    marker = tmp_path / "marker"
    forever = f"import os, time; open({str(marker)!r}, 'w').write(str(os.getpid())); time.sleep(1e6)"
    file = make_file(tmp_path / "mine.py", more=forever)
    make_run(tmp_path / "runs" / "run", problem=file, weights=network)
    with started(tmp_path / "runs") as (process, address):
        get = partial(ask, address)
        asked = [
            f"/api/runs/run/tasks/{task}/pictures/{what}?load=true"
            for task in (8, 10, 11, 12, 13)
            for what in ("solution", "error", "activation") * 3
        ]
        with ThreadPoolExecutor(len(asked)) as others:
            waiting = [others.submit(get, each) for each in [*asked, "/runs/run/downloads/report"]]
            wait_until(marker.exists)
            assert b'"text":"run"' in get("/api/runs")
            assert b"<svg" in get("/api/runs/run/pictures/formula")
            process.send_signal(signal.SIGINT)
            process.wait(20)
            for each in waiting:
                with contextlib.suppress(OSError, HTTPException):
                    each.result()
    # What it had started is gone too.
    wait_until(lambda: not Path(f"/proc/{marker.read_text()}").exists())


def test_the_second_ctrl_c_ends_whatever_is_under_way(monkeypatch):
    server = serving._Server(uvicorn.Config(lambda: None), threading.Event())
    ended = []
    monkeypatch.setattr("os._exit", ended.append)
    server.handle_exit(signal.SIGINT, None)
    assert server.should_exit
    assert not ended
    server.handle_exit(signal.SIGINT, None)
    assert ended == [130]


def test_other_pictures_are_not_waited_for_without_end(root):
    drawings = PictureCache(Sandbox(threading.Event()), patience=0.05)
    with drawings._drawing, pytest.raises(FigureError, match="pictures"):
        drawings.picture(PictureRequest("structure", root / "done", 8, run_file=False))


def ask(address, path):
    """What a dashboard answers to somebody who knows its address."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.netloc, timeout=60)
    with contextlib.closing(connection):
        token = parse_qs(parts.query)["token"][0]
        connection.request("GET", path, headers={"Cookie": f"evopinn-{parts.port}={token}"})
        return connection.getresponse().read()


def wait_until(condition, seconds=60):
    last = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < last
        time.sleep(0.05)


def test_a_picture_is_drawn_once_and_old_ones_give_way(root, monkeypatch):
    drawn = []

    def picture(row, _):
        drawn.append(row.name)
        return Picture(row.name, row.title, row.caption, row.kind, b"x" * 40, 1.0)

    monkeypatch.setattr("evopinn.view.dashboard.picture_cache.picture", picture)
    drawings = PictureCache(Sandbox(threading.Event()), room=100)
    for task in (0, 0, 1, 0, 2, 0, 1):
        drawings.picture(PictureRequest("structure", root / "done", task, run_file=False))
    # Room for two: the third takes the place of the second, which is drawn anew.
    assert len(drawn) == 4


def test_a_network_is_given_away_whole(client, tmp_path):
    answer = client.get("/runs/done/downloads/networks/10")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
    assert str(ep.load(tmp_path / "done-10").genome) == str(Genome.parse(NETWORK))
    assert client.get("/runs/done/downloads/networks/0").status_code == 404


def test_evaluations_and_the_record_are_given_away(client, root, tmp_path):
    table = client.get("/runs/done/downloads/evaluations").text.splitlines()
    assert len(table) == 15
    assert table[0].startswith("task,attempt,final")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / DATABASE).write_bytes(client.get("/runs/done/downloads/record").content)
    with Reader(tmp_path / "copy") as copy, Reader(root / "done") as original:
        assert copy.page() == original.page()
        assert copy.state() == "finished"
    assert client.get("/runs/done/downloads/nothing").status_code == 404


def test_the_report_is_given_away(client):
    answer = client.get("/runs/half/downloads/report")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''half.html"
    assert "as its author calls it" in answer.text


@pytest.mark.parametrize("looked", [False, True])
def test_weights_that_are_lost_are_told(tmp_path, network, looked):
    make_run(tmp_path / "run", weights=network)
    client = make_client(tmp_path)
    if looked:
        time.sleep(0.15)  # a file's time does not tell at once
        assert client.get("/api/runs/run").json()["kept"] == [8, 10, 11, 12, 13]
    for path in (tmp_path / "run" / WEIGHTS).iterdir():
        path.unlink()
    assert client.get("/api/runs/run").json()["kept"] == []
    message = client.get("/api/runs/run/pictures/solution").json()["message"]
    assert re.search(r"\btask 10\b.*: none", message)
    assert client.get("/api/runs/run/pictures/structure").headers["content-type"] == "image/svg+xml"


def test_files_that_are_none_of_ours_are_no_weights(tmp_path, network):
    make_run(tmp_path / "run", weights=network)
    for name in ("0x.json", "1.json", "notes.json", "00000099.json~"):
        (tmp_path / "run" / WEIGHTS / name).touch()
    client = make_client(tmp_path)
    assert client.get("/api/runs/run").json()["kept"] == [8, 10, 11, 12, 13]
    assert client.get("/api/runs/run/pictures/structure").headers["content-type"] == "image/svg+xml"


def test_files_that_go_while_they_are_read_are_told(tmp_path, network, monkeypatch):
    make_run(tmp_path / "run", weights=network)
    client = make_client(tmp_path)

    def gone(path):
        raise FileNotFoundError(errno.ENOENT, "No such file", str(path))

    monkeypatch.setattr(Path, "read_bytes", gone)
    answer = client.get("/runs/run/downloads/networks/8")
    assert (answer.status_code, "weights" in answer.json()["message"]) == (409, True)
    shutil.rmtree(tmp_path / "run" / WEIGHTS)
    (tmp_path / "run" / WEIGHTS).touch()
    assert client.get("/api/runs/run").json()["kept"] == []


def test_a_report_of_a_genome_beyond_all_measure_is_told(tmp_path):
    make_run(tmp_path / "run")
    with contextlib.closing(sqlite3.connect(tmp_path / "run" / DATABASE)) as connection:
        connection.execute("UPDATE tasks SET genome = ?", (f"layers={'9' * 5000} neurons=3 activation=x",))
        connection.commit()
    client = make_client(tmp_path)
    for address in ("/runs/run/downloads/report", "/api/runs/run/pictures/structure"):
        answer = client.get(address)
        assert answer.status_code in (200, 409)
