"""What a dashboard tells of runs; also of broken and hostile ones."""

import contextlib
import json
import math
import shutil
import sqlite3
import statistics
import time

import pytest
from dashboards import make_client, make_evaluation, make_runs, records
from figured import GENOMES, HOSTILE, LOSSES, make_history, make_run

from evopinn.errors import RunError
from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.browser import Browser
from evopinn.store.directory import DATABASE
from evopinn.store.store import Store
from evopinn.training.status import MEANINGS
from evopinn.view.dashboard import listing as places
from evopinn.view.dashboard import queries
from evopinn.view.figures import FIGURES
from evopinn.view.run_tables import HALL_OF_FAME

MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def client(root):
    return make_client(root)


def test_all_runs_are_listed(client):
    done, half = sorted(records(client.get("/api/runs").json()["table"]), key=lambda run: run["key"])
    assert (done["state"], half["state"]) == ("finished", "stopped")
    assert (done["trained"], done["trainings"], half["trained"]) == (14, 14, 8)
    assert half["trainings"] > 8  # as planned
    # The winner has the better mean of two final evaluations: 0.1 and 0.3 beside 0.2 and 0.4.
    assert (done["loss"], done["mean_of"], half["loss"], half["mean_of"]) == (
        pytest.approx(0.2),
        "2",
        0.25,
        "1",
    )
    assert done["problem"] == "as its author calls it"


def test_no_runs_are_a_list_too(tmp_path):
    assert make_client(tmp_path / "later").get("/api/runs").json()["table"]["rows"] == []
    assert make_client(tmp_path).get("/api/runs").json()["table"]["rows"] == []


def test_a_run_can_be_the_directory_itself(root):
    client = make_client(root / "done")
    assert [row["key"] for row in client.get("/api/runs").json()["table"]["rows"]] == ["done"]
    assert client.get("/api/runs/done").json()["state"] == "finished"
    assert client.get("/api/runs/half").status_code == 404


def test_a_run_in_figures(client):
    run = client.get("/api/runs/done").json()
    first, second, final = run["generations"]
    finite = [loss for loss in LOSSES[1] if math.isfinite(loss)]
    assert [first["low"], first["median"], first["high"]] == statistics.quantiles(
        finite, n=4, method="inclusive"
    )
    assert (first["best"], second["best"], final["best"]) == (1.0, 0.125, 0.1)
    assert (first["asked"], first["settled"], first["failed"], first["effort"]) == (6, 6, 1, 10)
    assert final["kind"] == "final"
    assert run["planned"] == [[6, 10], [3, 20], [2, 40]]
    assert (run["trained"], run["failed"], run["asked"]) == (14, 1, 14)
    assert records(run["tables"]["hall_of_fame"])[0]["task"] == 10
    assert [each["mean_loss"] for each in records(run["tables"]["finalists"])] == [
        pytest.approx(0.2),
        pytest.approx(0.3),
    ]
    assert run["kept"] == [8, 10, 11, 12, 13]
    assert [each["kind"] for each in records(run["tables"]["failures"])] == ["not-finite"]
    assert [event["kind"] for event in run["events"]] == ["finished"]


def test_a_run_has_the_columns_and_the_figures_of_all_views(client):
    run = client.get("/api/runs/done").json()
    headers = [column["label"] for column in run["tables"]["hall_of_fame"]["columns"]]
    assert headers == [column.header for column in HALL_OF_FAME]
    task = client.get("/api/runs/done/tasks/8").json()
    listed = {"best": run["pictures"], "search": run["search_pictures"], "task": task["pictures"]}
    for page, pictures in listed.items():
        names = [name for name, row in FIGURES.items() if page in row.dashboard]
        assert [each["name"] for each in pictures] == names
        assert all(each["caption"] and each["words"] for each in pictures)


