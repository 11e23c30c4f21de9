"""Pictures and files that a dashboard makes of a run."""

import io
import zipfile

import pytest
from dashboards import make_client, make_network, make_runs
from figured import NETWORK, make_run

import evopinn as ep
from evopinn.genome import Genome
from evopinn.run.place import DATABASE, WEIGHTS
from evopinn.run.reading import Reader
from evopinn.view.dashboard.drawings import Drawings, Sitter


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
    answer = client.get(f"/api/runs/{run}/tasks/{task}/pictures/solution")
    assert "has not kept" in answer.json()["message"]


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
    assert "has to be run" in answer.json()["message"]
    assert not marker.exists()
    assert client.get("/api/runs/run/pictures/error?load=true").headers["content-type"] == "image/png"
    assert marker.exists()
    file.unlink()
    gone = client.get("/api/runs/run/pictures/solution?load=true")
    assert "cannot be had again" in gone.json()["message"]


def test_a_picture_is_drawn_once_and_old_ones_give_way(root, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "evopinn.view.dashboard.drawings._drawn", lambda _, kind: drawn.append(kind) or b"x" * 40
    )
    drawings = Drawings(room=100)
    sitters = [Sitter(root / "done", task, may_load=False) for task in range(4)]
    for sitter in (sitters[0], sitters[0], sitters[1], sitters[0], sitters[2], sitters[0], sitters[1]):
        drawings.picture("structure", sitter)
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


def test_weights_that_are_lost_are_told(tmp_path, network):
    make_run(tmp_path / "run", weights=network)
    for path in (tmp_path / "run" / WEIGHTS).iterdir():
        path.unlink()
    client = make_client(tmp_path)
    assert client.get("/api/runs/run").json()["kept"] == []
    assert "has not kept" in client.get("/api/runs/run/pictures/solution").json()["message"]
    assert client.get("/api/runs/run/pictures/structure").headers["content-type"] == "image/svg+xml"
