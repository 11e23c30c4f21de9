"""What the Python interface takes and refuses; nothing is trained here."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import runs
from searches import PROBLEM

import evopinn as ep
from evopinn.errors import EvopinnError, RunError, StoredModelError
from evopinn.run.config import Config
from evopinn.run.naming import request_digest
from evopinn.store.store import Store

SCHEDULE = ep.Schedule((2,), (1,))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def begun(monkeypatch):
    """Have searches end where they would begin: the configurations and problems that they were given."""
    given = []

    def begin(config, source, directory, _audience):
        given.append((config, source))
        Store.create(directory, config.toml(), runs.VERSIONS).close()
        return True

    monkeypatch.setattr("evopinn.run.session.begin", begin)
    return given


def search(problem="heat", **arguments):
    return ep.search(problem, **({"schedule": SCHEDULE, "progress": False} | arguments))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"problem": None}, r"\bproblem is None\b.* Problem\b.*\bcatalogue\b.*\.py\b"),
        ({"problem": 5}, r"\bproblem is 5\b.* Problem\b.*\bcatalogue\b.*\.py\b"),
        ({"schedule": ((8, 4), (1, 2))}, r"\bschedule is \(\(8, 4\), \(1, 2\)\).* Schedule\(.* Roster\("),
        ({"schedule": "quick"}, r"\bschedule is 'quick'.* Schedule\(.* Trials\(.* Roster\("),
        ({"settings": 5}, r"\bsettings = 5\b.*\btable\b"),
        ({"training": "adam"}, r"\btraining = 'adam'.* training\.optimizer\b.* training\.slowest\b"),
        ({"run": 5}, r"\brun is 5\b.*\bdirectory\b.*\bname\b"),
        ({"seed": 1.5}, r"\bseed = 1\.5.*\bwhole number\b"),
        ({"space": 5}, r"\bspace = 5\b.*\btext\b"),
        ({"workers": "2"}, r"\bworkers is '2'.*\bwhole number\b.*\b1\b"),
        ({"workers": 0}, r"\bworkers is 0\b.*\bat least 1\b"),
        ({"memory": 5}, r"\bworkers\.memory = 5\b.*\b100\b"),
        ({"deadline": "soon"}, r"'soon' .*\b20s\b.*\b2h\b"),
        ({"deadline": 0}, r"\bworkers\.deadline = 0\.0\b.*\bgreater than 0\b"),
        ({"run": ""}, r"\brun is ''.*\bdirectory\b.*\bname\b"),
    ],
)
def test_what_makes_no_sense_is_refused(begun, arguments, told):
    with pytest.raises(EvopinnError, match=told):
        search(**arguments)
    assert begun == []
    assert not list(Path().iterdir())


def test_a_run_that_makes_no_sense_is_refused():
    for take in (ep.resume, ep.load):
        with pytest.raises(RunError, match=r"\brun is 5\b.*\bdirectory\b.*\bname\b"):
            take(5)
    Store.create("run", runs.CONFIG, runs.VERSIONS).close()
    with pytest.raises(EvopinnError, match=r"^workers is '2'.*\bwhole number\b.*\b1\b"):
        ep.resume("run", workers="2")
    with pytest.raises(EvopinnError, match=r"\bproblem is 5\b.* Problem\b.*\.py\b"):
        ep.resume("run", problem=5)


def test_scalars_of_numpy_are_numbers(begun):
    settings = {
        "candidates": np.int64(1),
        "elitists": np.float64(0.5),
        "mutation": {"layers": np.float32(0.5)},
    }
    found = search(seed=np.int64(3), workers=np.int32(1), settings=settings)
    ((config, _),) = begun
    assert config.settings == {"candidates": 1, "elitists": 0.5, "mutation": {"layers": 0.5}}
    assert (config.seed, config.workers.count, found.seed) == (3, 1, 3)


def test_workers_may_be_limited(begun, monkeypatch):
    limits = {"memory": np.int64(2000), "deadline": "5 min"}
    search(run="mine", **limits)
    ((config, _),) = begun
    assert (config.workers.memory, config.workers.deadline) == (2000, 300.0)
    # The same search goes on with other limits: they are no part of what is asked.
    changed = []
    monkeypatch.setattr("evopinn.api._refuse_other_search", lambda *_: None)
    monkeypatch.setattr("evopinn.run.session.resume", lambda *arguments: changed.append(arguments[-1]))
    search(run="mine", memory=3000)
    search(run="mine", deadline=20, workers=2)
    assert changed == [{"memory": 3000}, {"deadline": 20.0, "count": 2}]


def test_a_file_may_be_given_as_a_path(begun):
    search(Path(PROBLEM))
    search(PROBLEM, run=Path("other"))
    (_, path), (_, text) = begun
    assert path == text


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (
            {"settings": {"candidates": 2, "elitists": 0.5}},
            {"settings": {"elitists": 0.5, "candidates": 2}},
            True,
        ),
        ({}, {"settings": {"elitists": 0.25}, "space": ""}, True),
        ({"workers": {"count": 1}}, {"workers": {"count": 2}}, True),
        ({}, {"settings": {"elitists": 0.5}}, False),
        ({}, {"seed": 1}, False),
    ],
)
def test_a_request_is_what_is_asked_and_not_how(first, second, same):
    one, other = (request_digest(Config.of({"problem": "heat"} | values), 1.0) for values in (first, second))
    assert (one == other) == same


def test_a_damaged_run_is_not_hidden(begun):
    search(run="mine")
    assert ep.load("mine").problem == "heat"
    Path("runs/mine/run.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(RunError, match=r"runs/mine: .*damaged"):
        ep.load("mine")


def test_an_unknown_name_is_neither_a_run_nor_a_network(begun):
    search(run="mine")
    with pytest.raises(StoredModelError, match=r"\bmain\.safetensors\b.* 'main'; .*\bmine\b"):
        ep.load("main")
    shutil.rmtree("runs")
    with pytest.raises(StoredModelError, match=r"\bmine\.safetensors\b.*'mine'"):
        ep.load("mine")
