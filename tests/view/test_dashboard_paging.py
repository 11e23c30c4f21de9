"""All individuals of a run, a page at a time."""

import math

import numpy as np
import pytest
from dashboards import make_client, make_evaluation, make_runs, records
from figured import GENOMES, make_run

from evopinn.genome import Genome
from evopinn.search.task import Origin, Task
from evopinn.store.browser import SORTS, Browser, Selection
from evopinn.store.store import Store


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def client(root):
    return make_client(root)


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    """A run with ties, failures of all kinds and attempts that were made again."""
    directory = tmp_path_factory.mktemp("varied") / "varied"
    rng = np.random.default_rng(0)
    with Store.create(directory, 'problem = "heat"\nmethod = "random"\n', {}) as store:
        for number in range(120):
            origin = Origin(("initial",))
            store.add_tasks(
                [Task(number, 1 + number // 30, Genome.parse(GENOMES[number % 3]), 10, 0, origin)]
            )
            loss = [float(rng.integers(1, 9)) / 8, math.inf, math.nan][int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
            errors = {"u": loss, "v": float(rng.integers(1, 4))} if number % 5 else {}
            if number % 11 == 0:
                store.record([make_evaluation(number, math.inf, "crashed", final=False)])
            status = "finished" if math.isfinite(loss) else "not-finite"
            store.record([make_evaluation(number, loss, status, errors=errors, seconds=float(number % 7))])
    return directory


def value(line, sort):
    found = getattr(line, sort)
    return math.inf if found is None or math.isnan(found) else found


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize(
    "chosen", [{}, {"status": "finished"}, {"generation": 2}, {"status": "crashed", "generation": 1}]
)
def test_leafing_through_all_pages_shows_each_row_once_in_order(varied, sort, descending, chosen):
    with Browser(varied) as browser:
        everything = browser.evaluations(Selection(), size=1000).lines
        wanted = [
            line for line in everything if all(getattr(line, name) == each for name, each in chosen.items())
        ]
        lines, after = [], ""
        while True:
            page = browser.evaluations(Selection(sort, descending, after=after, **chosen), size=7)
            assert page.total == len(wanted)
            lines += page.lines
            if page.following is None:
                break
            assert len(page.lines) == 7
            after = page.following
    assert len(everything) == 131
    assert {(line.task, line.attempt) for line in lines} == {(line.task, line.attempt) for line in wanted}
    assert len(lines) == len(wanted)
    values = [value(line, sort) for line in lines]
    assert values == sorted(values, reverse=descending)


def test_pages_do_not_move_when_rows_are_added(tmp_path):
    make_run(tmp_path / "run", upto=8, finished=False)
    with Browser(tmp_path / "run") as browser:
        first = browser.evaluations(Selection("loss"), size=3)
        with Store.open(tmp_path / "run") as store:
            store.record([make_evaluation(8, 1e-9)])
        second = browser.evaluations(Selection("loss", after=first.following), size=3)
    assert [line.loss for line in [*first.lines, *second.lines]] == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]


def test_individuals_are_given_page_by_page(client):
    page = client.get("/api/runs/done/individuals?sort=loss&descending=true&status=finished").json()
    assert page["total"] == 13
    assert [row["loss"] for row in records(page["table"])][:3] == [16.0, 8.0, 4.0]
    assert page["statuses"] == {"finished": 13, "not-finite": 1}
    assert page["following"] is None
    failed = records(client.get("/api/runs/done/individuals?status=not-finite").json()["table"])
    assert [(row["task"], row["loss"]) for row in failed] == [(5, None)]


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("sort=genome", 404),
        ("sort=loss;DROP TABLE tasks", 404),
        ("after=x", 409),
        ("after=nan,1", 409),
        ("after=1", 409),
        (f"after=1,{2**70}", 409),
        ("generation=x", 422),
        ("generation=-1", 422),
        ("descending=perhaps", 422),
    ],
)
def test_a_question_that_makes_no_sense_is_told(client, question, status):
    answer = client.get(f"/api/runs/done/individuals?{question}")
    assert answer.status_code == status
    assert answer.json()["message"].endswith((".", "?"))