def test_what_has_not_changed_is_not_sent_again(tmp_path):
    make_run(tmp_path / "run", upto=8, finished=False)
    client = make_client(tmp_path)
    for address in ("/api/runs", "/api/runs/run", "/api/compare?run=run"):
        first = client.get(address)
        again = client.get(address, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    with Store.open(tmp_path / "run") as store:
        store.record([make_evaluation(8, 1e-3)])
        changed = [client.get(address) for address in ("/api/runs", "/api/runs/run", "/api/compare?run=run")]
    assert [each.status_code for each in changed] == [200] * 3
    assert records(changed[0].json()["table"])[0]["loss"] == 1e-3
    assert records(changed[0].json()["table"])[0]["state"] == "running"
    assert changed[1].json()["best"]["task"] == 8
    assert records(changed[2].json()["table"])[0]["progress"][-1] == [
        9,
        90,
        pytest.approx(8 * 9 / 2 + 1.0),
        1e-3,
    ]


def test_generations_that_are_over_are_read_once(tmp_path, monkeypatch):
    make_run(tmp_path / "run", upto=8, finished=False)
    client = make_client(tmp_path)
    read = []
    original = Browser.losses_from
    monkeypatch.setattr(
        Browser, "losses_from", lambda self, first: read.append(first) or original(self, first)
    )
    before = client.get("/api/runs/run").json()["generations"]
    with Store.open(tmp_path / "run") as store:
        store.record([make_evaluation(8, 0.75), make_evaluation(9, 0.5)])
    after = client.get("/api/runs/run").json()["generations"]
    assert read == [0, 6]
    assert after[0] == before[0]
    # Four losses, from which on there are quartiles.
    assert (before[1]["median"], after[1]["median"]) == (None, 0.5)


def test_another_run_in_the_same_place_is_another(tmp_path):
    client = make_client(tmp_path)
    make_run(tmp_path / "run", upto=8)
    assert records(client.get("/api/compare?run=run").json()["table"])[0]["trained"] == 8
    client.get("/api/runs/run")
    (tmp_path / "run").rename(tmp_path / ".gone")
    with Store.create(tmp_path / "run", 'problem = "heat"\nmethod = "random"\n', {}) as store:
        store.add_tasks([Task(0, 1, Genome.parse(GENOMES[0]), 10, 0, Origin(("initial",)))])
        store.record([make_evaluation(0, 5.0)])
    assert (
        records(client.get("/api/compare?run=run").json()["table"])[0]["progress"] == [[1, 10, 1.0, 5.0]] * 3
    )
    assert client.get("/api/runs/run").json()["generations"][0]["median"] is None


@pytest.mark.parametrize(("number", "status"), [("999", 409), ("-1", 422), ("x", 422), (str(2**80), 422)])
def test_a_task_that_is_none_is_told(client, number, status):
    assert client.get(f"/api/runs/done/tasks/{number}").status_code == status


def test_an_individual(client):
    data = client.get("/api/runs/done/tasks/8").json()
    made, parents = (each["parts"] for each in data["family"])
    assert made == ["change node"]
    assert [each["value"] for each in parents if not isinstance(each, str)] == [3, 1.0]
    assert [(each["task"], each["loss"]) for each in records(data["ancestors"])] == [(3, 1.0)]
    assert data["latex"] == Genome.parse(GENOMES[2]).activation.latex()
    assert records(data["attempts"])[0]["loss"] == 0.125
    assert data["history"]["losses"] == [
        [epoch, each] for epoch, each in enumerate(make_history(0.125).losses)
    ]
    assert data["history"]["errors"]["u"] == [[0, 0.2], [4, 0.0125]]
    assert data["kept"]
    facts = {each["name"]: each["parts"] for each in data["facts"]}
    assert facts["seed"] == ["8"]
    assert [each["value"] for each in facts["epochs"] if not isinstance(each, str)] == [10, 20]


def test_an_individual_that_is_not_over(client):
    data = client.get("/api/runs/half/tasks/9").json()
    assert (data["attempts"]["rows"], data["history"], data["kept"]) == ([], None, False)
    assert data["genome"] == GENOMES[0]


def test_a_long_course_is_thinned_and_keeps_its_end(tmp_path):
    with Store.create(tmp_path / "run", 'problem = "heat"\n', {}) as store:
        store.add_tasks([Task(0, 1, Genome.parse(GENOMES[0]), 5000, 0, Origin(("initial",)))])
        store.record([make_evaluation(0, 0.5, history=make_history(0.5, 1000))])
    losses = make_client(tmp_path).get("/api/runs/run/tasks/0").json()["history"]["losses"]
    assert len(losses) < 500
    assert losses[-1] == [1000, 0.5]


def test_many_generations_become_some_hundreds(tmp_path):
    with Store.create(tmp_path / "run", 'problem = "heat"\nmethod = "bo-fcnet"\n', {}) as store:
        genome, origin = Genome.parse(GENOMES[0]), Origin(("proposed",))
        store.add_tasks(
            [Task(number, number // 5 + 1, genome, 10 + number // 9, 0, origin) for number in range(5000)]
        )
        store.record([make_evaluation(number, 1.0 / (1 + number)) for number in range(5000)])
        final = Origin(("candidate",), (0,))
        store.add_tasks([Task(5000 + number, 1001, genome, 900, 0, final) for number in range(4)])
        store.record([make_evaluation(5000 + number, 0.5 + number) for number in range(4)])
    run = make_client(tmp_path).get("/api/runs/run").json()
    *batches, final = run["generations"]
    assert run["generation_count"] == 1001
    assert len(batches) <= 300
    assert {each["kind"] for each in batches} == {"batch"}
    assert sum(each["settled"] for each in batches) == 5000
    assert batches[-1]["best"] == 1 / 5000
    # Of one generation, which these are not: each has its own epochs and quartiles.
    assert {(each["effort"], each["median"]) for each in batches[:10]} == {(None, None)}
    assert (final["kind"], final["asked"], final["best"], final["effort"]) == ("final", 4, 0.5, 900)
    assert final["median"] == 2.0


def test_a_list_of_many_runs_is_remembered_as_a_whole(tmp_path, monkeypatch):
    """However many runs are looked at in turn, a list that has not changed reads none of them again."""
    make_run(tmp_path / "0")
    for name in "123":
        shutil.copytree(tmp_path / "0", tmp_path / name)
    read = []
    original = queries._overview
    monkeypatch.setattr(
        queries, "_overview", lambda directory: read.append(directory.name) or original(directory)
    )
    monkeypatch.setattr(queries, "_MOST_LOOKED_AT", 1)
    time.sleep(0.15)  # a file's time does not tell at once
    asked = queries.Queries(places.RunListing(tmp_path))
    first = asked.overview()
    assert asked.overview() == first
    assert sorted(read) == ["0", "1", "2", "3"]
    (tmp_path / "2").rename(tmp_path / ".gone")
    assert len(asked.overview()["table"]["rows"]) == 3
    (tmp_path / ".gone").rename(tmp_path / "2")
    assert asked.overview() == first
    assert read[4:] == ["2"]  # what was gone is forgotten


def test_a_list_of_many_runs_is_read_bit_by_bit(tmp_path):
    make_run(tmp_path / "0")
    for name in "12":
        shutil.copytree(tmp_path / "0", tmp_path / name)
    asked = queries.Queries(places.RunListing(tmp_path), patience=1e-9)
    waiting = [
        [row["key"] for row in asked.overview()["table"]["rows"] if row["more"]["state"] == "waiting"]
        for _ in range(3)
    ]
    assert waiting == [["2", "1"], ["2"], []]


def test_of_too_many_runs_to_compare_the_rest_is_named(client):
    names = [f"run={name}" for name in ("done", *"abcdefgh", "half")]
    answer = client.get(f"/api/compare?{'&'.join(names)}").json()
    assert len(answer["table"]["rows"]) == 8
    assert answer["left_out"] == ["h", "half"]


def test_a_course_begins_anew_where_there_are_more_points(tmp_path):
    with Store.create(tmp_path / "run", 'problem = "heat"\n', {}) as store:
        genome, origin = Genome.parse(GENOMES[0]), Origin(("initial",))
        for number, (coarseness, loss) in enumerate([(2.0, 1e-8), (1.0, 0.5), (1.0, 0.2), (2.0, 1e-9)]):
            store.add_tasks([Task(number, 1, genome, 10, 0, origin, coarseness=coarseness)])
            store.record([make_evaluation(number, loss)])
    (run,) = records(make_client(tmp_path).get("/api/compare?run=run").json()["table"])
    assert [(point[0], point[3]) for point in run["progress"]][:3] == [(1, 1e-8), (2, 0.5), (3, 0.2)]
    assert run["progress"][-1][3] == 0.2


@pytest.mark.parametrize("status", MEANINGS)
def test_what_a_status_means_is_told(tmp_path, status):
    with Store.create(tmp_path / "run", 'problem = "heat"\n', {}) as store:
        store.add_tasks([Task(0, 1, Genome.parse(GENOMES[0]), 10, 0, Origin(("initial",)))])
        store.record([make_evaluation(0, math.inf, status)])
    client = make_client(tmp_path)
    assert client.get("/api/runs/run/tasks/0").json()["facts"][0]["parts"] == [
        f"{status}: {MEANINGS[status]}"
    ]
    assert (
        records(client.get("/api/runs/run").json()["tables"]["failures"])[0]["what_happened_to_it"]
        == MEANINGS[status]
    )


def test_comparison(client):
    done, missing = records(client.get("/api/compare?run=done&run=missing").json()["table"])
    losses = [point[3] for point in done["progress"]]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == 0.1
    assert [point[0] for point in done["progress"]] == sorted(point[0] for point in done["progress"])
    assert missing["state"] == "unreadable"
    assert client.get("/api/compare").json()["table"]["rows"] == []


def damage(directory, kind):
    path = directory / DATABASE
    if kind == "text":
        path.write_text("no database")
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript(kind)


@pytest.mark.parametrize(
    "kind",
    [
        "text",
        "empty",
        "PRAGMA user_version = 99",
        "PRAGMA application_id = 1",
        "DROP TABLE tallies",
        "UPDATE run SET config = 'not = [toml'",
        "UPDATE evaluations SET errors = 'not json'",
        "UPDATE evaluations SET loss = 'many'",
        "UPDATE tasks SET operations = '5', parents = '{}'",
        "DELETE FROM run",
        "UPDATE run SET created = 9e999",
        "UPDATE run SET created = 'abc'",
        "UPDATE run SET config = 'recorded = 5'",
        "UPDATE run SET config = '[recorded]\nproblem = 2020-01-01'",
        "UPDATE run SET config = 'seed = inf'",
        "UPDATE run SET config = x'00ff'",
        "UPDATE run SET versions = '[1]'",
        "UPDATE run SET versions = '{\"a\": 1e999}'",
        "UPDATE evaluations SET ended = 9e999, started = 'now'",
        "UPDATE evaluations SET seconds = 9e999",
        "UPDATE evaluations SET note = x'00ff', errors = '[1]'",
        "UPDATE tasks SET genome = x'00ff'",
        f"UPDATE tasks SET genome = 'layers={'9' * 5000} neurons=3 shortcuts=none activation=tanh(x)'",
        "UPDATE tasks SET coarseness = 9e999, epochs = 9e999",
        "UPDATE tallies SET epochs = 9e999, seconds = 'x'",
        "UPDATE events SET time = 9e999, kind = x'00'",
    ],
)
def test_a_broken_run_is_told_and_the_others_are_shown(tmp_path, kind):
    make_run(tmp_path / "broken")
    make_run(tmp_path / "whole")
    damage(tmp_path / "broken", kind)
    client = make_client(tmp_path)
    states = {run["key"]: run for run in records(client.get("/api/runs").json()["table"])}
    assert states["whole"]["state"] == "finished"
    for rest in ("", "/settings", "/individuals", "/tasks/8", "/pictures/structure", "/pictures/formula"):
        answer = client.get(f"/api/runs/broken{rest}")
        assert answer.status_code in (200, 409), (rest, answer.text)
        assert answer.status_code == 200 or answer.json()["message"]
    compared = client.get("/api/compare?run=broken&run=whole")
    assert compared.status_code == 200
    assert records(compared.json()["table"])[1]["state"] == "finished"
    assert client.get("/runs/broken/downloads/evaluations").status_code in (200, 409)


def test_hostile_words_are_given_as_they_are(tmp_path):
    words = f"{MARKUP} {HOSTILE}"
    directory = tmp_path / f"run {MARKUP.replace('/', '')}"
    make_run(directory)
    changes = {
        "UPDATE tasks SET genome = ?, operations = ?": (words, json.dumps([words])),
        "UPDATE evaluations SET note = ?, status = ? WHERE task = 5": (words, words),
        "UPDATE tallies SET status = ? WHERE status = 'not-finite'": (words,),
        "UPDATE events SET kind = ?, text = ?": (words, words),
        "UPDATE run SET config = ?, versions = ?": (f"problem = '{words}'", json.dumps({words: words})),
    }
    with contextlib.closing(sqlite3.connect(directory / DATABASE)) as connection:
        for statement, values in changes.items():
            connection.execute(statement, values)
        connection.commit()
    client = make_client(tmp_path)
    name = directory.name.replace("%", "%25")
    for rest in ("", "/settings", "/individuals", "/tasks/5"):
        answer = client.get(f"/api/runs/{name}{rest}")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        assert json.dumps(words)[1:-1] in json.dumps(answer.json())
    assert MARKUP not in client.get(f"/runs/{name}").text
    told = client.get(f"/api/runs/{name}/tasks/5/pictures/structure")
    assert told.headers["content-type"] == "application/json"


def contents(directory):
    """All files but those that SQLite makes for its readers."""
    files = [path for path in directory.rglob("*") if path.is_file() and "sqlite-" not in path.name]
    return {path: path.read_bytes() for path in files}


def test_looking_changes_nothing(tmp_path):
    make_runs(tmp_path)
    before = contents(tmp_path)
    client = make_client(tmp_path)
    for address in ("/api/runs", "/api/runs/done", "/api/runs/done/tasks/8", "/runs/done/downloads/record"):
        assert client.get(address).status_code == 200
    assert contents(tmp_path) == before


def test_a_browser_of_nothing_says_so(tmp_path):
    with pytest.raises(RunError, match=str(tmp_path)):
        Browser(tmp_path / "nothing")
