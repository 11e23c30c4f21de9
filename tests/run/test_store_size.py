"""A run of a hundred thousand evaluations: fast to write and to read, and the writer stays small."""

import json
import resource
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
import runs
from runs import make_history, make_task
from simulated import make_evaluation
from starlette.testclient import TestClient

from evopinn.run.run_result import RunResult
from evopinn.store.browser import SORTS, Browser, Selection
from evopinn.store.reader import Reader
from evopinn.store.store import Store
from evopinn.view.dashboard.security import Access
from evopinn.view.dashboard.web_app import make_app

COUNT = 100_000
BATCH = 500
GENERATIONS = 20
STATUSES = ("finished", "finished", "finished", "converged", "not-finite", "crashed")


def generation_of(number):
    return 1 + number * GENERATIONS // COUNT


def resident_megabytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A large run, the seconds it took and the writer's memory after each tenth of it."""
    directory = tmp_path_factory.mktemp("large") / "run"
    history = make_history(0)
    memory = []
    since = time.perf_counter()
    with Store.create(directory, runs.CONFIG, runs.VERSIONS) as store:
        for first in range(0, COUNT, BATCH):
            numbers = range(first, first + BATCH)
            store.add_tasks(make_task(number, generation_of(number)) for number in numbers)
            store.record(
                [
                    make_evaluation(
                        number,
                        status=STATUSES[number % len(STATUSES)],
                        history=None if number % 10 else history,
                    )
                    for number in numbers
                ]
            )
            if first % (COUNT // 10) == 0:
                memory.append(resident_megabytes())
    return directory, time.perf_counter() - since, memory


def test_recording_is_fast_and_takes_no_memory(large):
    _, seconds, memory = large
    assert COUNT / seconds > 2000
    assert memory[-1] - memory[1] < 10


@pytest.mark.parametrize(
    "query",
    [
        lambda reader: reader.hall_of_fame(20),
        lambda reader: reader.finalists(),
        lambda reader: reader.state(),
        lambda reader: reader.counts(),
        lambda reader: reader.failures(),
        lambda reader: reader.fields(),
        lambda reader: reader.generations(),
        lambda reader: reader.page(after=COUNT // 2),
        lambda reader: reader.latest(),
        lambda reader: reader.history(COUNT // 2),
    ],
    ids=[
        *("hall of fame", "finalists", "state", "counts", "failures", "fields"),
        *("generations", "page", "latest", "history"),
    ],
)
def test_queries_are_fast(large, query):
    with Reader(large[0]) as reader:
        took = []
        for _ in range(5):
            since = time.perf_counter()
            query(reader)
            took.append(time.perf_counter() - since)
    assert min(took) < 0.05


@pytest.mark.parametrize("sort", SORTS)
def test_leafing_is_fast_also_far_behind(large, sort):
    selections = [Selection(sort), Selection(sort, descending=True), Selection(sort, after="0.001,70000")]
    selections += [Selection(sort, generation=7), Selection(sort, status="crashed")]
    with Browser(large[0]) as browser:
        for selection in selections:
            took = []
            for _ in range(3):
                since = time.perf_counter()
                assert browser.evaluations(selection, size=25).lines
                took.append(time.perf_counter() - since)
            assert min(took) < 0.2, selection


# Limits are eight times or more what is usual: a machine may be slow, but not become ten times as slow.
@pytest.mark.parametrize(
    ("question", "first", "again"),
    [
        ("/api/runs", 0.2, 0.07),
        ("/api/runs/run", 2.0, 0.07),
        ("/api/runs/run/individuals?sort=error", 0.5, 0.5),
        ("/api/compare?run=run", 3.0, 0.07),
    ],
)
def test_the_dashboard_answers_fast(large, question, first, again):
    cold, warm = [], []
    for _ in range(3):
        access = Access("token")
        app = make_app(large[0].parent, access)
        client = TestClient(app, base_url="http://127.0.0.1", cookies={access.cookie: "token"})
        for took in (cold, warm):
            since = time.perf_counter()
            assert client.get(question).status_code == 200
            took.append(time.perf_counter() - since)
    assert min(cold) < first
    assert min(warm) < again


def test_aggregates_agree_with_a_count_of_all(large):
    all_numbers = range(COUNT)
    with Reader(large[0]) as reader:
        counts = reader.counts()
        generations = reader.generations()
        best = reader.hall_of_fame(10)
    statuses = [STATUSES[number % len(STATUSES)] for number in all_numbers]
    assert counts == {status: statuses.count(status) for status in set(STATUSES)}
    losses = [make_evaluation(number).loss for number in all_numbers]
    assert len(generations) == GENERATIONS
    for summary in generations:
        own = [number for number in all_numbers if generation_of(number) == summary.generation]
        assert (summary.asked, summary.settled, summary.failed) == (len(own), len(own), 0)
        assert summary.best == min(losses[number] for number in own)
        assert summary.epochs == 100 * len(own)
        assert summary.seconds == pytest.approx(0.5 * len(own))
    keys = []
    for number in sorted(all_numbers, key=losses.__getitem__):
        key = make_task(number).genome.key
        if key not in keys:
            keys.append(key)
            assert best[len(keys) - 1].task == number
        if len(keys) == len(best):
            break


def test_listing_a_run_does_not_wait_for_torch(large):
    program = f"""
import sys
from evopinn.store.reader import Reader
from evopinn.run.run_result import RunResult
print(len(Reader({str(large[0])!r}).hall_of_fame()), "torch" in sys.modules)
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out == "10 False\n"


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
def test_show_answers_within_a_second(large, options):
    program = "from evopinn.cli import main; main()"
    command = [sys.executable, "-c", program, "show", str(large[0]), *options]
    took = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Its processor time, which other programs on the machine do not lengthen.
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert "100,000 networks" in out or json.loads(out)["trained"] == COUNT
    assert min(took) < 1


def test_rows_of_all_evaluations_take_no_memory(large):
    rows = RunResult(large[0]).evaluations()
    assert [row["task"] for row in islice(rows, COUNT // 10)] == list(range(COUNT // 10))
    before = resident_megabytes()
    assert sum(row["attempt"] for row in rows) == COUNT - COUNT // 10
    assert resident_megabytes() - before < 10
