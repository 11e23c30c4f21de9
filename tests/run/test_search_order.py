"""Whatever the order in which trainings end, and wherever a run is stopped: simulated, for many ties."""

import math
import random
import zlib
from dataclasses import replace
from functools import cache

import pytest
import search_problem
from searches import PROBLEM, final_state

import evopinn as ep
from evopinn.run.stopping import StopRequest
from evopinn.workers.pool import Outcome

LOSSES = (math.nan, *(0.5,) * 4, *(1.0,) * 4, *(2.0,) * 4, 3.0, 4.0, 5.0)
"""Losses of networks: few, so that many are the same, as those of networks that are constant."""

CONTINUED = {"continue_elitists": True, "candidates": 2, "evaluations": 2}
SEARCHES = {
    "plain": ("evo-dpste", (40, 8, 4), (5, 10, 15), {"candidates": 2, "evaluations": 2}, 1),
    "continued": ("evo-dpste", (12, 8, 8, 4), (5, 10, 10, 15), CONTINUED, 1),
    "known": ("evo-dpste", (12, 8, 8, 8, 4), (5, 10, 10, 10, 15), CONTINUED | {"skip_known": True}, 0),
    "random": ("random", (6, 6, 6, 6), (5, 5, 10, 15), CONTINUED, 0),
    "many candidates": ("evo-dpste", (14, 14), (5, 10), {"candidates": 12, "evaluations": 2}, 1),
}
"""Methods, populations, epochs, settings, and seeds with which the ties are where they matter."""


@cache
def initial(genome, seed):
    """A network that is not trained at all."""
    return ep.train(search_problem.problem, genome, epochs=0, seed=seed, engine="autograd")


class Stage:
    """In the place of workers: trainings that end at once, in a random order, with a loss that is made up.

    Args:
        order: Decides which one ends next.
    """

    def __init__(self, order):
        self._order = order
        self._jobs = []

    def __call__(self, *_, count, **__):
        self._count = count
        self._jobs.clear()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @property
    def outstanding(self):
        return len(self._jobs)

    @property
    def room(self):
        return self._count + 1 - len(self._jobs)

    def submit(self, number, work, _seconds, _expected=None):
        self._jobs.append((number, work))

    def wait(self, timeout):
        del timeout
        number, work = self._jobs.pop(self._order.randrange(len(self._jobs)))
        result = initial(work.genome, work.seed)
        loss = LOSSES[zlib.crc32(f"{work.genome} {work.seed}".encode()) % len(LOSSES)]
        for before in work.before[:1]:
            assert before.keep.is_file()
        if work.keep is not None and loss <= work.keep_below:
            work.keep.touch()
        return [Outcome(number, 1, 1, 0.01, value=replace(result, loss=loss))]


@pytest.fixture
def simulated(monkeypatch):
    """Search with trainings that end in the order that a seed gives, and are stopped now and then."""

    def simulated(directory, which, order, stops=0.0):
        method, populations, epochs, settings, seed = SEARCHES[which]
        luck = random.Random(order)
        monkeypatch.setattr("evopinn.run.session.LocalPool", Stage(luck))
        monkeypatch.setattr(StopRequest, "__call__", lambda _: luck.random() < stops)
        state = "stopped"
        sessions = 0
        while state == "stopped":
            sessions += 1
            state = ep.search(
                PROBLEM,
                method=method,
                schedule=ep.Schedule(populations, epochs),
                settings=settings,
                seed=seed,
                space="layers=2-4 neurons=4-8:2",
                workers=3,
                run=directory,
                progress=False,
            ).state
        return final_state(directory), sessions

    return simulated


@pytest.mark.parametrize("which", SEARCHES)
def test_neither_the_order_nor_a_stop_matters(simulated, tmp_path, which):
    expected, _ = simulated(tmp_path / "run", which, order=0)
    state, sessions = simulated(tmp_path / "again", which, order=1, stops=0.07)
    assert sessions > 1
    assert state == expected
    kept = set(expected["weights"])
    assert kept >= set(expected["hall of fame"])
    for _, tasks, losses, _ in expected["finalists"]:
        assert kept >= {task for task, loss in zip(tasks, losses, strict=True) if loss != "inf"}
