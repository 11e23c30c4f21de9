"""A problem's residual that misbehaves in workers: once, for some genomes, always."""

import json
import re

import pytest
from searches import FAULTY, assert_same_end, attempts, command

from evopinn.store.reader import Reader

ONCE = {
    "segfault": ("crashed", "it was killed by SIGSEGV"),
    "leave": ("crashed", "it ended with exit code 3"),
    "hang": ("deadline", "cut by wall clock: it was not done after 10 s and was killed"),
    "eat": ("memory", ""),
    "gulp": ("memory", "Traceback"),
    "garbage": ("garbage", "a message of 18446744073709551615 bytes was announced"),
    "nonsense": ("garbage", "a result that makes no sense: 'nonsense'"),
    "chatter": None,
}
"""What is recorded of each fault, if anything."""

RAISED = re.compile(
    r"the residual raised ZeroDivisionError: by zero, of course \(.*faulty_problem\.py, line \d+\)\.$"
)
LIMITS = ("--deadline", "10s", "--memory", "1000", "--quiet")


@pytest.fixture
def search(run, tmp_path, monkeypatch):
    """Search with a residual that has faults: the directory, and what the command says."""

    def search(faults):
        monkeypatch.setenv("EVOPINN_FAULTS", json.dumps(faults))
        words = command(tmp_path / "run", "evo-dpste", workers=2, problem=FAULTY)
        return tmp_path / "run", *run(*map(str, words), *LIMITS)

    return search


def first_generation(directory):
    """The settled tasks of the first generation, best first."""
    settled = [entry for entry in attempts(directory) if entry.final and entry.generation == 1]
    return sorted(settled, key=lambda entry: entry.loss)


def test_what_happens_once_changes_nothing(search, undisturbed, tmp_path):
    with Reader(undisturbed("evo-dpste")) as reader:
        seeds = [reader.task(number).seed for number in range(len(ONCE))]
    faults = [
        {"fault": fault, "seed": seed, "mark": str(tmp_path / fault)}
        for fault, seed in zip(ONCE, seeds, strict=True)
    ]
    directory, code, _, err = search(faults)
    assert (code, err) == (0, "")
    assert all((tmp_path / fault).exists() for fault in ONCE)
    assert_same_end(directory, undisturbed("evo-dpste"))
    failed = {entry.task: (entry.status, entry.note) for entry in attempts(directory) if not entry.final}
    expected = {number: row for number, row in enumerate(ONCE.values()) if row is not None}
    assert failed.keys() == expected.keys()
    for number, (status, note) in expected.items():
        assert failed[number][0] == status
        assert failed[number][1].startswith(note)


def test_genomes_that_always_fail_rank_last_and_the_search_goes_on(search, undisturbed):
    best = first_generation(undisturbed("evo-dpste"))[:3]
    faults = [
        {"fault": fault, "genome": entry.genome}
        for fault, entry in zip(("segfault", "raise_it", "hang"), best, strict=True)
    ]
    directory, code, _, err = search(faults)
    assert (code, err) == (0, "")
    with Reader(directory) as reader:
        assert reader.state() == "finished"
        crashed, raised, hung = (reader.final_evaluation(entry.task) for entry in best)
        elitists = [entry for entry in reader.page(size=1000) if entry.operations == ("elitist",)]
        finalists = {entry.genome for entry in reader.finalists()}
    assert (crashed.status, crashed.attempt, crashed.loss) == ("poison", 3, float("inf"))
    assert crashed.note.startswith("crashed: ")
    assert "SIGSEGV" in crashed.note
    assert (hung.status, hung.attempt, hung.loss) == ("poison", 3, float("inf"))
    assert hung.note.startswith("deadline: ")
    assert (raised.status, raised.attempt, raised.loss) == ("raised", 1, float("inf"))
    assert RAISED.search(raised.note.splitlines()[-1])
    failing = {entry.genome for entry in best}
    assert elitists
    assert not failing & {entry.genome for entry in elitists}
    assert not failing & finalists
    assert len(finalists) == 2


def test_a_residual_that_always_raises_ends_the_search(search):
    _, code, out, err = search([{"fault": "raise_it"}])
    assert (code, out) == (1, "")
    assert err.startswith("error: all 10 trainings ")
    assert "\nTraceback" in err
    assert RAISED.search(err.splitlines()[-1])
